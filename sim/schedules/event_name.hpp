#pragma once

// Names of events for people: "A.SET#2@redis1", "A.SET#2@redis1 reply", "A work#1". The names of a schedule.

#include <cstdint>
#include <string>
#include <string_view>

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
    pause,     ///< this and the next: a planned fault that strikes at a given time
    crash,
    jump
  };
  What what = What::request;
  ProcessId process;  ///< for the first four the client
  std::string step;   ///< for the first four the name of the request: "SET"
  ProcessId server;   ///< for the first four the receiver of the request
  std::int64_t occurrence = 1;
  std::int64_t occurrence_at_server = 1;  ///< for the first four: among those to that server

  /// Whether its name has a `step`.
  static constexpr bool is_of_request(What what) { return what <= What::timeout; }
};

/// "reply", "start", …; nothing for a request, which is called by its step alone.
std::string_view to_string(EventName::What what);

}  // namespace lockstep::sim
