#include "checker/linearizability/near_linear/lock_sweep.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "checker/linearizability/model/specification.hpp"
#include "checker/linearizability/near_linear/lock_tries.hpp"
#include "checker/linearizability/near_linear/nearly_sorted.hpp"
#include "checker/specifications/process_counts.hpp"

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
constexpr Position kNobody = 0xffffffff;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct SweepPoint {
  std::int64_t time;
  Position operation;
};

bool is_acquire(const HistoryOperation& o) { return o.function % 2 == 0; }

bool is_earlier(const SweepPoint& a, const SweepPoint& b) {
  return a.time != b.time ? a.time < b.time : a.operation < b.operation;
}

class Sweep {
 public:
  Sweep(const OperationHistory& history, std::span<const Position> positions, const Model& model,
        const LinearizabilityOptions& options)
      : operations_(history.operations),
        positions_(positions),
        shape_(model.lock_shape()),
        options_(options),
        processes_(history, positions),
        specification_(model.specification(history, positions, options)),
        leaves_state_(specification_->leaves_state()),
        state_(specification_->words()) {}

  LockSweepResult run() {
    prepare();
    specification_->initial(state_.data());
    order_.reserve(positions_.size());
    std::size_t next_acquire = 0;
    for (const SweepPoint& release : releases_) {
      for (; next_acquire < acquires_.size() && acquires_[next_acquire].time < release.time; ++next_acquire) {
        if (!place(acquires_[next_acquire])) return failed();
      }
      if (!place(release)) return failed();
    }
    for (; next_acquire < acquires_.size(); ++next_acquire) {
      if (!place(acquires_[next_acquire])) return failed();
    }
    if (culprit_ != kNobody) return failed();
    return {.verdict = Verdict::holds, .order = std::move(order_)};
  }

 private:
  const HistoryOperation& operation(Position i) const { return operations_[i]; }

  /// Points and guesses.
  void prepare() {
    std::vector<Position> sorted;
    std::span<const Position> by_invocation = positions_;
    const auto is_before = [this](Position a, Position b) {
      return std::pair(operation(a).invoked, a) < std::pair(operation(b).invoked, b);
    };
    if (!std::is_sorted(positions_.begin(), positions_.end(), is_before)) {
      sorted.assign(positions_.begin(), positions_.end());
      std::sort(sorted.begin(), sorted.end(), is_before);
      by_invocation = sorted;
    }

    std::vector<std::int64_t> idle_since(processes_.processes(), nil);
    rigid_until_.assign(processes_.processes(), kNever);
    std::size_t acquires = 0;
    bool has_unknown = false;
    for (const Position i : by_invocation) {
      const HistoryOperation& o = operation(i);
      if (o.phase == sim::Phase::fail) continue;
      const std::uint32_t p = processes_.index_of(o.process);
      if (o.invoked <= idle_since[p] || o.is_unknown()) rigid_until_[p] = std::min(rigid_until_[p], o.invoked);
      idle_since[p] = std::max(idle_since[p], o.is_certain() ? o.returned : o.invoked);
      has_unknown = has_unknown || o.is_unknown();
      acquires += is_acquire(o) ? 1 : 0;
    }
    acquires_.reserve(acquires);
    releases_.reserve(positions_.size() - acquires);
    for (const Position i : by_invocation) {
      const HistoryOperation& o = operation(i);
      if (!o.is_certain()) continue;
      if (is_acquire(o)) {
        acquires_.push_back({o.returned, i});
      } else {
        releases_.push_back({o.invoked, i});
      }
    }
    sort_nearly_sorted(acquires_, is_earlier);
    if (has_unknown) guess(by_invocation);
  }

  /// Which operations of unknown outcome took effect?
  void guess(std::span<const Position> by_invocation) {
    guessed_before_.assign(operations_.size(), kNobody);
    std::vector<Position> next(processes_.processes(), kNobody);  // certain operation
    for (auto i = by_invocation.rbegin(); i != by_invocation.rend(); ++i) {
      const HistoryOperation& o = operation(*i);
      if (o.phase == sim::Phase::fail) continue;
      Position& after = next[processes_.index_of(o.process)];
      if (o.is_certain()) {
        after = *i;
      } else if (!is_acquire(o)) {
        if (after == kNobody || is_acquire(operation(after))) releases_.push_back({o.invoked, *i});
      } else if (after != kNobody && !is_acquire(operation(after)) && operation(after).function == o.function + 1) {
        guessed_before_[after] = *i;
      }
    }
    std::sort(releases_.begin(), releases_.end(), is_earlier);
  }

  bool step(Position i) {
    if (!leaves_state_) before_ = state_;
    if (specification_->step(state_.data(), specification_->action(operation(i)))) {
      order_.push_back(i);
      return true;
    }
    if (!leaves_state_) state_ = before_;
    return false;
  }

