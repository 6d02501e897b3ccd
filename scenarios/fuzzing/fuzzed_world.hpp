#pragma once

// The worlds of a campaign: the story of a file, or one made up for an algorithm, with what may go wrong in it.

#include <cstdint>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {

/// The story as random runs play it: without the pins, the schedule and the faults of `run`, without expectations. What
/// its [[may]] allow is all that may go wrong. A file without any is silent on that: then what its [[fault]]s show may
/// strike anybody at any time, up to twice as long, and in every second world something else as well; unless
/// `as_written`.
Scenario fuzzed_world(const Scenario& file, std::uint64_t seed, bool as_written);
/// Whether every seed gives the same world.
bool is_only_world(const Scenario& file, bool as_written);

/// A world made up for one algorithm: 2 to 64 clients, 1 to 9 servers (replicas and sentinels among them), latencies,
/// clocks, workloads, faults. It is a story that a file could tell.
Scenario generated_world(const models::locks::Entry& entry, std::uint64_t seed);

}  // namespace lockstep::scenarios
