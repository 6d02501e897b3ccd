#pragma once

#include <cstddef>

#include "models/consensus/types.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::consensus {

/// Connects each member to every other one, in both directions. Requires: all are in the world; node i is `members[i]`,
/// which has `connect(node, connection)`.
template <class Members>
void connect_members(sim::World& world, Members& members, sim::DurationRange latency) {
  for (std::size_t from = 0; from < members.size(); ++from) {
    for (std::size_t to = 0; to < members.size(); ++to) {
      if (from == to) continue;
      members[from].connect(static_cast<NodeId>(to), world.connect(members[from].id(), members[to].id(), latency));
    }
  }
}

}  // namespace lockstep::models::consensus
