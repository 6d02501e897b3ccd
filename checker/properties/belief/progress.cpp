#include "checker/properties/belief/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/time_spans.hpp"

namespace lockstep::checker {
namespace {

using sim::Duration;

/// From when on something lasts that may not, and who holds the lock meanwhile; null: nobody.
struct Standstill {
  Duration from;
  const OwnershipInterval* holder = nullptr;
};

/// One lock's holds, by their beginning. From each to the next is a piece: somebody gets the lock at its beginning, and
/// nobody until its end. Whoever tries all through a piece sees of it what all others see, so each is looked at once.
class LockGrants {
 public:
  /// `holds`: of one lock.
  LockGrants(std::vector<const OwnershipInterval*> holds, const Pauses& pauses, const ProgressQuestion& question)
      : holds_(std::move(holds)), pauses_(&pauses), question_(&question) {
    std::sort(holds_.begin(), holds_.end(), [](const OwnershipInterval* a, const OwnershipInterval* b) {
      return a->from.offset() < b->from.offset();
    });
    std::vector<Duration> ends;
    Duration last = Duration::zero();
    for (const OwnershipInterval* hold : holds_) {
      ends.push_back(hold->is_empty() ? hold->from.offset() : end_or_never(hold->to, question.end));
      last = std::max(last, ends.back());
      over_.push_back(last);
    }
    ends_ = RowOfLengths(std::move(ends), Duration::forever());
    std::vector<Duration> free;
    for (std::size_t i = 0; i + 1 < holds_.size(); ++i) {
      const TimeSpan piece{begin(i), begin(i + 1)};
      free.push_back(piece.to - std::max(piece.from, over_[i]));
      if (piece.length() <= question.within) continue;
      if (std::optional<Standstill> standstill = too_long(piece)) too_long_.emplace_back(i, *standstill);
    }
    free_ = RowOfLengths(std::move(free), question.within);
  }

  /// How many of them begin by this moment, or before it.
  std::size_t begun_by(Duration moment) const {
    const auto later =
        std::upper_bound(holds_.begin(), holds_.end(), moment,
                         [](Duration at, const OwnershipInterval* hold) { return at < hold->from.offset(); });
    return static_cast<std::size_t>(later - holds_.begin());
  }
  std::size_t begun_before(Duration moment) const {
    const auto from =
        std::lower_bound(holds_.begin(), holds_.end(), moment,
                         [](const OwnershipInterval* hold, Duration at) { return hold->from.offset() < at; });
    return static_cast<std::size_t>(from - holds_.begin());
  }
  Duration begin(std::size_t hold) const { return holds_[hold]->from.offset(); }

  /// For how long of a piece nobody has it. Requires: nobody gets it but at its beginning.
  Duration free_length(TimeSpan piece) const { return piece.to - free_from(piece); }
  /// The longest of the pieces that begin with the holds `[first, end)`, and what is too long in the first of them in
  /// which something is.
  Duration longest_free(std::size_t first, std::size_t end) const { return free_.longest(first, end); }
  std::optional<Standstill> first_too_long(std::size_t first, std::size_t end) const {
    const auto found = std::lower_bound(too_long_.begin(), too_long_.end(), first,
                                        [](const auto& piece, std::size_t position) { return piece.first < position; });
    return found == too_long_.end() || found->first >= end ? std::nullopt : std::optional(found->second);
  }

  /// What lasts too long in a piece: what begins first; of several, that nobody has it, then the earliest acquire.
  /// Requires: nobody gets it but at its beginning.
  std::optional<Standstill> too_long(TimeSpan piece) const {
    if (piece.length() <= question_->within) return std::nullopt;
    std::optional<Standstill> found;
    if (free_length(piece) > question_->within) found = Standstill{free_from(piece)};
    ends_.each_longer(0, begun_by(piece.from), piece.from, [&](std::size_t present) {
      const OwnershipInterval& hold = *holds_[present];
      const TimeSpan both{piece.from, std::min(piece.to, end_or_never(hold.to, question_->end))};
      for (const TimeSpan& held : running(pauses_->of(hold.process), both)) {
        if (held.length() <= question_->within) continue;
        const bool is_better =
            !found || held.from < found->from ||
            (held.from == found->from && found->holder != nullptr && hold.acquire < found->holder->acquire);
        if (is_better) found = Standstill{held.from, &hold};
      }
    });
    return found;
  }

