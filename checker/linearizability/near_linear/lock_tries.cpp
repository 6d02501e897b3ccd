#include "checker/linearizability/near_linear/lock_tries.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "checker/linearizability/model/specification.hpp"
#include "checker/linearizability/near_linear/nearly_sorted.hpp"
#include "checker/specifications/process_counts.hpp"

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
using Timed = std::pair<std::int64_t, Position>;  ///< a moment, an operation
using Answer = LockTriesResult::Answer;
constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

/// How far ahead an acquire is looked for that could come early.
constexpr std::size_t kAheadMax = 256;

bool tries_to_acquire(const HistoryOperation& o) { return o.function % 2 == 0; }
bool is_try(const HistoryOperation& o) { return o.phase == sim::Phase::fail && tries_to_acquire(o); }
std::int64_t deadline(const HistoryOperation& o) { return o.is_unknown() ? forever : o.returned; }

class Tries {
 public:
  Tries(const OperationHistory& history, std::span<const Position> positions, const Model& model,
        const LinearizabilityOptions& options, std::span<const Position> base, std::int64_t until)
      : history_(history),
        operations_(history.operations),
        positions_(positions),
        shape_(model.lock_shape()),
        options_(options),
        base_(base),
        until_(until),
        specification_(model.specification(history, positions, options)),
        leaves_state_(specification_->leaves_state()),
        state_(specification_->words()),
        is_placed_(history.operations.size(), 0) {
    specification_->initial(state_.data());
    order_.reserve(positions.size());
    for (const Position i : positions_) {
      const HistoryOperation& o = operations_[i];
      if (is_try(o) && o.returned < until_) {
        by_invocation_.emplace_back(o.invoked, i);
        by_deadline_.emplace_back(o.returned, i);
      }
    }
    for (std::vector<Timed>* tries : {&by_invocation_, &by_deadline_}) sort_nearly_sorted(*tries);
    work_left_ = 64 * positions.size() + 100'000;
  }

  LockTriesResult run() {
    for (next_ = 0; next_ < base_.size() && is_possible_; ++next_) {
      const Position i = base_[next_];
      const std::int64_t now = nominal(next_);
      if (!advance(now)) break;
      admit(now);
      if (is_placed_[i] != 0) continue;
      if (!tries_to_acquire(operations_[i])) {
        pend(i);
      } else if (!place_acquire(i)) {
        is_possible_ = false;
      }
    }
    if (is_possible_ && culprit_ == none) advance(until_);
    if (!is_possible_) return {};
    if (culprit_ == none) return {.answer = Answer::placed, .order = std::move(order_)};
    return impossible();
  }

 private:
  static constexpr Position none = 0xffffffff;

  /// When the sweep put the operation at this place of its order. One of unknown outcome is there because of the next.
  std::int64_t nominal(std::size_t place) const {
    for (; place < base_.size(); ++place) {
      const HistoryOperation& o = operations_[base_[place]];
      if (!tries_to_acquire(o)) return o.invoked;
      if (o.is_certain()) return o.returned;
    }
    return until_;
  }

  std::int64_t permits(const HistoryOperation& o) const { return shape_.has_permits && o.a != nil ? o.a : 1; }

  bool step(Position i) {
    if (!leaves_state_) before_ = state_;
    if (!specification_->step(state_.data(), specification_->action(operations_[i]))) {
      if (!leaves_state_) state_ = before_;
      return false;
    }
    put(i);
    return true;
  }

  void put(Position i) {
    is_placed_[i] = 1;
    order_.push_back(i);
  }

  /// Is the lock taken for this try? If so, this is its place.
  bool ask(Position i) {
    if (!specification_->step(state_.data(), specification_->action(operations_[i]))) return false;
    put(i);
    return true;
  }

  void ask_waiting() {
    work_left_ -= std::min(work_left_, waiting_.size());
    std::erase_if(waiting_, [this](Position i) { return ask(i); });
    if (work_left_ == 0) is_possible_ = false;
  }

  /// Tries that are invoked by now.
  void admit(std::int64_t now) {
    for (; next_try_ < by_invocation_.size() && by_invocation_[next_try_].first <= now; ++next_try_) {
      const Position i = by_invocation_[next_try_].second;
      if (!ask(i)) waiting_.push_back(i);
    }
  }

  void pend(Position release) {
    const Timed timed(deadline(operations_[release]), release);
    pending_.insert(std::upper_bound(pending_.begin(), pending_.end(), timed, std::greater<>()), timed);
    work_left_ -= std::min(work_left_, pending_.size());
  }