  /// False: the sweep is over.
  bool place(const SweepPoint& point) {
    // A release that had nothing to release makes the history wrong only when it returns, and until then another
    // operation may do so as well.
    if (culprit_ != kNobody && point.time > at_) return false;
    const Position i = point.operation;
    const HistoryOperation& o = operation(i);
    if (step(i)) {
      if (!too_early_.empty() && is_acquire(o)) release_at_once(point);
      return true;
    }
    if (o.is_unknown()) {
      too_early_.push_back(point);
      return true;
    }
    if (!is_acquire(o) && !guessed_before_.empty() && guessed_before_[i] != kNobody && step(guessed_before_[i])) {
      if (step(i)) return true;
    }
    if (culprit_ == kNobody || o.returned < at_) {
      culprit_ = i;
      at_ = o.returned;
      placed_ = order_.size();
    }
    return !is_acquire(o);
  }

  /// A hold may be over when its acquire returns: then its release, of unknown outcome, had its turn before. If no such
  /// acquire comes, it did not happen.
  void release_at_once(const SweepPoint& acquire) {
    const HistoryOperation& a = operation(acquire.operation);
    std::erase_if(too_early_, [&](const SweepPoint& release) { return release.time < acquire.time; });
    const auto is_his = [&](const SweepPoint& release) {
      const HistoryOperation& r = operation(release.operation);
      return r.process == a.process && r.function == a.function + 1;
    };
    const auto release = std::find_if(too_early_.begin(), too_early_.end(), is_his);
    if (release != too_early_.end() && step(release->operation)) too_early_.erase(release);
  }

  LockSweepResult failed() {
    LockSweepResult result{.verdict = Verdict::violated, .at = at_, .culprit = culprit_};
    result.order = std::move(order_);
    if (!(is_acquire(operation(culprit_)) ? blame_holders(result) : blame_releases(result))) return {};
    std::sort(result.conflict.begin(), result.conflict.end());
    result.conflict.erase(std::unique(result.conflict.begin(), result.conflict.end()), result.conflict.end());
    return result;
  }

  /// Up to the culprit's return, did the process do one certain operation after the other?
  bool is_rigid(std::uint32_t process) const { return rigid_until_[processes_.index_of(process)] > at_; }

  /// The operations of one process among those placed before the culprit, latest first.
  template <class Visit>
  void for_each_before(const LockSweepResult& result, std::uint32_t process, Visit visit) const {
    for (std::size_t i = placed_; i > 0; --i) {
      const Position p = result.order[i - 1];
      if (operation(p).process == process && !visit(p)) return;
    }
  }

  std::int64_t permits(const HistoryOperation& o) const { return shape_.has_permits && o.a != nil ? o.a : 1; }

  /// The latest acquires of a process, so many that fewer releases followed them: as many as `held` of its holds last.
  std::vector<Position> lasting_acquires(const LockSweepResult& result, std::uint32_t process, std::uint16_t function,
                                         std::int64_t held) const {
    std::vector<Position> acquires;
    std::int64_t net = 0;
    for_each_before(result, process, [&](Position i) {
      const HistoryOperation& o = operation(i);
      if (o.function == function) {
        acquires.push_back(i);
        net += permits(o);
      } else if (o.function == function + 1) {
        net -= permits(o);
      }
      return net < held;
    });
    return acquires;
  }

  struct Holder {
    std::uint32_t process;
    std::uint16_t function;  ///< the acquire by which it holds the lock
    std::int64_t permits;
  };

  /// Who held the lock when the culprit's turn came, so that it came to nothing: one is enough, or all that have
  /// permits.
  std::vector<Holder> holders(const LockSweepResult& result) const {
    const HistoryOperation& x = operation(culprit_);
    std::vector<std::int64_t> held(processes_.processes(), 0);  // what excludes x
    const bool is_shared = shape_.has_readers && x.function == 0;
    std::vector<std::int64_t> shared(shape_.has_readers ? held.size() : 0, 0);
    for (std::size_t i = 0; i < placed_; ++i) {
      const HistoryOperation& o = operation(result.order[i]);
      const bool is_read = shape_.has_readers && o.function < 2;
      (is_read ? shared : held)[processes_.index_of(o.process)] += is_acquire(o) ? permits(o) : -permits(o);
    }
    std::vector<Holder> all;
    for (std::uint32_t p = 0; p < held.size() && (all.empty() || shape_.has_permits); ++p) {
      const std::uint32_t process = processes_.process(p);
      const bool is_reader = shape_.has_readers && !is_shared && held[p] == 0 && shared[p] > 0;
      if (!is_reader && held[p] <= 0) continue;
      if (shape_.is_counted && !shape_.has_permits && !shape_.has_readers && process == x.process) continue;
      const auto function = static_cast<std::uint16_t>(shape_.has_readers && !is_reader ? 2 : 0);
      all.push_back({process, function, shape_.has_permits ? held[p] : 1});
    }
    return all;
  }

