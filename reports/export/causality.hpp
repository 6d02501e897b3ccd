#pragma once

// What of a run could have influenced what: the events of its processes and Lamport's happens-before between them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// What a process did, or what befell it.
struct CausalEvent {
  enum class Kind : std::uint8_t {
    step,       ///< it handled a message, a timer, its start
    operation,  ///< an operation of its program began or ended
    send,       ///< a message left, or would have if it had not been lost
    fault       ///< a pause, a crash, a jump of its clock
  };
  Kind kind = Kind::step;
  sim::ProcessId process;  ///< never a part of one: its threads share what it knows
  sim::Step step = sim::no_step;
  sim::Instant at;
  std::string text;          ///< printable; names the thread, not the process
  bool is_evidence = false;  ///< of a property that broke
};

struct CausalEdge {
  std::size_t from = 0, to = 0;  ///< of `events`
  bool is_message = false;       ///< else: the next event of the same process
  std::string name;              ///< of the message, printable: "SETNX"
};

struct Causality {
  std::vector<CausalEvent> events;  ///< causes come before their effects
  std::vector<CausalEdge> edges;    ///< happens-before is their transitive closure
};

/// The first step that belongs to its story no more: where the probe comes or, if `recoverable` is violated, after its
/// first attempt, since it tries again and again. `no_step`: all of them do.
sim::Step end_of_story(const scenarios::Outcome& outcome);

/// Requires: a trace.
Causality causality_of(const Story& story);

}  // namespace lockstep::reports
