#pragma once

// What the world asks of instants that have no numbers: which is later, and what is so far from another.
//
// Readings of clocks that are off by a range, or drift, make comparisons that are no differences of two instants. The
// search takes what follows for the whole range; what exactly was asked is kept, for whoever puts the exact question at
// the end.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checker/explorer/execution/fault_choices.hpp"
#include "checker/explorer/execution/questions.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "checker/time/parametric.hpp"
#include "sim/time/time.hpp"

namespace lockstep::checker::explorer {

class Readings {
 public:
  Readings(Trace& trace, const Moment& moment, Timing& timing, Questions& questions, const FaultChoices& faults)
      : trace_(trace), moment_(moment), timing_(timing), questions_(questions), faults_(faults) {}

  std::span<const ParametricBound> parametric() const { return parametric_; }
  /// With which times runs show what was assumed of digits.
  std::span<const sim::WholeUnits> whole_units() const { return whole_units_; }
  /// Whether a comparison of this trace was widened in a way that `parametric` does not say, because a clock drifts.
  bool is_widened() const { return widened_ != 0; }

  void note(StepMark& mark) const {
    mark.parametric = parametric_.size();
    mark.widened = widened_;
    mark.whole_units = whole_units_.size();
  }
  void undo(const StepMark& mark) {
    parametric_.erase(parametric_.begin() + static_cast<std::ptrdiff_t>(mark.parametric), parametric_.end());
    widened_ = mark.widened;
    whole_units_.erase(whole_units_.begin() + static_cast<std::ptrdiff_t>(mark.whole_units), whole_units_.end());
  }
  void clear() {
    parametric_.clear();
    whole_units_.clear();
    widened_ = 0;
  }

  // --- While an event is executed.

  void begin() { next_sum_ = 0; }
  /// `until - from` is this parameter: what holds exactly, where the constraints have only what follows from it for the
  /// whole range.
  void set_apart(sim::Instant from, sim::Instant until, std::uint32_t parameter) {
    parametric_.push_back({Constraint::at_most(until, from), parameter, ParametricBound::none});
    parametric_.push_back({Constraint::at_most(from, until), ParametricBound::none, parameter});
  }
  bool is_at_or_after(sim::Instant a, sim::Instant b);
  /// `a + (plus - minus)`: see `sim::Scheduler::sum`.
  sim::Instant sum(sim::Instant a, sim::Instant plus, sim::Instant minus);
  sim::DurationRange apart(sim::Instant later, sim::Instant earlier, sim::DurationRange usual);
  /// `at`, earlier by this parameter, or later: that exactly.
  sim::Instant moved(sim::Instant at, std::uint32_t parameter, bool later);
  void note_approximation(const std::optional<sim::WholeUnits>& shown_by) {
    if (trace_.is_replay() || timing_.is_infeasible()) return;
    ++widened_;
    if (shown_by) whole_units_.push_back(*shown_by);
  }

 private:
  bool is_widely_at_or_after(sim::Instant a, sim::Instant b);
  sim::DurationRange surplus(sim::Instant reading) const;
  Positions causes() const;

  Trace& trace_;
  const Moment& moment_;
  Timing& timing_;
  Questions& questions_;
  const FaultChoices& faults_;

  std::vector<ParametricBound> parametric_;
  std::vector<sim::WholeUnits> whole_units_;
  std::uint32_t widened_ = 0;
  std::size_t next_sum_ = 0;
};

}  // namespace lockstep::checker::explorer
