#pragma once

// The lengths of faults that a story leaves open, as `check` can be told to take them.

#include <optional>
#include <string>
#include <string_view>

#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

/// The story with faults of this parameter that are no larger than `value`: pauses, and jumps and skews to either side,
/// or, below 0, to that side alone. Restarts take just that long, since it is the short ones that do harm. It expects
/// nothing of `check` any more: what the file expects is of its whole ranges. Returns what is wrong with the value.
std::optional<std::string> give(Scenario& story, std::string_view parameter, sim::Duration value);

/// Whether a [[may]] of the story has a range of which a threshold can be asked: one of `sim::kFaultParameters`.
bool has_parameter(const Scenario& scenario, std::string_view parameter);

}  // namespace lockstep::scenarios
