#pragma once

// One trace of an exploration that is to become a witness, and what it is to show.

#include <string>
#include <string_view>
#include <vector>

#include "checker/explorer/explored.hpp"
#include "checker/explorer/explorer.hpp"
#include "checker/time/difference_constraints.hpp"
#include "checker/violations/violations.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

/// What there is to know of one explored trace, when its explorer has gone on.
struct ExploredTrace {
  std::vector<checker::ExploredEvent> events;            ///< of the story, without the coda
  std::vector<std::vector<sim::PlannedChoice>> choices;  ///< by event
  std::vector<checker::ExploredFault> faults;
  std::vector<checker::ExploredParameter> parameters;
  std::vector<checker::ParametricBound> parametric;
  std::vector<sim::WholeUnits> whole_units;  ///< `Explorer::whole_units`
  checker::DifferenceConstraints constraints;
};

/// Requires: called by the visitor, at the end of a trace.
ExploredTrace trace_of(checker::Explorer& explorer);

/// What is to be shown.
struct Violation {
  std::string_view property;
  /// What must hold, besides the constraints of the trace, so that the property is violated.
  std::vector<checker::Constraint> constraints;
  std::vector<std::string> by;  ///< whom a run must blame, in any order; empty: anyone
  /// By trace parameter: how far a clock is to jump, or be off. Empty: a small value that does is looked for.
  std::vector<sim::Duration> parameters;
  std::vector<checker::WorkPauses> pauses = {};  ///< where pauses within work are to begin; elsewhere anywhere
};

}  // namespace lockstep::scenarios
