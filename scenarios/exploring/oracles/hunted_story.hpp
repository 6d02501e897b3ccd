#pragma once

// Random stories in which the explorer's judgement is hard: for tests that compare it with concrete runs.

#include <cstdint>

#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// One or two clients, seldom three, under various algorithms; all times in whole milliseconds. Several faults that may
/// strike: pauses at one place, pauses of the work, clocks that are off to both sides, losses, crashes with a restart;
/// works that end around the lease, and scripts that read the clock. The same seed gives the same story everywhere.
/// Some are more than an exploration knows, which says so.
Scenario hunted_story(std::uint64_t seed);

}  // namespace lockstep::scenarios
