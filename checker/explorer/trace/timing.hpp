#pragma once

// When the events of a trace can happen: the constraints that they add, and, where one cannot be, which of the events
// before do not allow it.
//
// Once a constraint has failed nothing more is added until the failure is forgotten: the trace is infeasible from the
// event on that was to add it.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "checker/explorer/trace/positions.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "checker/time/difference_constraints.hpp"
#include "sim/time/time.hpp"

namespace lockstep::checker::explorer {

/// A constraint that is infeasible, and the events that it is infeasible because of.
struct Failure {
  Constraint constraint{0, 0, Bound::always()};
  std::vector<std::uint32_t> conflict;  ///< positions
};

class Timing {
 public:
  explicit Timing(const Trace& trace) : trace_(trace) {}

  DifferenceConstraints& constraints() { return constraints_; }
  const DifferenceConstraints& constraints() const { return constraints_; }

  // --- What the present event adds.

  sim::Instant fresh();
  /// Adds a constraint, unless one has failed. False: that one, or this.
  bool add(const Constraint& constraint) {
    if (!infeasible_from_ && !add_owned(constraint)) fail(constraint);
    return !infeasible_from_.has_value();
  }
  void at_most(sim::Instant a, sim::Instant b);
  void between(sim::Instant from, sim::Instant to, sim::DurationRange length);
  /// A lower bound of a moment, to pick by. What is known when it is asked for; what follows may raise it, which costs
  /// the order of picking nothing but a little sense.
  sim::Duration earliest(sim::Instant moment) const { return earliest_[moment.variable()] + moment.offset(); }

  /// Whether what `constraints` adds is feasible; it is taken back. Why it is not can still be asked in `when_not`.
  template <class Constraints, class WhenNot>
  bool would_be_feasible(const Constraints& constraints, const WhenNot& when_not) {
    const DifferenceConstraints::Mark mark = constraints_.mark();
    const std::size_t raised = raised_.size();
    is_asking_ = true;
    const bool feasible = constraints();
    is_asking_ = false;
    if (!feasible) when_not();
    constraints_.undo(mark);
    lower_to(raised);
    infeasible_from_.reset();
    return feasible;
  }

  void note(StepMark& mark) const {
    mark.constraints = constraints_.mark();
    mark.raised = raised_.size();
  }
  /// Takes back all that was added since. Of a failure nothing is forgotten.
  void undo(const StepMark& mark) {
    constraints_.undo(mark.constraints);
    lower_to(mark.raised);
  }
  /// Nothing but the origin.
  void clear();

  // --- Whether it can be.

  bool is_infeasible() const { return infeasible_from_.has_value(); }
  /// The first event that cannot be.
  const std::optional<std::uint32_t>& infeasible_from() const { return infeasible_from_; }
  void forget_failure() { infeasible_from_.reset(); }
  /// Whether nothing that can still happen before it would make the event feasible that failed last.
  bool has_failed_for_good() const { return has_failed_for_good_; }

  /// While it lives, what is added holds whatever else happens before the present event.
  class Certain {
   public:
    explicit Certain(Timing& timing, bool is_certain = true)
        : timing_(timing), before_(std::exchange(timing.is_certain_, timing.is_certain_ || is_certain)) {}
    ~Certain() { timing_.is_certain_ = before_; }
    Certain(const Certain&) = delete;
    Certain& operator=(const Certain&) = delete;

   private:
    Timing& timing_;
    bool before_;
  };

  // --- Who does not allow it. `failure` is that of the last explanation.

  const Failure& failure() const { return failure_; }
  /// Which of the events before `end` do not allow the constraint that has failed last. Requires: nothing was added
  /// since.
  const Failure& explain_last(std::uint32_t end) { return explain(failure_.constraint, end); }
  /// Likewise this constraint. Requires: to add it, or to ask whether it is feasible, has just failed.
  const Failure& explain(const Constraint& failed, std::uint32_t end);
  /// If the constraint is infeasible when of the trace there are only the events before `position` and those of this
  /// set: which of the events before `end` do not allow it. Null: it is feasible.
  const Failure* explain_among(const Constraint& failed, std::uint32_t position, const Positions& set,
                               std::uint32_t end);
  /// Whether it is infeasible even so.
  bool is_infeasible_among(const Constraint& failed, std::uint32_t position, const Positions& set) const {
    return constraints_.is_infeasible_among(failed, [&](std::uint32_t i) { return is_among(i, position, set); });
  }
  /// How far `b` is from `a`, and `a` from `b`, at most, as the constraints of these events alone say.
  std::pair<std::optional<Extent>, std::optional<Extent>> greatest_differences_among(Variable a, Variable b,
                                                                                     const Positions& set);

 private:
  /// Adds a constraint of the present event. False: it is infeasible.
  bool add_owned(const Constraint& constraint) {
    const std::uint32_t before = constraints_.constraints();
    if (!constraints_.add(constraint)) return false;
    if (constraints_.constraints() == before) return true;  // it always holds
    if (owner_of_constraint_.size() <= before) [[unlikely]]
      owner_of_constraint_.resize(before + 1);
    owner_of_constraint_[before] = trace_.position();
    return true;
  }
  void fail(const Constraint& failed);
  void lower_to(std::size_t mark);
  void note_conflict(std::uint32_t end);
  bool is_among(std::uint32_t constraint, std::uint32_t position, const Positions& set) const;

  const Trace& trace_;
  DifferenceConstraints constraints_;
  std::vector<sim::Duration> earliest_{sim::Duration::zero()};  ///< by variable
  std::vector<std::pair<Variable, sim::Duration>> raised_;  ///< what `earliest_` was before, in the order of changes

  std::optional<std::uint32_t> infeasible_from_;
  bool is_certain_ = false;
  bool is_asking_ = false;  ///< which answers are feasible: not why
  bool has_failed_for_good_ = false;

  Failure failure_;
  std::vector<std::uint32_t> why_;  ///< constraints
  Positions noted_;                 ///< those of the conflict
  // Which event each of them comes from: its position, `kNone` for what was decided before the first event.
  std::vector<std::uint32_t> owner_of_variable_{kNone};
  std::vector<std::uint32_t> owner_of_constraint_;
};

}  // namespace lockstep::checker::explorer