  /// Of the releases that wait, the one with the earliest deadline.
  bool place_pending() {
    const Position i = pending_.back().second;
    pending_.pop_back();
    if (!step(i)) return is_possible_ = false;
    if (!waiting_.empty()) ask_waiting();
    return is_possible_;
  }

  bool place_acquire(Position i) {
    // What its process gave back before: an unknown outcome would wait for ever.
    const std::uint32_t process = operations_[i].process;
    for (std::size_t k = pending_.size(); k > 0; --k) {
      const Position release = pending_[k - 1].second;
      if (operations_[release].process != process) continue;
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(k) - 1);
      if (!step(release)) return false;
    }
    while (!step(i)) {
      if (pending_.empty() || !place_pending()) return false;
    }
    if (!waiting_.empty()) ask_waiting();
    return true;
  }

  /// Everything that has to have happened before this moment. False: it is over.
  bool advance(std::int64_t now) {
    while (is_possible_) {
      while (next_deadline_ < by_deadline_.size() && is_placed_[by_deadline_[next_deadline_].second] != 0) {
        ++next_deadline_;
      }
      const std::int64_t release = pending_.empty() ? forever : pending_.back().first;
      const std::int64_t attempt = next_deadline_ < by_deadline_.size() ? by_deadline_[next_deadline_].first : forever;
      const std::int64_t moment = std::min(release, attempt);
      if (moment >= now || moment == forever) return true;
      admit(moment);
      if (attempt <= release) {
        const Position i = by_deadline_[next_deadline_].second;
        if (is_placed_[i] != 0 || hasten(i, moment)) continue;
        culprit_ = i;
        return false;
      }
      // Now is the last moment at which so much is taken.
      if (shape_.has_permits && !waiting_.empty()) hasten(waiting_.front(), moment);
      place_pending();
    }
    return false;
  }

  /// Puts acquires that are open before their time, so that this try finds the lock taken. False: none would do.
  bool hasten(Position attempt, std::int64_t now) {
    const bool done = shape_.has_permits ? hasten_permits(attempt, now) : hasten_hold(attempt, now);
    if (!done && is_possible_) keep_unanswered(attempt, now);
    ask_waiting();
    return is_placed_[attempt] != 0;
  }

  /// Near the end of a history acquires are open that will never be answered. They may have taken effect, if nobody
  /// wants the lock any more.
  void keep_unanswered(Position attempt, std::int64_t now) {
    if (base_.size() - next_ > kAheadMax) return;
    std::int64_t peak = shape_.has_permits ? taken() : 0;
    for (const auto& [time, i] : pending_) peak -= shape_.has_permits ? permits(operations_[i]) : 0;
    std::int64_t held = peak;
    bool is_wanted = false;
    ahead([&](Position i) {
      const bool takes = tries_to_acquire(operations_[i]);
      held += takes ? permits(operations_[i]) : -permits(operations_[i]);
      peak = std::max(peak, held);
      is_wanted = is_wanted || takes;
      return true;
    });
    if (is_wanted && !shape_.has_permits) return;
    while (!shape_.has_permits && !pending_.empty()) {
      if (!place_pending()) return;
    }
    for (auto at = positions_.rbegin(); at != positions_.rend(); ++at) {
      const HistoryOperation& o = operations_[*at];
      if (!tries_to_acquire(o) || !o.is_unknown() || is_placed_[*at] != 0 || o.invoked > now) continue;
      if (std::find(base_.begin() + static_cast<std::ptrdiff_t>(next_), base_.end(), *at) != base_.end()) continue;
      if (shape_.has_permits && permits(o) > options_.permits - peak) continue;
      if (!step(*at)) continue;
      peak += permits(o);
      const std::vector<std::uint64_t> saved = state_;
      const bool is_enough = specification_->step(state_.data(), specification_->action(operations_[attempt]));
      state_ = saved;
      if (is_enough) return;
    }
  }

  /// The next acquires of the order, that have not come early yet, up to so many of its operations.
  template <class Visit>
  void ahead(Visit visit) const {
    const std::size_t end = std::min(base_.size(), next_ + kAheadMax);
    for (std::size_t k = next_; k < end; ++k) {
      if (is_placed_[base_[k]] == 0 && !visit(base_[k])) return;
    }
  }

  bool hasten_hold(Position attempt, std::int64_t now) {
    // Only the next hold of the order, or one that shares the lock with all those before it.
    Position early = none;
    const bool wants_writer = shape_.has_readers && operations_[attempt].function == 0;
    bool is_first = true;
    ahead([&](Position i) {
      const HistoryOperation& o = operations_[i];
      if (!tries_to_acquire(o)) return true;
      const bool shares = shape_.has_readers && o.function == 0;
      if (wants_writer && shares) return false;
      if (!is_first && !shares) return false;
      is_first = false;
      if (o.invoked > now) return shares;
      early = i;
      return false;
    });
    if (early == none) return false;
    // Whoever is about to give it back does so, if that is enough.
    const std::vector<std::uint64_t> saved = state_;
    for (std::size_t k = pending_.size(); k > 0; --k) {
      specification_->step(state_.data(), specification_->action(operations_[pending_[k - 1].second]));
    }
    const bool fits = specification_->step(state_.data(), specification_->action(operations_[early])) &&
                      specification_->step(state_.data(), specification_->action(operations_[attempt]));
    state_ = saved;
    if (!fits) return false;
    while (!pending_.empty()) {
      if (!place_pending()) return false;
    }
    return step(early);
  }

  bool hasten_permits(Position attempt, std::int64_t now) {
    // How much is held for sure from here on, and at most up to the place that is looked at.
    std::int64_t held = taken();
    std::int64_t wanted = options_.permits - permits(operations_[attempt]) + 1 - held;
    for (const auto& [time, i] : pending_) held -= permits(operations_[i]);
    std::int64_t peak = held;
    std::vector<Position> early;
    ahead([&](Position i) {
      const HistoryOperation& o = operations_[i];
      if (!tries_to_acquire(o)) {
        held -= permits(o);
        return true;
      }
      const bool can_come = o.invoked <= now && permits(o) <= options_.permits - peak;
      held += permits(o);
      if (can_come) {
        peak += permits(o);
        wanted -= permits(o);
        early.push_back(i);
      }
      peak = std::max(peak, held);
      return wanted > 0;
    });
    if (wanted > 0) return false;
    for (const Position i : early) {
      if (!step(i)) return false;
    }
    return true;
  }

  /// Of a semaphore: the first word of its state.
  std::int64_t taken() const { return static_cast<std::int64_t>(state_[0]); }

  /// The culprit had no place in this order: has it none in any?
  LockTriesResult impossible() {
    const HistoryOperation& x = operations_[culprit_];
    if (options_.reentrancy_max != ~std::uint64_t{0} || !is_rigid(x.returned)) return {};
    if (std::cmp_greater(options_.permits, specifications::ProcessCounts::count_max)) return {};
    if (shape_.has_permits ? !has_room(x) : has_open_acquire(x.returned)) return {};
    LockTriesResult result{.answer = Answer::impossible, .order = std::move(order_), .culprit = culprit_};
    explain(result);
    return result;
  }

  /// Up to this moment, did every process one thing after the other, with a known outcome?
  bool is_rigid(std::int64_t moment) const {
    const specifications::ProcessCounts processes(history_, positions_);
    std::vector<std::int64_t> idle_since(processes.processes(), nil);
    std::int64_t last = nil;
    for (const Position i : positions_) {
      const HistoryOperation& o = operations_[i];
      if (o.invoked > moment) continue;
      std::int64_t& idle = idle_since[processes.index_of(o.process)];
      // Given in another order than that of invocation: it does not matter enough to sort it.
      if (o.is_unknown() || o.invoked <= idle || o.invoked < last) return false;
      idle = o.returned;
      last = o.invoked;
    }
    return true;
  }

  /// Is there an acquire that has not been put, but may have happened by then?
  bool has_open_acquire(std::int64_t moment) const {
    return std::any_of(positions_.begin(), positions_.end(), [&](Position i) {
      const HistoryOperation& o = operations_[i];
      return tries_to_acquire(o) && o.phase != sim::Phase::fail && o.invoked <= moment && is_placed_[i] == 0;
    });
  }

  /// Requires: all is rigid until x returned. If each hold lasts as long as it may, is there room for x all the time?
  bool has_room(const HistoryOperation& x) const {
    std::int64_t held = 0;
    std::vector<Timed> changes;
    std::vector<std::int64_t> amounts;
    for (const Position i : positions_) {
      const HistoryOperation& o = operations_[i];
      if (o.phase == sim::Phase::fail || o.invoked > x.returned) continue;
      // From the invocation of an acquire to behind the return of a release.
      const bool takes = tries_to_acquire(o);
      if (takes ? o.invoked <= x.invoked : o.returned < x.invoked) {
        held += takes ? permits(o) : -permits(o);
      } else if (takes || o.returned < x.returned) {
        changes.emplace_back(takes ? 2 * o.invoked : 2 * o.returned + 1, static_cast<Position>(amounts.size()));
        amounts.push_back(takes ? permits(o) : -permits(o));
      }
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t peak = held;
    for (const auto& [time, k] : changes) {
      held += amounts[k];
      peak = std::max(peak, held);
    }
    return permits(x) <= options_.permits - peak;
  }

  /// Which operations make it impossible, whatever else happened or not.
  void explain(LockTriesResult& result) {
    const HistoryOperation& x = operations_[culprit_];
    const bool wants_writer = shape_.has_readers && x.function == 0;
    result.conflict = {culprit_};
    if (shape_.has_permits || (shape_.has_readers && !wants_writer)) {
      // Everybody who ever held it could hold it still.
      for (const Position i : positions_) {
        const HistoryOperation& o = operations_[i];
        if (o.is_certain() && o.returned <= x.returned) result.conflict.push_back(i);
      }
      std::sort(result.conflict.begin(), result.conflict.end());
      return;
    }
    // The last hold that counts is over. All before it were over when it began, and nobody has begun one since.
    const auto counts = [&](Position i) {
      return !is_try(operations_[i]) && !(wants_writer && operations_[i].function < 2);
    };
    auto last = std::find_if(result.order.rbegin(), result.order.rend(), counts);
    // A writer that could be there still, but for a reader that had to come in after it.
    while (last != result.order.rend() && (is_try(operations_[*last]) || deadline(operations_[*last]) >= x.invoked))
      --last;
    const bool is_reentrant = shape_.is_counted && !shape_.has_readers;
    result.is_minimal = last == result.order.rend() || !is_reentrant;
    if (last != result.order.rend() && !is_reentrant) result.conflict.push_back(*last);
    if (last != result.order.rend() && is_reentrant) explain_reentrant(result, operations_[*last].process);
    std::sort(result.conflict.begin(), result.conflict.end());
  }

  /// The owner of the last hold tries again: since it took the lock nobody else has. Somebody else does: all that the
  /// owner has taken since another one had the lock it has given back.
  void explain_reentrant(LockTriesResult& result, std::uint32_t owner) {
    const bool is_own = operations_[culprit_].process == owner;
    for (std::size_t k = result.order.size(); k > 0; --k) {
      const Position i = result.order[k - 1];
      const HistoryOperation& o = operations_[i];
      if (is_try(o)) continue;
      const bool is_last = tries_to_acquire(o) && (is_own ? o.process == owner : o.process != owner);
      if (is_last || (!is_own && o.process == owner && !tries_to_acquire(o))) result.conflict.push_back(i);
      if (is_last) return;
    }
  }

  const OperationHistory& history_;
  std::span<const HistoryOperation> operations_;
  std::span<const Position> positions_;
  LockShape shape_;
  const LinearizabilityOptions& options_;
  std::span<const Position> base_;
  std::int64_t until_;
  std::unique_ptr<Specification> specification_;
  bool leaves_state_;
  std::vector<std::uint64_t> state_;
  std::vector<std::uint64_t> before_;
  std::vector<char> is_placed_;
  std::vector<Position> order_;
  std::vector<Timed> by_invocation_;  ///< tries
  std::vector<Timed> by_deadline_;
  std::size_t next_ = 0;  ///< in `base_`
  std::size_t next_try_ = 0;
  std::size_t next_deadline_ = 0;
  std::vector<Position> waiting_;  ///< tries that have not found the lock taken yet
  std::vector<Timed> pending_;     ///< releases that are put off, by deadline, the earliest last
  std::size_t work_left_ = 0;
  bool is_possible_ = true;  ///< false: the order could not be stretched like that
  Position culprit_ = none;
};

}  // namespace

LockTriesResult place_tries(const OperationHistory& history, std::span<const std::uint32_t> positions,
                            const Model& model, const LinearizabilityOptions& options,
                            std::span<const std::uint32_t> order, std::int64_t until) {
  return Tries(history, positions, model, options, order, until).run();
}

bool has_tries(const OperationHistory& history, std::span<const std::uint32_t> positions) {
  return std::any_of(positions.begin(), positions.end(),
                     [&](std::uint32_t i) { return is_try(history.operations[i]); });
}

}  // namespace lockstep::checker