  /// For an acquire that came to nothing.
  bool blame_holders(LockSweepResult& result) {
    const HistoryOperation& x = operation(culprit_);
    const std::vector<Holder> all = holders(result);
    if (all.empty() && !shape_.has_permits) return blame_token(result, x);
    const bool are_rigid = is_rigid(x.process) && std::all_of(all.begin(), all.end(), [this](const Holder& holder) {
                             return is_rigid(holder.process);
                           });
    if (!are_rigid) return outnumber(result, all, true) || outnumber(result, all, false);
    result.conflict = {culprit_};
    for (const Holder& holder : all) {
      const auto acquires = lasting_acquires(result, holder.process, holder.function, holder.permits);
      result.conflict.insert(result.conflict.end(), acquires.begin(), acquires.end());
    }
    result.is_minimal = fills_exactly(result.conflict);
    return true;
  }

  /// Is it one hold too many, and each of them one acquire? Without any one of these the others have room.
  bool fills_exactly(std::span<const Position> acquires) const {
    if (!shape_.has_permits) return acquires.size() == 2;
    const auto is_one = [this](Position i) { return permits(operation(i)) == 1; };
    return std::all_of(acquires.begin(), acquires.end(), is_one) &&
           std::cmp_equal(acquires.size(), options_.permits + 1);
  }

  /// Whatever the unknown outcomes: at the moment when the culprit returns, do all of them hold the lock, and it does,
  /// too? Or without the latter: do they hold it as long as the culprit lasts?
  bool outnumber(LockSweepResult& result, std::span<const Holder> all, bool at_the_end) const {
    const HistoryOperation& x = operation(culprit_);
    std::vector<Holder> wanted(all.begin(), all.end());
    if (at_the_end) {
      const auto own = std::find_if(wanted.begin(), wanted.end(), [&](const Holder& holder) {
        return holder.process == x.process && holder.function == x.function;
      });
      if (own == wanted.end()) {
        wanted.push_back({x.process, x.function, permits(x)});
      } else {
        own->permits += permits(x);
      }
    }
    std::vector<Position> conflict = {culprit_};
    for (const Holder& holder : wanted) {
      const auto acquires = outnumbering_acquires(holder, at_the_end ? x.returned + 1 : x.invoked);
      if (acquires.empty()) return false;
      conflict.insert(conflict.end(), acquires.begin(), acquires.end());
    }
    std::sort(conflict.begin(), conflict.end());
    conflict.erase(std::unique(conflict.begin(), conflict.end()), conflict.end());
    result.is_minimal = fills_exactly(conflict);
    result.conflict = std::move(conflict);
    return true;
  }

  /// What one process did with one function for sure, and with the opposite one perhaps.
  struct Counted {
    std::vector<Position> own;                                  ///< the latest invocation first
    std::vector<std::pair<std::int64_t, std::int64_t>> others;  ///< latest possible moment, permits; the latest first
  };

  /// Own operations that ended ok before this moment, and others invoked before the culprit returned.
  Counted count(std::uint32_t process, std::uint16_t function, std::int64_t before) const {
    const auto opposite = static_cast<std::uint16_t>(function ^ 1U);
    Counted counted;
    for (const Position i : positions_) {
      const HistoryOperation& o = operation(i);
      if (o.process != process || o.phase == sim::Phase::fail) continue;
      if (o.function == function && o.is_certain() && o.returned < before) counted.own.push_back(i);
      if (o.function == opposite && o.invoked <= at_) {
        counted.others.emplace_back(o.is_certain() ? o.returned : kNever, permits(o));
      }
    }
    std::sort(counted.own.begin(), counted.own.end(), [this](Position a, Position b) {
      return std::pair(operation(b).invoked, b) < std::pair(operation(a).invoked, a);
    });
    std::sort(counted.others.rbegin(), counted.others.rend());
    return counted;
  }

  /// The latest acquires of a process that ended before this moment, so many that the releases that may have taken
  /// effect since leave at least this hold. Empty if there are none.
  std::vector<Position> outnumbering_acquires(const Holder& holder, std::int64_t before) const {
    const Counted counted = count(holder.process, holder.function, before);
    std::vector<Position> acquires;
    std::int64_t left = 0;
    std::size_t next = 0;
    for (const Position i : counted.own) {
      for (; next < counted.others.size() && counted.others[next].first >= operation(i).invoked; ++next) {
        left -= counted.others[next].second;
      }
      acquires.push_back(i);
      left += permits(operation(i));
      if (left >= holder.permits) return acquires;
    }
    return {};
  }

