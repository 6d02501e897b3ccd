#pragma once

// Redis Sentinel as a scenario file tells it: who watches the primary of a story.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/servers/server_kind.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::redis {

/// One of those who watch the primary. Named "sentinel1" …, unless the file names them.
struct SentinelSpec {
  std::string name;
  ClockSpec clock;
  std::optional<sim::DurationRange> latency;  ///< to and from this sentinel, instead of the network's
  bool operator==(const SentinelSpec&) const = default;
};

/// All of them watch one primary under the same settings.
struct SentinelsSpec final : ServerCompany {
  std::string primary;      ///< name of a server
  std::int64_t quorum = 0;  ///< 0, while a file is being read: a majority
  sim::Duration down_after = sim::Duration::seconds(30);
  sim::Duration failover_timeout = sim::Duration::seconds(180);
  std::int64_t parallel_syncs = 1;
  std::optional<std::int64_t> rounds;  ///< how often each looks at the others; nothing: for ever
  /// One process that never fails stands for all of them: a `Promoter`. Then of the others only `primary`, `down_after`
  /// and its name count.
  bool is_abstract = false;
  std::vector<SentinelSpec> each;
  bool operator==(const SentinelsSpec&) const = default;
};

}  // namespace lockstep::models::redis
