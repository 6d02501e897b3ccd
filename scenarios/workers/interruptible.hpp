#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sim/schedules/simulation.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

/// `simulation.run(until, max_events)`, which may take minutes; from time to time it is asked whether it is to stop.
/// Nothing: it was.
std::optional<sim::Simulation::End> run_interruptibly(sim::Simulation& simulation, sim::Instant until,
                                                      std::uint64_t max_events,
                                                      const std::function<bool()>& interrupted);

}  // namespace lockstep::scenarios