 private:
  Duration free_from(TimeSpan piece) const {
    const std::size_t begun = begun_by(piece.from);
    return begun == 0 ? piece.from : std::max(piece.from, over_[begun - 1]);
  }

  std::vector<const OwnershipInterval*> holds_;
  const Pauses* pauses_;
  const ProgressQuestion* question_;
  std::vector<Duration> over_;                                ///< when each and all before it are over
  RowOfLengths ends_;                                         ///< when each is
  RowOfLengths free_;                                         ///< for how long of each piece nobody has it
  std::vector<std::pair<std::size_t, Standstill>> too_long_;  ///< by piece
};

class Judge {
 public:
  Judge(const sim::History& history, const Names& names, const ProgressQuestion& question)
      : names_(names), question_(question), pauses_(history), beliefs_(ownership_intervals(history)) {
    collect_tries(history.operations, history.interruptions, question.attempts, tries_);
  }

  Finding judge() {
    std::map<std::string_view, std::vector<const OwnershipInterval*>> holds;
    for (const Try& one : tries_) holds[one.object];
    for (const OwnershipInterval& belief : beliefs_) holds[belief.object].push_back(&belief);
    std::map<std::string_view, LockGrants> grants;
    for (auto& [object, of_object] : holds) grants.try_emplace(object, std::move(of_object), pauses_, question_);
    for (const Try& one : tries_) {
      const TimeSpan whole{one.from.offset(),
                           end_or_never(one.until ? std::optional(one.until->at) : std::nullopt, question_.end)};
      for (const TimeSpan& span : running(pauses_.of(one.process), whole)) look(one, grants.at(one.object), span);
    }
    return conclusion();
  }

 private:
  /// In the span `one` tries and runs. What is too long later in it begins later.
  void look(const Try& one, const LockGrants& grants, TimeSpan span) {
    const std::size_t first = grants.begun_by(span.from);
    const std::size_t end = std::max(first, grants.begun_before(span.to));
    const bool is_alone = first == end;
    const TimeSpan begin{span.from, is_alone ? span.to : grants.begin(first)};
    const TimeSpan last{is_alone ? span.to : grants.begin(end - 1), span.to};
    const std::size_t last_whole = is_alone ? end : end - 1;
    if (one.attempts > 1 || !one.is_successful) {
      longest_ = std::max({longest_, grants.free_length(begin), grants.longest_free(first, last_whole)});
      if (!is_alone) longest_ = std::max(longest_, grants.free_length(last));
    }
    std::optional<Standstill> standstill = grants.too_long(begin);
    if (!standstill) standstill = grants.first_too_long(first, last_whole);
    if (!standstill && !is_alone) standstill = grants.too_long(last);
    if (standstill) blame(one, standstill->from, standstill->holder);
  }

  void blame(const Try& one, Duration from, const OwnershipInterval* holder) {
    const sim::Instant at = sim::Instant::at(from + question_.within);
    if (found_.verdict == Verdict::violated && compare(at, *found_.at) >= 0) return;
    found_.verdict = Verdict::violated;
    found_.at = at;
    found_.by.clear();
    const std::string tries = fmt::format("{} has tried since {}", name_of(names_, one.process), time_text(one.from));
    const std::string allowed = sim::to_string(question_.within);
    const std::string since = time_text(sim::Instant::at(from));
    if (holder != nullptr) {
      found_.by.push_back(holder->process);
      found_.evidence = sorted_evidence({one.from_step, holder->from_step});
      found_.why = fmt::format("{}, and from {} on {} held it for longer than {}", tries, since,
                               name_of(names_, holder->process), allowed);
    } else {
      found_.evidence = sorted_evidence({one.from_step});
      found_.why = fmt::format("{}, and from {} on nobody held it for longer than {}", tries, since, allowed);
    }
    if (holder == nullptr || holder->process != one.process) found_.by.push_back(one.process);
  }

