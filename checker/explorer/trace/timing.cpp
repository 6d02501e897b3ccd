#include "checker/explorer/trace/timing.hpp"

#include <algorithm>

#include "sim/invariant.hpp"

namespace lockstep::checker::explorer {

using sim::Duration;
using sim::DurationRange;
using sim::Instant;

Instant Timing::fresh() {
  const Variable variable = constraints_.add_variable();
  if (earliest_.size() <= variable) earliest_.resize(variable + 1);
  earliest_[variable] = Duration::zero();
  if (owner_of_variable_.size() <= variable) owner_of_variable_.resize(variable + 1);
  owner_of_variable_[variable] = trace_.position();
  return Instant(variable, Duration::zero());
}

void Timing::at_most(Instant a, Instant b) {
  if (infeasible_from_) return;
  const Constraint constraint = Constraint::at_most(a, b);
  if (!add_owned(constraint)) [[unlikely]] {
    fail(constraint);
    return;
  }
  Duration& least = earliest_[b.variable()];
  const Duration raised = earliest_[a.variable()] + a.offset() - b.offset();
  if (raised <= least) return;
  raised_.emplace_back(b.variable(), least);
  least = raised;
}

void Timing::between(Instant from, Instant to, DurationRange length) {
  at_most(from + length.lo, to);
  add(Constraint::at_most(to, from + length.hi));
}

void Timing::clear() {
  constraints_.clear();
  raised_.clear();
  earliest_.assign(1, Duration::zero());
}

/// Takes back what `earliest_` was raised by since.
void Timing::lower_to(std::size_t mark) {
  for (; raised_.size() > mark; raised_.pop_back()) earliest_[raised_.back().first] = raised_.back().second;
}

/// The present event cannot be, with this constraint.
void Timing::fail(const Constraint& failed) {
  infeasible_from_ = trace_.position();
  failure_.constraint = failed;
  if (is_asking_) return;
  sim::invariant(trace_.position() != kNone, "what is decided before the first event allows some time");
  has_failed_for_good_ = is_certain_;
  explain(failed, trace_.position());
}

// --- Who does not allow it.

const Failure& Timing::explain(const Constraint& failed, std::uint32_t end) {
  failure_.constraint = failed;
  constraints_.explain_last(why_);
  note_conflict(end);
  return failure_;
}

const Failure* Timing::explain_among(const Constraint& failed, std::uint32_t position, const Positions& set,
                                     std::uint32_t end) {
  failure_.constraint = failed;
  const auto is_there = [&](std::uint32_t i) { return is_among(i, position, set); };
  if (!constraints_.is_infeasible_among(failed, is_there, &why_)) return nullptr;
  note_conflict(end);
  return &failure_;
}

/// Which of the events before `end` the failure and `why_` come from.
void Timing::note_conflict(std::uint32_t end) {
  sim::costly_invariant(
      [&] {
        const auto begin = owner_of_constraint_.begin();
        const auto comes_before = [](std::uint32_t a, std::uint32_t b) { return a + 1 < b + 1; };  // kNone is first
        return std::is_sorted(begin, begin + constraints_.constraints(), comes_before);
      },
      "each event adds to what those before it have added");
  std::vector<std::uint32_t>& conflict = failure_.conflict;
  conflict.clear();
  std::fill(noted_.begin(), noted_.end(), 0);
  const auto add = [&](std::uint32_t owner) {
    if (owner == kNone || owner >= end) return;
    if (!has_bit(noted_, owner)) conflict.push_back(owner);
    set_bit(noted_, owner);
  };
  const auto add_ends = [&](const Constraint& c) {
    add(owner_of_variable_[c.from]);
    add(owner_of_variable_[c.to]);
  };
  add_ends(failure_.constraint);
  for (const std::uint32_t i : why_) {
    add(owner_of_constraint_[i]);
    add_ends(constraints_.constraint(i));
  }
}

/// Whether a constraint is there already when of the trace there are only the events before `position` and those of
/// this set.
bool Timing::is_among(std::uint32_t constraint, std::uint32_t position, const Positions& set) const {
  const auto is_there = [&](std::uint32_t owner) { return owner == kNone || owner < position || has_bit(set, owner); };
  const Constraint c = constraints_.constraint(constraint);
  return is_there(owner_of_constraint_[constraint]) && is_there(owner_of_variable_[c.from]) &&
         is_there(owner_of_variable_[c.to]);
}

std::pair<std::optional<Extent>, std::optional<Extent>> Timing::greatest_differences_among(Variable a, Variable b,
                                                                                           const Positions& set) {
  const auto is_of_these = [&](std::uint32_t i) {
    return owner_of_constraint_[i] == kNone || has_bit(set, owner_of_constraint_[i]);
  };
  return {constraints_.greatest_difference_among(a, b, is_of_these),
          constraints_.greatest_difference_among(b, a, is_of_these)};
}

}  // namespace lockstep::checker::explorer
