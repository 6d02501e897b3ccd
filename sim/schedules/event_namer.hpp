#pragma once

// Gives events their names while a world emits them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "sim/schedules/event_name.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::sim {

/// Names events while they are emitted. Requires: told of every message and timer of the world, in order.
class EventNamer {
 public:
  /// Nothing for what has no name: an answer to a request that nobody waits for.
  std::optional<EventName> name(const Event& event);
  /// The world starts over.
  void restart();

 private:
  std::int64_t count(EventName::What what, ProcessId process, const std::string& step, ProcessId server);

  std::map<std::tuple<EventName::What, ProcessId, std::string, ProcessId>, std::int64_t> counts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, EventName> calls_;  ///< by call: its request
  std::map<ProcessId, EventName> latest_;                               ///< by client: the request that it sent last
};

}  // namespace lockstep::sim
