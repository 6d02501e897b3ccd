#pragma once

// A line about an exploration, for whoever reads a test's output.

#include <iostream>
#include <string_view>

#include "models/consensus/properties.hpp"
#include "models/consensus/testing/exploration.hpp"

namespace lockstep::models::consensus::testing {

inline void tell(std::string_view name, const Explored& explored) {
  std::cout << name << ": " << explored.states << " states, " << explored.steps << " steps, " << explored.depth
            << " deep, " << (explored.complete ? "complete" : "not complete") << "; two leaders in "
            << explored.with_two_leaders << ", logs that conflict in " << explored.with_conflict
            << ", something committed in " << explored.with_committed << " (up to " << explored.committed_max << "), "
            << explored.reads_answered << " reads answered\n";
  if (explored.breach) {
    std::cout << "  " << to_string(explored.breach->promise) << " broken after " << explored.steps_to_breach.size()
              << " steps: " << explored.breach->what << "\n";
  }
  std::cout.flush();
}

}  // namespace lockstep::models::consensus::testing