  Finding conclusion() {
    if (found_.verdict == Verdict::violated) return found_;
    found_.verdict = Verdict::holds;
    const bool in_vain =
        std::any_of(tries_.begin(), tries_.end(), [](const Try& t) { return t.attempts > 1 || !t.is_successful; });
    if (tries_.empty()) {
      found_.why = "nobody tried";
    } else if (!in_vain) {
      found_.why = "nobody waited";
    } else {
      found_.why = fmt::format("nobody tried for longer than {} while nobody held it ({} allowed)",
                               sim::to_string(longest_), sim::to_string(question_.within));
    }
    return found_;
  }

  const Names& names_;
  const ProgressQuestion& question_;
  Pauses pauses_;
  std::vector<OwnershipInterval> beliefs_;
  std::vector<Try> tries_;
  Duration longest_;
  Finding found_{.property = "progress", .view = View::belief, .verdict = Verdict::unknown};
};

}  // namespace

Finding progress(const sim::History& history, const Names& names, const ProgressQuestion& question) {
  return Judge(history, names, question).judge();
}

void collect_tries(std::span<const sim::Operation> operations, std::span<const sim::Interruption> interruptions,
                   std::span<const std::int64_t> attempts, std::vector<Try>& tries) {
  tries.clear();
  const Crashes crashes(interruptions);
  // By operation: the next of the same process. By process: its latest try.
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> next_of(operations.size(), none);
  std::vector<std::size_t> latest;
  for (std::size_t i = operations.size(); i-- > 0;) {
    const std::size_t process = operations[i].process.index;
    if (process >= latest.size()) latest.resize(process + 1, none);
    next_of[i] = std::exchange(latest[process], i);
  }
  std::fill(latest.begin(), latest.end(), none);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].function != "acquire") continue;
    const sim::Operation& first = operations[i];
    std::size_t& known = latest[first.process.index];
    if (known != none && (!tries[known].until || tries[known].until->step > first.invoked_in)) continue;
    Try one{.process = first.process, .object = first.object, .first = first.id};
    one.from = first.invoked;
    one.from_step = first.invoked_in;
    const std::int64_t most = first.process.index < attempts.size() ? attempts[first.process.index] : 0;
    // It ends whatever was going on.
    const sim::Interruption* crash = crashes.first(first.process, first.invoked_in);
    const sim::Operation* last = nullptr;
    for (std::size_t j = i; j != none; j = next_of[j]) {
      const sim::Operation& next = operations[j];
      const bool is_dead = crash != nullptr && crash->step < next.invoked_in;
      if (is_dead || next.function != "acquire" || next.object != first.object) {
        // Whoever does something else does not wait any more.
        if (last->phase == sim::Phase::invoke) one.until = Ending{next.invoked, next.invoked_in};
        break;
      }
      last = &next;
      ++one.attempts;
      one.is_successful = is_successful(next, "acquire");
      if (one.is_successful || one.attempts == most) break;
    }
    const bool is_over = last->phase != sim::Phase::invoke;
    if (crash != nullptr && (!is_over || crash->step < last->completed_in)) {
      one.until = Ending{crash->from, crash->step};
      one.is_successful = false;
    } else if (is_over) {
      one.until = Ending{last->completed, last->completed_in};
    }
    known = tries.size();
    tries.push_back(one);
  }
}

Property entries::progress() {
  return {.name = "progress",
          .view = View::belief,
          .meaning = "Nobody alive tries longer than a stated bound for a lock that nobody holds or gets.",
          .meaning_zh = "锁无人持有也无人得到时，活着的客户端的尝试不会超过规定的时限。",
          .question =
              "Did somebody alive try for too long while nobody held the lock, or one and the same never gave it back?",
          .decided_by = DecidedBy::lengths,
          .judge = [](const JudgedRun& run) { return checker::progress(run.story, run.names, run.progress); }};
}

}  // namespace lockstep::checker
