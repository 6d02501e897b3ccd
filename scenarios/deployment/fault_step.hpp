#pragma once

// Which step of its process an event is, for a fault that strikes `after` it.

#include <string>

#include "sim/worlds/world.hpp"

namespace lockstep::scenarios {

/// What `World::reach` will be told if the event does anything: "SET", "work", "A.SET". Empty: nothing.
/// Requires: the event is pending.
std::string fault_step(const sim::World& world, const sim::Event& event);

}  // namespace lockstep::scenarios
