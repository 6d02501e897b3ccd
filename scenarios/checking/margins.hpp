#pragma once

// Margins of executions whose digits matter: a search knows below which length nothing can break; whether it breaks
// there, only a run can show.

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Explores the story once more for each margin of `exploration` that is not exact and has a `least_possible`, with
/// nothing longer than that, and at most two nanoseconds beyond where the value itself is not enough. Where a run shows
/// the property broken so, the margin is exact, and the run is its witness; elsewhere all stays as it was. Only lengths
/// of one parameter have a `least_possible`. Bounds of `how` end it.
void confirm_margins(const Scenario& scenario, const models::locks::Catalogue& catalogue, const ExplorationOptions& how,
                     Exploration& exploration);

}  // namespace lockstep::scenarios
