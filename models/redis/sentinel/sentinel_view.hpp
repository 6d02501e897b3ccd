#pragma once

// What one sentinel is told when it starts, and what it knows of the others. Times are readings of its own wall clock.

#include <cstdint>
#include <optional>
#include <string>

#include "models/redis/sentinel/sentinel_rules.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// With the defaults of redis-sentinel 7.0. `quorum` to `parallel_syncs` are the options of its configuration file; the
/// periods are those that SENTINEL DEBUG shows.
struct SentinelSettings {
  std::string primary_name = "mymaster";  ///< what clients ask for
  std::size_t quorum = 1;                 ///< how many must find the primary down
  sim::Duration down_after = sim::Duration::seconds(30);
  sim::Duration failover_timeout = sim::Duration::seconds(180);
  std::int64_t parallel_syncs = 1;  ///< replicas that are turned to the new primary at the same time

  sim::Duration info_period = sim::Duration::seconds(10);
  sim::Duration fast_info_period = sim::Duration::seconds(1);  ///< of replicas while the primary is down
  sim::Duration ping_period = sim::Duration::seconds(1);
  sim::Duration ask_period = sim::Duration::seconds(1);
  sim::Duration publish_period = sim::Duration::seconds(2);
  sim::Duration tilt_trigger = sim::Duration::seconds(2);
  sim::Duration tilt_period = sim::Duration::seconds(30);
  sim::Duration election_timeout = sim::Duration::seconds(10);
  sim::Duration reconfiguration_timeout = sim::Duration::seconds(10);
  sim::Duration desync_max = sim::Duration::seconds(1);

  /// From one look at everything to the next: the real one draws 10 to 19 looks per second, anew each time.
  sim::DurationRange tick = {sim::Duration::microseconds(52'632), sim::Duration::milliseconds(100)};
  /// It takes so many looks and then no more. Without a bound its world never comes to rest, and cannot be explored.
  std::optional<std::int64_t> rounds;
};

/// The connection for requests, as the sentinel sees it.
struct SentinelLink {
  sim::ConnectionId requests;
  bool is_connected = false;
  std::optional<sim::Instant> reconnected;  ///< last attempt
  std::optional<sim::Instant> unanswered;   ///< the first ping since the last valid answer
  std::optional<sim::Instant> pinged;       ///< last ping
  std::optional<sim::Instant> answered;     ///< last answer to a ping, valid or not
  std::optional<sim::Instant> available;    ///< last valid answer
  std::optional<sim::Instant> published;    ///< last hello
};

/// Whether something looks dead from here ("subjectively down"), and since when.
struct Suspicion {
  bool is_down = false;
  std::optional<sim::Instant> since;
};

/// A Redis server: the primary or one of its replicas.
struct MonitoredNode {
  enum class Role : std::uint8_t { primary, replica };
  enum class Reconfiguration : std::uint8_t { none, sent, in_progress, done };

  std::string name;  ///< its host
  sim::ConnectionId messages;
  SentinelLink link;
  std::optional<sim::Instant> heard;  ///< last message of a channel
  bool is_known = false;
  Suspicion suspicion;

  // As INFO said last.
  std::optional<sim::Instant> informed;
  std::optional<sim::Instant> info_asked;
  Role role = Role::replica;
  std::optional<sim::Instant> role_since;
  std::string run_id;
  std::int64_t priority = 100;
  std::int64_t offset = 0;
  std::string follows;  ///< host of its primary
  std::optional<sim::Instant> follows_since;
  bool is_linked = false;      ///< to its primary
  sim::Duration unlinked_for;  ///< if it is not

  Reconfiguration reconfiguration = Reconfiguration::none;
  std::optional<sim::Instant> reconfiguration_sent;
};

/// Another sentinel.
struct PeerSentinel {
  std::string name;  ///< its host, and its id
  SentinelLink link;
  bool is_known = false;
  Suspicion suspicion;
  std::optional<sim::Instant> greeted;     ///< its last hello
  std::optional<sim::Instant> asked_back;  ///< its last answer to "is the primary down?"
  bool says_down = false;
  std::optional<Vote> vote;
};

}  // namespace lockstep::models::redis
