#pragma once

// Names of events for people: "A.SET#2@redis1", "A.SET#2@redis1 reply", "A work#1". The names of a schedule.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/worlds/fault_kinds.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::sim {

/// Which process does what, and its ordinal. Ordinals count what the process set out to do, from 1: also a request that
/// was lost, and a sleep that was called off.
struct EventName {
  enum class What : std::uint8_t {
    request,  ///< of `process`, arriving at `server`
    reply,    ///< to that request
    reset,    ///< the connection of that request is gone: it will never be answered
    timeout,  ///< of that request
    start,
    work,
    sleep,
    deadline,  ///< of something that it waited for: a message, a primary; a server: a push, an acknowledgement
    tick,      ///< of something that repeats for ever
    fault      ///< this and what follows, one for each kind of the table: a planned one that strikes at a given time
  };
  What what = What::request;
  ProcessId process;  ///< for the first four the client
  std::string step;   ///< for the first four the name of the request: "SET"
  ProcessId server;   ///< for the first four the receiver of the request
  std::int64_t occurrence = 1;
  std::int64_t occurrence_at_server = 1;  ///< for the first four: among those to that server

  /// Whether its name has a `step`.
  static constexpr bool is_of_request(What what) { return what <= What::timeout; }
  static constexpr What of(FaultKind kind) {
    return static_cast<What>(static_cast<std::size_t>(What::fault) + static_cast<std::size_t>(kind));
  }
  static constexpr bool is_fault(What what) { return what >= What::fault; }
  /// Requires: it is a fault.
  static constexpr FaultKind fault_of(What what) {
    return static_cast<FaultKind>(static_cast<std::size_t>(what) - static_cast<std::size_t>(What::fault));
  }
};

/// "reply", "start", …; nothing for a request, which is called by its step alone.
std::string_view to_string(EventName::What what);

}  // namespace lockstep::sim
