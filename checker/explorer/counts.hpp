#pragma once

// What an exploration took.

#include <cstdint>

namespace lockstep::checker {

struct ExplorerCounts {
  std::uint64_t traces = 0;      ///< complete and feasible
  std::uint64_t blocked = 0;     ///< given up since all that was enabled slept
  std::uint64_t infeasible = 0;  ///< events that time did not allow, and traces that ended since what was left is such;
                                 ///< `thorough`: traces that go on
  std::uint64_t events = 0;      ///< of all these, each trace counted from its beginning
  bool complete = false;         ///< nothing was left out

  ExplorerCounts& operator+=(const ExplorerCounts& more) {
    traces += more.traces;
    blocked += more.blocked;
    infeasible += more.infeasible;
    events += more.events;
    complete = complete && more.complete;
    return *this;
  }
};

}  // namespace lockstep::checker
