#pragma once

// A run that shows what an explored trace breaks.

#include <optional>
#include <string_view>
#include <variant>

#include "scenarios/exploring/exploration_result.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/exploring/trace_judge.hpp"
#include "scenarios/witness/witness.hpp"

namespace lockstep::scenarios {

/// Where a trace is explored once more.
struct TraceWorld {
  const Scenario& scenario;
  const models::locks::Catalogue& catalogue;
  checker::Explorer& explorer;
  ExploredStory& story;
};

/// What came of the first way to break the property that a replay shows, or of the first of all.
struct TraceWitness {
  std::variant<Witness, Unconfirmed> shown;
  bool is_large = false;  ///< not with the least values of parameters
};
/// `longer_than`: of the ways that last longer.
TraceWitness witness_of(const BestTrace& trace, std::string_view property, TraceWorld world, TraceJudge& judge,
                        std::optional<sim::Duration> longer_than = std::nullopt);

/// How long this property is broken at worst, as far as a run shows it; nothing: none does. `least`: the run that shows
/// it broken at all. `is_whole`: all executions were looked at.
std::optional<WorstCase> worst_case(const PropertyTally& tally, TraceWorld world, TraceJudge& judge,
                                    const Scenario& least, bool is_whole);

}  // namespace lockstep::scenarios
