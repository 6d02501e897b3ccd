#pragma once

// What happened, for people: one record for each executed event. Written only on request.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/coroutines/code_place.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::sim {

enum class EventKind : std::uint8_t { start, message, timer, fault };

struct TraceRecord {
  Step step = no_step;
  EventId id;
  Step cause = no_step;  ///< the step whose handling emitted it
  EventKind kind = EventKind::start;
  ProcessId process;  ///< where it was handled
  ProcessId from;     ///< message: who sent it
  Instant sent;       ///< true time at which it left (message) or was set (timer)
  Instant at;         ///< true time at which it was handled
  Instant local;      ///< the same moment on the process's own wall clock
  std::string name;   ///< message: "SETNX"; timer: "work", "sleep", "timeout"; fault: "pause", "crash", …
  std::string text;   ///< all of it: "SETNX lock 260" or "(integer) 0"
  bool is_reply = false;
  bool lost = false;  ///< a message that never arrives: `at` is when it would have
  /// Of a program's request and of its answer: where the program waits for the answer, and whoever waits for it,
  /// innermost first.
  std::vector<CodePlace> code;
};

struct Trace {
  std::vector<TraceRecord> records;
};

}  // namespace lockstep::sim
