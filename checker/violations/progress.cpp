// progress of one explored trace: in which ways its delays let somebody try for too long. The definition is that of
// progress.hpp.
//
// A stretch begins after all of its *starts* and ends before all of its *ends*: it is longer than a bound exactly if
// each end is so much after each start. Which moments are starts and which are ends is a choice, and each choice is a
// way:
//   - which of the other grants of the lock come before the stretch, and which after it (one process has its in order),
//   - between which two pauses of whoever tries it lies,
//   - and either how each belief that began before it ended before it, too; or whose belief lasts through it, and
//     between which two pauses of that process.
// A deadline counts when it is noticed: where the process runs, at it or at the end of a pause after it. A stretch of a
// holder that runs never goes beyond a deadline.
//
// Pauses within the holder's work may begin earlier than `from`, the latest moment. Before the first of them that is
// best as it is. After some of them it is best that they began with the work, so that the stretch begins at c + (until
// - from), c being the beginning of the work. `c + within + (until - from) < end` is a sum (`Violation::sums`) with the
// length on the other side: it is written with the length taken from `kLonger`, which no pause exceeds. Between two
// pauses of one work a witness would have to place each for itself: widened. So is what else rests on a pause within
// work that begins earlier.

#include <algorithm>

#include "checker/properties/evidence.hpp"
#include "checker/violations/violations.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kProgress = "progress";
constexpr sim::Duration kLonger = kLongestLength / 2;

}  // namespace

void ViolationFinder::progress(const ProgressQuestion& question) {
  // What the probe ended never ended in the story.
  conditions_.clear();
  const bool has_probe = operations_.size() < history_->operations.size();
  stretch_.story_end = has_probe ? history_->operations[operations_.size()].invoked_in : sim::no_step;
  stretch_.within = question.within;
  collect_tries(operations_, history_->interruptions, question.attempts, tries_);
  for (const Try& one : tries_) {
    stretch_.trying = &one;
    stretch_.until.reset();
    if (one.until && one.until->step < stretch_.story_end) stretch_.until = one.until->at;
    if (stretch_.until && question.delays != nullptr) {
      const auto lasts = Constraint::less_than(one.from + question.within, *stretch_.until);
      if (!question.delays->is_feasible_with(lasts)) continue;
    }
    stretch_.others.clear();
    stretch_.before.clear();
    stretch_.after.clear();
    for (std::size_t i = 0; i < beliefs_.size(); ++i) {
      const Belief& belief = beliefs_[i];
      if (belief.object != one.object || belief.from_step >= stretch_.story_end) continue;
      if (belief.process != one.process) {
        stretch_.others.push_back(i);
      } else if (belief.from_step <= one.from_step) {
        stretch_.before.push_back(i);
      } else {
        stretch_.after.push_back(i);
      }
    }
    split_grants(0);
  }
}

/// Every choice of which of the others' grants, from this one on, come before the stretch.
void ViolationFinder::split_grants(std::size_t next) {
  if (next == stretch_.others.size()) {
    stretch_.starts.clear();
    const std::size_t mark = conditions_.size();
    nobody_believes(0, false);
    conditions_.resize(mark, Constraint::at_most({}, {}));
    for (const std::size_t holder : stretch_.before) somebody_holds(holder);
    return;
  }
  const std::size_t grant = stretch_.others[next];
  const bool is_after = std::any_of(stretch_.after.begin(), stretch_.after.end(), [&](std::size_t earlier) {
    return beliefs_[earlier].process == beliefs_[grant].process;
  });
  if (!is_after) {
    stretch_.before.push_back(grant);
    split_grants(next + 1);
    stretch_.before.pop_back();
  }
  stretch_.after.push_back(grant);
  split_grants(next + 1);
  stretch_.after.pop_back();
}

std::optional<sim::Instant> ViolationFinder::ended_by_event(const Belief& belief) const {
  const std::optional<Ending> end = end_by_event(belief);
  if (!end || end->step >= stretch_.story_end) return std::nullopt;
  return end->at;
}

/// Every choice of how each belief that began before the stretch, from this one on, was over when it began.
void ViolationFinder::nobody_believes(std::size_t next, bool is_widened) {
  if (next == stretch_.before.size()) {
    between_pauses(is_widened, nullptr);
    return;
  }
  const Belief& belief = beliefs_[stretch_.before[next]];
  // What ended before the same process got it again needs no words.
  const std::optional<Ending> end = end_by_event(belief);
  const auto is_earlier = [&](std::size_t other) {
    return other > stretch_.before[next] && beliefs_[other].process == belief.process && end &&
           end->step <= beliefs_[other].from_step;
  };
  if (std::any_of(stretch_.before.begin(), stretch_.before.end(), is_earlier)) {
    nobody_believes(next + 1, is_widened);
    return;
  }
  const std::size_t starts = stretch_.starts.size();
  const std::size_t mark = conditions_.size();
  const auto go_on = [&](sim::Instant over, bool widened) {
    stretch_.starts.push_back(over);
    stretch_.starts.push_back(belief.from);  // whose deadline passed before is one that was got, too
    nobody_believes(next + 1, is_widened || widened);
    stretch_.starts.resize(starts);
    conditions_.resize(mark, Constraint::at_most({}, {}));
  };
  if (const auto event = ended_by_event(belief)) go_on(*event, false);
  if (!belief.deadline) return;
  const sim::Instant deadline = belief.deadline->at;
  // At `free`, not before the deadline, it runs: after the first `over` of its pauses and before the others.
  own_pauses(belief.process, stretch_.noticing);
  const std::vector<std::size_t> own = stretch_.noticing;
  bool has_loose = false;
  for (const std::size_t p : own) has_loose = has_loose || pauses_[p].is_loose;
  for (std::size_t over = 0; over <= own.size(); ++over) {
    const Pause* last = over > 0 ? &pauses_[own[over - 1]] : nullptr;
    if (last != nullptr && !last->until) break;
    const auto runs_at = [&](sim::Instant free) {
      if (last != nullptr) conditions_.push_back(Constraint::at_most(*last->until, free));
      if (over < own.size()) conditions_.push_back(Constraint::less_than(free, pauses_[own[over]].from));
    };
    runs_at(deadline);
    go_on(deadline, false);
    if (last == nullptr) continue;
    conditions_.push_back(Constraint::at_most(deadline, *last->until));
    runs_at(*last->until);
    go_on(*last->until, false);
  }
  if (has_loose) go_on(deadline, true);
}

