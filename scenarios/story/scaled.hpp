#pragma once

// The same story in slower or faster time.

#include <cstdint>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// How much longer everything takes.
struct TimeScale {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
  bool operator==(const TimeScale&) const = default;
};

/// Each time and length of the story, defaults of its algorithm included, by this factor: what it says of order stays
/// as it is. What an algorithm has as a constant stays, too, and so do times inside of `commands`: whether the story is
/// still the same, a run of it tells.
Scenario scaled(Scenario scenario, const models::locks::Catalogue& catalogue, TimeScale scale);

}  // namespace lockstep::scenarios
