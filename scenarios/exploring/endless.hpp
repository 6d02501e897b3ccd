#pragma once

// Stories that are too long to explore. A run may tell why.

#include <optional>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration_result.hpp"

namespace lockstep::scenarios {

/// If one execution of the story without its `[[fault]]` and its order, with the shortest delays, breaks `progress`: an exploration that
/// found that and nothing else, its bound "max-steps". Nothing if it does not: then nothing is known.
std::optional<Exploration> endless_exploration(const Scenario& scenario, const models::locks::Catalogue& catalogue);

}  // namespace lockstep::scenarios
