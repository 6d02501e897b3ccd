#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/worlds/ids.hpp"

namespace lockstep::models {

/// Numbers processes from 0, in the order in which they are asked for: those of one process have one number.
class ClientNumbers {
 public:
  std::size_t of(sim::ProcessId process) {
    auto known = std::find(known_.begin(), known_.end(), process);
    if (known == known_.end()) known = known_.insert(known, process);
    return static_cast<std::size_t>(known - known_.begin());
  }

 private:
  std::vector<sim::ProcessId> known_;
};

}  // namespace lockstep::models
