#pragma once

// What a server knows of one connection. All of it dies with the connection, and with the server.

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/redis/data/ids.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::redis {

/// A command that waits for a list or a sorted set to get elements, or (`replicas`) for other servers.
struct Waiting {
  enum class Kind : std::uint8_t { pop_left, pop_right, move, pop_min, pop_max, replicas };
  Kind kind = Kind::pop_left;
  DatabaseId database = 0;
  std::vector<std::string> keys;
  std::optional<std::int64_t> count;  ///< BLMPOP, BZMPOP: how many at most; the others reply otherwise
  std::string destination;            ///< move: the other list
  bool from_left = true;              ///< move: which end gives
  bool to_left = true;                ///< move: which end takes
  std::int64_t replicas = 0;          ///< replicas: how many are wanted
  std::int64_t offset = 0;            ///< replicas: what they are to acknowledge
  std::uint64_t since = 0;            ///< first come, first served
  std::optional<sim::Duration> timeout;
};

/// A key that WATCH named.
struct WatchedKey {
  std::string key;
  DatabaseId database = 0;
  auto operator<=>(const WatchedKey&) const = default;
};

struct Session {
  SessionId id = 0;
  DatabaseId database = 0;              ///< of SELECT
  bool is_open = false;                 ///< something has been sent on it
  std::int64_t client_id = 0;           ///< as CLIENT ID replies; 0 until it is asked for
  std::string name;                     ///< of CLIENT SETNAME
  Protocol protocol = Protocol::resp2;  ///< of HELLO
  bool no_evict = false;  ///< of CLIENT NO-EVICT: shown, and nothing else, since nobody runs out of memory here

  bool in_transaction = false;
  bool is_broken = false;  ///< a command was refused while it queued: EXEC will be too
  bool is_dirty = false;   ///< a watched key has changed
  std::vector<Command> queue;
  std::size_t executing = 0;     ///< commands of the transaction that EXEC is just carrying out
  std::set<WatchedKey> watched;  ///< there may be many

  std::vector<std::string> channels;
  std::vector<std::string> patterns;

  std::int64_t write_offset = 0;  ///< of the replication stream, when its last command was done

  std::optional<Waiting> waiting;
  bool closes = false;  ///< the connection ends after the reply

  /// As a new connection; memory is kept.
  void forget() {
    is_open = false;
    client_id = 0;
    database = 0;
    name.clear();
    protocol = Protocol::resp2;
    in_transaction = is_broken = is_dirty = closes = no_evict = false;
    queue.clear();
    executing = 0;
    watched.clear();
    write_offset = 0;
    channels.clear();
    patterns.clear();
    waiting.reset();
  }
  bool is_subscriber() const { return !channels.empty() || !patterns.empty(); }
  /// In RESP3 a message cannot be taken for a reply, so every command goes on.
  bool takes_subscriptions_alone() const { return is_subscriber() && protocol == Protocol::resp2; }
};

/// What a command made the server send to somebody who did not ask for it just now.
struct Delivery {
  enum class Kind : std::uint8_t {
    reply,    ///< the answer that a blocked command has been waiting for
    message,  ///< of a channel: ["message", channel, payload] or ["pmessage", pattern, channel, payload]
    close     ///< nothing more will come on this connection
  };
  Kind kind = Kind::message;
  SessionId to = 0;
  Reply reply;
  /// Of a message that a command sends to its own connection: how much of its reply the server has written by then.
  /// Depth first, the head of an array counts as one: 0 is before the reply, `kWhole` behind it.
  std::size_t written = 0;
  static constexpr std::size_t kWhole = SIZE_MAX;
};

}  // namespace lockstep::models::redis
