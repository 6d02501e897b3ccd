#pragma once

// A server as a scenario file tells it: what is common to all kinds, and the settings of its own kind.

#include <cstdint>
#include <optional>
#include <string>

#include "models/servers/kinds.hpp"
#include "models/servers/settings.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models {

/// A process's clocks: `offset` moves the wall clock only, `drift` (parts per million) speeds up both, and `uptime` is
/// what the monotonic clock shows when the story begins.
struct ClockSpec {
  sim::Duration offset;
  std::int64_t drift_ppm = 0;
  sim::Duration uptime;
  bool operator==(const ClockSpec&) const = default;
};

/// A lock server. Named as its kind if there is one, "redis1" … "redisN" if there are more, unless the file names them.
struct ServerSpec {
  std::string name;
  ClockSpec clock;
  std::optional<sim::DurationRange> latency;  ///< to and from this server, instead of the network's
  sim::Duration restart_delay;                ///< what a restart is put off by
  const ServerKind* kind = &standard_server_kind();
  Settings settings;  ///< of its kind
  bool operator==(const ServerSpec&) const = default;
};

}  // namespace lockstep::models
