#include "checker/explorer/reduction/conflicts.hpp"

#include <algorithm>
#include <array>

#include "sim/invariant.hpp"

namespace lockstep::checker::explorer {

using sim::Duration;
using sim::Instant;

// --- What does not allow an event.

void Conflicts::deny() {
  const std::uint32_t position = trace_.position();
  if (position == kNone || moment_.is_coda() || !rules_.asks_why()) return;
  const Failure& failure = timing_.explain_last(position);
  const Step& step = trace_.present();
  Wanted answer = wanted({step.chosen, step.process}, Trace::causes_of(step), step.delay.lo);
  for (const std::uint32_t other : failure.conflict) {
    if (is_in_conflict(answer, failure, other)) denied_by_.push_back(other);
  }
}

void Conflicts::note_overdue(std::uint32_t slot) {
  const std::uint32_t first = moment_.first_on_channel(slot);
  const sim::Event& event = moment_.event(first);
  overdue_.reset();
  if (!arrivals_.is_enabled(first)) return;
  // What waits for the present event cannot come in its place.
  const std::array<std::uint32_t, 3> causes = arrivals_.causes_of(event);
  if (std::find(causes.begin(), causes.end(), trace_.position()) == causes.end()) overdue_ = {event.id, event.process};
}

void Conflicts::try_denied(std::uint32_t position) {
  const Step& step = trace_[position];
  for (const std::uint32_t other : denied_by_) {
    if (!has_bit(step.past, other)) try_in_place_of(other, step.past, {step.chosen, step.process});
  }
}

/// What is on its way and has not been executed, as far as it is needed here.
Conflicts::Wanted Conflicts::wanted(const sim::Event& event) {
  return wanted({event.id, event.process}, arrivals_.causes_of(event), arrivals_.delay_of(event).lo);
}

Conflicts::Wanted Conflicts::wanted(Scheduled event, const std::array<std::uint32_t, 3>& causes, Duration least_delay) {
  past_.clear();
  for (const std::uint32_t before : causes) {
    if (before != kNone) join(past_, trace_[before].past);
  }
  return {event, causes.front(), least_delay, &past_, true};
}

/// What was executed where it cannot be.
Conflicts::Wanted Conflicts::wanted(const Step& step) {
  return {{step.chosen, step.process}, step.cause, step.delay.lo, &step.past, true};
}

/// What was wanted is infeasible, and would not be without one of those that do not allow it. So it, and what it needs,
/// is tried in place of each, unless it cannot come there either.
void Conflicts::find(Wanted wanted, const Failure& failure, std::uint32_t end) {
  for (const std::uint32_t other : failure.conflict) {
    if (other >= end || !may_be_in_conflict(wanted, other)) continue;
    // Mostly it is tried already: that is asked first, since what the constraints say of it costs more.
    begin_reversal(other, *wanted.past, wanted.event);
    if (tree_.needs_no_reversal(other, reversal_)) continue;
    if (!wanted.is_failed || is_possible_at(other, wanted, failure)) tree_.reverse(other, reversal_);
  }
}

/// Whether what was wanted might come in place of one of those that do not allow it.
bool Conflicts::is_in_conflict(Wanted& wanted, const Failure& failure, std::uint32_t other) const {
  return may_be_in_conflict(wanted, other) && (!wanted.is_failed || is_possible_at(other, wanted, failure));
}

/// The same, without asking the constraints.
bool Conflicts::may_be_in_conflict(const Wanted& wanted, std::uint32_t other) const {
  if (rules_.mutant == SearchMutant::forget_conflicts || has_bit(*wanted.past, other)) return false;
  return !trace_.is_always_before(other, wanted.cause, wanted.least_delay);
}

bool Conflicts::is_possible_at(std::uint32_t position, Wanted& wanted, const Failure& failure) const {
  if (position < wanted.possible_before) return true;
  if (position >= wanted.impossible_from) return false;
  const bool is_possible = !timing_.is_infeasible_among(failure.constraint, position, *wanted.past);
  (is_possible ? wanted.possible_before : wanted.impossible_from) = position + (is_possible ? 1 : 0);
  return is_possible;
}

void Conflicts::try_in_place_of(std::uint32_t position, const Positions& past, Scheduled event) {
  begin_reversal(position, past, event);
  tree_.reverse(position, reversal_);
}

void Conflicts::begin_reversal(std::uint32_t position, const Positions& past, Scheduled event) {
  part_.clear();
  reversal_.candidates.clear();
  reversal_.then.clear();
  for (std::uint32_t i = position + 1; i < trace_.length(); ++i) {
    if (!has_bit(past, i)) continue;
    const bool is_initial =
        std::none_of(part_.begin(), part_.end(), [&](std::uint32_t before) { return has_bit(trace_[i].past, before); });
    part_.push_back(i);
    if (is_initial) reversal_.candidates.push_back({trace_[i].chosen, trace_[i].process});
  }
  if (reversal_.candidates.empty()) reversal_.candidates.push_back(event);
}

// --- What is done about it.

void Conflicts::try_instead_of(std::uint32_t position, const Failure& failure) {
  find(wanted(trace_[position]), failure, position);
  if (overdue_) {
    tree_.reverse(position, {{*overdue_}, {}});
    return;
  }
  if (!timing_.has_failed_for_good() || failure.conflict.empty()) return;
  Place& place = tree_[position];
  place.may_live = place.lived_before;
  place.conflict.insert(place.conflict.end(), failure.conflict.begin(), failure.conflict.end());
}

bool Conflicts::give_up(std::uint32_t position) {
  const Place& place = tree_[position];
  if (place.may_live || place.conflict.empty()) return true;
  const std::uint32_t last = *std::max_element(place.conflict.begin(), place.conflict.end());
  sim::invariant(last < position, "who does not allow an event comes before it");
  // What is before belongs to others, who would have to pick somebody else there.
  if (last < tree_.own_from()) return false;
  tree_.die(last);
  Wanted dead = wanted(trace_[last]);
  dead.is_failed = false;
  find(dead, {.conflict = place.conflict}, last);
  return true;
}

bool Conflicts::is_too_late(std::uint32_t earlier, std::uint32_t later, std::span<const std::uint32_t> part) {
  const Step& before = trace_[earlier];
  const Step& step = trace_[later];
  if (!before.latest) return false;
  const Constraint in_time = Constraint::at_most(step.event.base + step.event.delay.lo, *before.latest);
  if (timing_.constraints().is_feasible_with(in_time)) return false;
  first_.clear();
  for (const std::uint32_t i : part) {
    if (i != later) set_bit(first_, i);
  }
  const Failure* failure = timing_.explain_among(in_time, earlier, first_, later);
  if (failure == nullptr) return false;
  find(wanted({step.chosen, step.process}, Trace::causes_of(step), step.delay.lo), *failure, later);
  return true;
}

bool Conflicts::sleeps_for_good(const Place& place) {
  if (place.sleep.empty() || timing_.is_infeasible()) return false;
  const auto is_open = [&](std::uint32_t slot) { return !is_asleep(place.sleep, moment_.event(slot).id); };
  const auto until = [&](std::uint32_t slot, Instant end) {
    const sim::Event& event = moment_.event(slot);
    return Constraint::at_most(event.base + event.delay.lo, end);
  };
  const DifferenceConstraints& constraints = timing_.constraints();
  const std::span<const std::uint32_t> pending = moment_.pending();
  for (const std::uint32_t sleeper : pending) {
    if (is_open(sleeper)) continue;
    const std::optional<Instant> end = arrivals_.latest(moment_.event(sleeper));
    if (!end) continue;
    const bool is_over = std::none_of(pending.begin(), pending.end(), [&](std::uint32_t slot) {
      return is_open(slot) && constraints.is_feasible_with(until(slot, *end));
    });
    if (!is_over) continue;
    if (rules_.mutant == SearchMutant::sleep_unasked) return true;
    for (const std::uint32_t slot : pending) {
      if (!is_open(slot) || !arrivals_.is_enabled(slot)) continue;
      const Constraint in_time = until(slot, *end);
      if (constraints.is_feasible_with(in_time)) continue;  // it is not: now the constraints can say why
      const Failure& failure = timing_.explain(in_time, trace_.length());
      find(wanted(moment_.event(slot)), failure, trace_.length());
    }
    return true;
  }
  return false;
}

}  // namespace lockstep::checker::explorer
