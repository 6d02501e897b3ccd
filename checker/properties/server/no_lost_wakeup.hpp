#pragma once

// no-lost-wakeup: nobody waits for a lock that is free, longer than a stated bound.
//
// Waiting is an open acquire: it begins when it is invoked and ends when it completes, or when its process (or thread)
// crashes; where neither happens, it never ends. The lock is free from a release that removes its object to the next
// write of an acquire there. A lease that runs out is not counted: whoever waits cannot be told of that. Pauses of
// whoever waits do not count, since nobody can wake it then.

#include <optional>
#include <string_view>

#include "checker/properties/verdict.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

struct WakeupQuestion {
  sim::ProcessId server;  ///< the only one at which the lock is kept; invalid: there are several, and nothing is judged
  std::string_view object;  ///< the lock
  sim::Duration within;
  /// Of a run: when the story was over. What ends later was ended by the probe, so it goes on for ever; nothing: all of
  /// it is the story.
  std::optional<sim::Instant> end = std::nullopt;
};

/// Requires: instants are true times.
Finding no_lost_wakeup(const sim::History& history, const Names& names, const WakeupQuestion& question);

}  // namespace lockstep::checker
