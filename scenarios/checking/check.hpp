#pragma once

// `check` of one story: explored in every order and with every delay, or on a grid, and compared with what its file
// expects.

#include <optional>
#include <string_view>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/effort.hpp"
#include "scenarios/exploring/exploration.hpp"
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

/// The story with faults of this parameter that are no larger than `value`: pauses, and jumps and skews to either side.
/// Restarts take just that long, since it is the short ones that do harm. It expects nothing of `check` any more: what
/// the file expects is of its whole ranges. Returns what is wrong with the value.
std::optional<std::string> give(Scenario& story, std::string_view parameter, sim::Duration value);

/// Whether a [[may]] of the story has a range of which a threshold can be asked: one of `sim::kFaultParameters`.
bool has_parameter(const Scenario& scenario, std::string_view parameter);

}  // namespace lockstep::scenarios