void ViolationFinder::own_pauses(sim::ProcessId process, std::vector<std::size_t>& own) const {
  own.clear();
  for (std::size_t i = 0; i < pauses_.size(); ++i) {
    if (pauses_[i].process == process) own.push_back(i);
  }
}

/// Every choice of two pauses of whoever tries, one after the other; and of a holder, if there is one.
void ViolationFinder::between_pauses(bool is_widened, const Belief* holder) {
  own_pauses(stretch_.trying->process, stretch_.own);
  stretch_.of_holder.clear();
  if (holder != nullptr && holder->process != stretch_.trying->process) own_pauses(holder->process, stretch_.of_holder);
  bool has_loose = false;
  for (const std::size_t p : stretch_.own) has_loose = has_loose || pauses_[p].is_loose;
  for (std::size_t gap = 0; gap <= stretch_.own.size(); ++gap) {
    for (std::size_t of_holder = 0; of_holder <= stretch_.of_holder.size(); ++of_holder) {
      add_stretch(gap, of_holder, is_widened, holder);
    }
  }
  // Whoever tries does not work; but another part of its process may.
  if (!has_loose) return;
  stretch_.own.clear();
  for (std::size_t of_holder = 0; of_holder <= stretch_.of_holder.size(); ++of_holder) {
    add_stretch(0, of_holder, true, holder);
  }
}

void ViolationFinder::add_stretch(std::size_t gap, std::size_t gap_of_holder, bool is_widened, const Belief* holder) {
  const Try& one = *stretch_.trying;
  std::vector<sim::Instant>& ends = stretch_.ends;
  const std::size_t starts = stretch_.starts.size();
  ends.clear();
  if (stretch_.until) ends.push_back(*stretch_.until);
  for (const std::size_t after : stretch_.after) ends.push_back(beliefs_[after].from);
  if (holder != nullptr) {
    if (const auto event = ended_by_event(*holder)) ends.push_back(*event);
    if (holder->deadline) ends.push_back(holder->deadline->at);
  }
  stretch_.starts.push_back(one.from);
  const Pause* late = nullptr;  // within the holder's work, and before the stretch
  bool is_possible = true;
  const auto between = [&](const std::vector<std::size_t>& own, std::size_t at) {
    if (at < own.size()) ends.push_back(pauses_[own[at]].from);
    if (at == 0) return;
    const Pause& before = pauses_[own[at - 1]];
    is_possible = is_possible && before.until;
    if (!is_possible) return;
    if (before.is_loose && before.event != kNone && &own == &stretch_.of_holder) {
      late = &before;
      const bool is_last = at == own.size() || pauses_[own[at]].event != before.event;
      is_widened = is_widened || !is_last;
    } else {
      stretch_.starts.push_back(*before.until);
    }
  };
  between(stretch_.own, gap);
  between(stretch_.of_holder, gap_of_holder);
  if (is_possible) {
    const sim::ProcessId held_by = holder != nullptr ? holder->process : sim::ProcessId{};
    begin(kProgress, is_widened, held_by, held_by == one.process ? sim::ProcessId{} : one.process);
    // What is the same for all ways of this try comes first, and is most likely impossible.
    for (const sim::Instant end : ends) {
      for (std::size_t i = stretch_.starts.size(); i-- > 0;) {
        require(stretch_.starts[i] + stretch_.within, end, true);
      }
    }
    for (const Constraint& condition : conditions_) require(condition);
    if (late != nullptr) after_work_pauses(*late);
    finish();
  }
  stretch_.starts.resize(starts);
}

/// The stretch begins when all pauses of that work up to this one are over, if they begin with the work.
void ViolationFinder::after_work_pauses(const Pause& last) {
  std::size_t first = 0;
  while (pauses_[first].process != last.process || pauses_[first].event != last.event) ++first;
  sim::invariant(pauses_[first].is_first, "the first of a work's pauses is known as such");
  const sim::Instant begun = pauses_[first].from;
  // (last.until - begun) + earliest is when they are over.
  for (const sim::Instant end : stretch_.ends) {
    require(SumConstraint{last.earliest + stretch_.within + kLonger, end, *last.until, begun + kLonger});
  }
  current_->pauses.push_back({last.event, last.earliest});
}

/// Every way in which this belief lasts through the stretch.
void ViolationFinder::somebody_holds(std::size_t holder) {
  stretch_.starts.clear();
  for (const std::size_t before : stretch_.before) stretch_.starts.push_back(beliefs_[before].from);
  between_pauses(false, &beliefs_[holder]);
}

}  // namespace lockstep::checker