  /// The latest releases of the culprit's process before it, so many that the acquires that may have taken effect since
  /// leave nothing for the culprit; of a lock that it can hold only once, even if it held it before them. Nothing if
  /// there are never so many.
  std::optional<std::vector<Position>> outnumbering_releases(bool is_counted) const {
    const HistoryOperation& x = operation(culprit_);
    const Counted counted = count(x.process, x.function, x.invoked);
    std::vector<Position> releases;
    std::int64_t left = -permits(x);
    std::size_t next = 0;
    for (const Position i : counted.own) {
      for (; next < counted.others.size() && counted.others[next].first >= operation(i).invoked; ++next) {
        left += counted.others[next].second;
      }
      releases.push_back(i);
      left -= permits(operation(i));
      if (!is_counted && left + 1 < 0) return releases;
    }
    for (; next < counted.others.size(); ++next) left += counted.others[next].second;
    if (left < 0) return releases;
    return std::nullopt;
  }

  /// Nobody else held it: the token was not new or not that of the hold, or it was held too often.
  bool blame_token(LockSweepResult& result, const HistoryOperation& x) {
    Position before = kNobody;  // the last acquire that showed so great a token
    for (std::size_t i = placed_; i > 0 && before == kNobody && shape_.has_tokens; --i) {
      const HistoryOperation& o = operation(result.order[i - 1]);
      if (is_acquire(o) && o.out_known && o.out != nil && o.out >= x.out) before = result.order[i - 1];
    }
    if (!is_rigid(x.process)) return false;
    result.conflict = {culprit_};
    result.is_minimal = true;
    if (before != kNobody) {
      if (!is_rigid(operation(before).process)) return false;
      result.conflict.push_back(before);
    }
    if (!shape_.is_counted) return before != kNobody;
    // Whether x begins a hold or goes on with one depends on all that its process did.
    for_each_before(result, x.process, [&](Position i) {
      result.conflict.push_back(i);
      return true;
    });
    result.is_minimal = false;
    return true;
  }

  /// For a release that had nothing to release: those that had taken it.
  bool blame_releases(LockSweepResult& result) {
    const HistoryOperation& x = operation(culprit_);
    result.conflict = {culprit_};
    const bool is_counted = shape_.is_counted && !(shape_.has_readers && x.function == 3);
    if (!is_rigid(x.process)) {
      const auto releases = outnumbering_releases(is_counted);
      if (releases) result.conflict.insert(result.conflict.end(), releases->begin(), releases->end());
      return releases.has_value();
    }
    for_each_before(result, x.process, [&](Position i) {
      if (operation(i).function != x.function) return true;
      result.conflict.push_back(i);
      return is_counted;
    });
    result.is_minimal = !is_counted || result.conflict.size() == 1;
    return true;
  }

  std::span<const HistoryOperation> operations_;
  std::span<const Position> positions_;
  LockShape shape_;
  const LinearizabilityOptions& options_;
  specifications::ProcessCounts processes_;
  std::unique_ptr<Specification> specification_;
  bool leaves_state_;
  std::vector<std::uint64_t> state_;
  std::vector<std::uint64_t> before_;
  std::vector<std::int64_t> rigid_until_;  ///< by process: its first operation of unknown outcome, or that overlaps
  std::vector<SweepPoint> acquires_;
  std::vector<SweepPoint> releases_;
  std::vector<Position> guessed_before_;  ///< by release: an acquire of unknown outcome that it proves
  std::vector<SweepPoint> too_early_;     ///< releases of unknown outcome that found nothing to release so far
  std::vector<Position> order_;
  Position culprit_ = kNobody;
  std::int64_t at_ = 0;
  std::size_t placed_ = 0;  ///< how much of the order was there when the culprit's turn came
};

}  // namespace

LockSweepResult sweep_lock(const OperationHistory& history, std::span<const std::uint32_t> positions,
                           const Model& model, const LinearizabilityOptions& options) {
  LockSweepResult result = Sweep(history, positions, model, options).run();
  if (!options.check_failed || result.verdict == Verdict::unknown || !has_tries(history, positions)) return result;
  using Answer = LockTriesResult::Answer;
  LockTriesResult tries =
      place_tries(history, positions, model, options, result.order,
                  result.verdict == Verdict::violated ? result.at : std::numeric_limits<std::int64_t>::max());
  if (tries.answer == Answer::unknown) return {};
  result.order = std::move(tries.order);
  if (tries.answer == Answer::placed) return result;
  result.verdict = Verdict::violated;
  result.conflict = std::move(tries.conflict);
  result.is_minimal = tries.is_minimal;
  result.culprit = tries.culprit;
  result.at = history.operations[tries.culprit].returned;
  return result;
}

}  // namespace lockstep::checker
