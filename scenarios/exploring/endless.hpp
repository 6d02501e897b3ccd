#pragma once

// Stories that are too long to explore. A run may tell why.

#include <cstdint>
#include <optional>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration_result.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// If one execution of the story without its `[[fault]]` and its order, with the shortest delays, breaks `progress`: an
/// exploration that found that and nothing else, its bound "max-steps". Nothing if it does not: then nothing is known.
std::optional<Exploration> endless_exploration(const Scenario& scenario, const models::locks::Catalogue& catalogue);

/// What is known of all other properties, where an execution in which it is tried whether the lock comes back has more
/// than so many events.
std::variant<Exploration, Diagnostic> without_probe(std::variant<Exploration, Diagnostic> others, std::uint64_t events);

/// What is said of a story that has an execution of more than so many events.
Diagnostic too_long_to_explore(const Scenario& scenario, std::uint64_t events);

}  // namespace lockstep::scenarios
