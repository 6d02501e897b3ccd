#pragma once

// What the requests of one client have in common, whatever they are and whoever serves them.

#include "sim/worlds/ids.hpp"

namespace lockstep::models {

struct Session {
  sim::OperationId operation = 0;  ///< the client's operation that is going on
  bool missed_reply = false;       ///< some outcome has been unknown since this was last cleared
};

}  // namespace lockstep::models
