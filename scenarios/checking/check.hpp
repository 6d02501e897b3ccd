#pragma once

// `check` of one story: explored in every order and with every delay, or on a grid, and compared with what its file
// expects.

#include <optional>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/running/effort.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

struct CheckOptions {
  ExplorationOptions exploration;
  std::optional<sim::Duration> tick;  ///< brute force on a grid of this tick instead of the explorer
  bool second_opinion = true;         ///< concrete runs contradict the explorer, if they can: `second_opinion`
  Effort opinion_effort;
};

/// A diagnostic as `explore` gives it. What was interrupted before it began, or has not ended by itself within two
/// seconds of Ctrl-C or of `max_seconds`, gives an exploration in which all is unknown.
std::variant<Exploration, Diagnostic> check(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                            const CheckOptions& options = {});

/// Fills in what the file expects and the algorithm claims, as `check` does.
void compare_with_file(const Scenario& scenario, const models::locks::Catalogue& catalogue, const CheckOptions& options,
                       Exploration& exploration);

}  // namespace lockstep::scenarios
