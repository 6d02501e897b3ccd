#pragma once

// no-lost-wakeup: nobody waits for a lock that is free, longer than a stated bound.
//
// Waiting is an open acquire: it begins when it is invoked and ends when it completes, or when its process (or thread)
// crashes; where neither happens, it never ends. Who sleeps by its own clock between two looks waits for nobody: a poll
// is late by its own choice, and with each look a new wait begins. The lock is free from a release that removes its
// object to the next write there; of several objects (lock_objects.hpp) nothing must be left. A lease that runs out is
// not counted: whoever waits cannot be told of that. Pauses of whoever waits do not count, since nobody can wake it
// then.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checker/properties/lock_objects.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

struct WakeupQuestion {
  sim::ProcessId server;  ///< the only one at which the lock is kept; invalid: there are several, and nothing is judged
  std::string_view object;  ///< the lock's name
  sim::Duration within;
  /// Of a run: when the story was over. What ends later was ended by the probe, so it goes on for ever; nothing: all of
  /// it is the story.
  std::optional<sim::Instant> end = std::nullopt;
};

/// A part of an open acquire in which whoever waits could be woken.
struct OpenWait {
  const sim::Operation* wait;
  sim::Instant from;
  std::optional<sim::Instant> until;  ///< nothing: until the acquire ends
};
/// By acquire. The instants may be symbolic.
std::vector<OpenWait> open_waits(std::span<const sim::Operation> operations, const sim::History& history,
                                 std::string_view lock);

/// When the lock was freed, and then taken (null: never), one after the other. What is removed once more before it is
/// taken was free already. `effects`: in the server's order.
struct FreeTime {
  const sim::Effect* freed;
  const sim::Effect* taken;
};
std::vector<FreeTime> free_times(std::span<const sim::Effect> effects, const LockObjects& locks,
                                 const WakeupQuestion& question);

/// Requires: instants are true times; `locks` are those of the history.
Finding no_lost_wakeup(const sim::History& history, const Names& names, const WakeupQuestion& question,
                       const LockObjects& locks);
Finding no_lost_wakeup(const sim::History& history, const Names& names, const WakeupQuestion& question);

}  // namespace lockstep::checker
