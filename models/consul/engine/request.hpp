#pragma once

// What a client asks of Consul, and what it is told: typed, with the names of Consul's HTTP API (/v1/kv, /v1/session).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::models::consul {

/// Of the Raft log: each request that goes through the log takes one, also one that changes nothing.
using Index = std::int64_t;
using SessionId = std::int64_t;  ///< a UUID in Consul; 0: none

struct KeyValue {
  std::string key;
  std::string value = {};
  std::uint64_t flags = 0;
  Index create_index = 0;  ///< of the write since which it has been there
  Index modify_index = 0;  ///< of the latest write that changed anything
  /// How often it was acquired, since it was created or written without a session.
  Index lock_index = 0;
  SessionId session = 0;  ///< that has acquired it
  bool operator==(const KeyValue&) const = default;
};

/// PUT /v1/kv/KEY
struct Write {
  enum class How : std::uint8_t { set, cas, acquire, release };
  std::string key;
  std::string value = {};
  std::uint64_t flags = 0;
  How how = How::set;
  Index index = 0;        ///< of cas: the key's ModifyIndex; 0: it is not there
  SessionId session = 0;  ///< of acquire and release
};

/// DELETE /v1/kv/KEY
struct Delete {
  enum class How : std::uint8_t { key, cas, recurse };
  std::string key;  ///< of recurse: what the keys begin with
  How how = How::key;
  Index index = 0;  ///< of cas
};

/// What becomes of the keys that a session has acquired when it ends. In Consul's words "release" and "delete".
enum class Behavior : std::uint8_t { releases, deletes };

/// PUT /v1/session/create, and what is told of it.
struct Session {
  SessionId id = 0;
  sim::Duration ttl = {};  ///< zero: it does not end by time
  sim::Duration lock_delay = sim::Duration::seconds(15);
  Behavior behavior = Behavior::releases;
  std::vector<std::string> checks = {};  ///< of health: it ends when one of them is critical or deregistered
  Index create_index = 0;
  bool operator==(const Session&) const = default;
};

/// A health check of the node is registered, or changes its status.
struct CheckUpdate {
  enum class Status : std::uint8_t { passing, critical, deregistered };
  std::string check;
  Status status = Status::passing;
};

enum class Consistency : std::uint8_t { standard, consistent, stale };

/// GET /v1/kv/KEY, also with ?recurse and ?keys; /v1/session/info, /v1/session/list.
struct Query {
  enum class What : std::uint8_t { key, recurse, keys, session_info, session_list };
  What what = What::key;
  std::string key = {};        ///< or what the keys begin with
  std::string separator = {};  ///< of ?keys: a key counts only up to the first one after the prefix
  SessionId session = 0;       ///< of session_info
  /// 0: it is answered at once. Else when the result has a greater index: a blocking query.
  Index index = 0;
  sim::Duration wait = {};  ///< a blocking query waits no longer; zero: `kStandardWait`
  Consistency consistency = Consistency::standard;
};

// Figures of Consul's sources: agent/structs, lib, api.
inline constexpr sim::Duration kStandardWait = sim::Duration::seconds(300);
inline constexpr sim::Duration kLongestWait = sim::Duration::seconds(600);
/// A blocking query waits up to a sixteenth longer, so that those which began together do not end together.
inline constexpr std::int64_t kJitterFraction = 16;
/// How long a blocking query waits, with that jitter.
sim::DurationRange wait_of(const Query& query);
inline constexpr sim::Duration kLongestLockDelay = sim::Duration::seconds(60);
inline constexpr sim::Duration kLongestTtl = sim::Duration::seconds(24 * 3600);
/// The server ends a session when it has not been renewed for twice its TTL.
inline constexpr std::int64_t kTtlMultiplier = 2;

enum class Error : std::uint8_t {
  none,
  missing_key,
  missing_session,  ///< of acquire and release
  invalid_session,  ///< acquire: there is no such session
  unknown_session,  ///< renew: there is no such session
  missing_check,
  critical_check,
  invalid_ttl,
  no_path_to_datacenter,
  // Of a cluster. With the first three nothing was done; with the last one nobody knows.
  no_leader,
  not_leader,  ///< a consistent query: its server does not lead any more
  refused,     ///< the leader that its server knows is not there any more
  leadership_lost
};
/// "No path to datacenter"
std::string_view to_string(Error error);

/// What is not asked for is empty.
struct Answer {
  Error error = Error::none;
  bool ok = false;  ///< of a write: true, as cas, acquire and release say it; of renew: it is renewed
  Index index = 0;  ///< of a query: X-Consul-Index
  std::vector<KeyValue> kvs = {};
  std::vector<std::string> keys = {};
  std::vector<Session> sessions = {};
  bool operator==(const Answer&) const = default;
};

// For people: "PUT lock acquire=1".

std::string_view name_of(const Write& write);
std::string_view name_of(const Delete& asked);
std::string_view name_of(const Query& query);
std::string describe(const KeyValue& kv);
std::string describe(const Session& session);
std::string describe(const Write& write);
std::string describe(const Delete& asked);
std::string describe(const CheckUpdate& update);
std::string describe(const Query& query);
std::string describe(const Answer& answer);

}  // namespace lockstep::models::consul
