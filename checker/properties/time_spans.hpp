#pragma once

// Stretches of true time, and what is left of one in which a process is not paused. What never ends lasts until
// Duration::forever().

#include <optional>
#include <vector>

#include "sim/time/time.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// [from, to).
struct TimeSpan {
  sim::Duration from;
  sim::Duration to;
  sim::Duration length() const { return to - from; }
};

/// What is left of a span without the pauses of a process: in which it runs. Requires: instants are true times.
std::vector<TimeSpan> running(const sim::History& history, sim::ProcessId process, TimeSpan whole);

/// When something ended in a story that was over at `story_end` (nothing: all of it is the story). What has not
/// happened by then never does: the probe that comes after the story may end it, but did not have to come.
sim::Duration end_or_never(const std::optional<sim::Instant>& at, const std::optional<sim::Instant>& story_end);

}  // namespace lockstep::checker
