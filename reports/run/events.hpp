#pragma once

// What of an execution is worth a row: not every event, but every moment at which somebody learns, believes, changes
// or loses something. One row for each command when its server handles it, with what it answered; the way back gets a
// row of its own only if it brings news or comes late.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/run/verdicts.hpp"
#include "reports/text/line.hpp"

namespace lockstep::reports {

/// A message between two lanes.
struct Arrow {
  enum class Fate : std::uint8_t {
    arrives,
    leaves,  ///< arrives much later, in a row of its own
    lost
  };
  sim::ProcessId from;
  sim::ProcessId to;
  Fate fate = Fate::arrives;
};

struct Event {
  sim::Instant at;
  sim::Step step = 0;
  bool is_fault = false;  ///< comes after all else of its step
  sim::ProcessId who;     ///< whose doing it is; invalid for the network's
  std::optional<Arrow> arrow;
  std::string text;              ///< printable, without the name of `who`
  std::size_t command_size = 0;  ///< the first bytes of the text: a command, whose middle may be left out
  Ink ink = Ink::plain;
  /// The attempt that it belongs to, if it is one of a failed attempt's commands; and what makes two attempts alike.
  sim::OperationId attempt = 0;
  std::string shape;
};

/// In order of time. Without the probe's part, unless `recoverable` is violated. Requires: a trace.
std::vector<Event> events_of(const Story& story);

/// A client that polls does the same again and again, and so does a watchdog: of three or more attempts in a row that
/// are alike, or commands with the same answer, the first one stays, and one row says how often it was repeated. What
/// proves a violation stays, too.
void fold_repetitions(std::vector<Event>& events, const Story& story);

/// Whether the probe's part of the run belongs to the story.
bool shows_probe(const scenarios::Outcome& outcome);

}  // namespace lockstep::reports
