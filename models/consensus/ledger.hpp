#pragma once

#include "models/consensus/types.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::models::consensus {

/// For histories, which tell of each entry once: under the id of the first member, in the event in which whoever is
/// first applies it. That is the leader, when it learns that a quorum has the entry: from then on all linearizable
/// reads see it, and before that nobody does. One for all members, and no member's state.
struct Ledger {
  sim::ProcessId teller = {};
  Index told = 0;
  /// Whether this one is new to it.
  bool takes(Index index) {
    if (index <= told) return false;
    told = index;
    return true;
  }
};

}  // namespace lockstep::models::consensus
