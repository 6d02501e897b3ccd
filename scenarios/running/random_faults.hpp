#pragma once

// What might happen, made to happen: one story of the many that a file with ranges and [[may]] allows, drawn at random.

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {

/// The same story with every range replaced by one value of it, and every [[may]] by up to `times` [[fault]]s at random
/// moments: at true times, or at steps that its clients come to when nothing goes wrong. Single messages are late
/// within the network's latency. `run` replays the result without a seed.
/// Requires: the scenario came out of the loader or is as consistent, and runs.
Scenario draw(const Scenario& scenario, const models::locks::Catalogue& catalogue, sim::Random& random);

/// One of the executions that `check` looks at: as `draw`, without the pins, the schedule and the faults of `run`. Of
/// its expectations those of `check` stay that say that something holds, for they are about this execution, too.
Scenario draw_checked(const Scenario& scenario, const models::locks::Catalogue& catalogue, std::uint64_t seed);

}  // namespace lockstep::scenarios
