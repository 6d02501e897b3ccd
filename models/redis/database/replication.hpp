#pragma once

// What a server knows of replication: its role, its history's identity, the end of its stream that it remembers, and
// its replicas. How the stream travels is `Node`'s business.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/data/ids.hpp"
#include "models/redis/wire/command.hpp"
#include "sim/time/clock.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::models::redis {

/// How a server is called by REPLICAOF, ROLE and INFO: the host is the name of its process, and all listen on 6379.
struct Address {
  std::string host;
  std::int64_t port = 6379;
  bool operator==(const Address&) const = default;
};

/// One effect, and on whose behalf it came to be: checkers ask that of a replica's keys as of a primary's.
struct Effect {
  Command command;
  DatabaseId database = 0;
  bool is_expiry = false;  ///< a DEL of a key whose time was over
  sim::ProcessId by;
  sim::OperationId operation = 0;
};

/// What one request made of the stream: applied as a whole, or not at all.
struct StreamPart {
  std::int64_t begin = 0;  ///< offset of the stream before it
  std::int64_t end = 0;    ///< and after it; in bytes, as Redis sends them
  std::vector<Effect> effects;
  bool asks_for_ack = false;  ///< REPLCONF GETACK
};

/// A replica, as its primary knows it.
struct Replica {
  enum class State : std::uint8_t {
    waits,  ///< for a snapshot
    online  ///< gets the stream
  };
  SessionId session = 0;
  Address address;
  State state = State::online;
  std::int64_t acknowledged = 0;  ///< offset
  sim::Instant heard;             ///< when it acknowledged last, by the primary's wall clock
};

/// As ROLE of a replica calls the state of its link.
enum class LinkState : std::uint8_t {
  connect,     ///< there is none; it will be tried again when the primary can be reached
  connecting,  ///< PSYNC has been sent
  sync,        ///< a snapshot is on its way
  connected
};
std::string_view to_string(LinkState state);

class Replication {
 public:
  Replication() { restart(std::nullopt, 0); }

  /// The identity of the histories that a server begins derives from its name.
  void set_name(std::string name);
  const std::string& name() const { return name_; }

  /// Whether replicas acknowledge every second without being asked. Only then does it say something how long a replica
  /// has been silent; without, whoever is connected counts as heard of. Never in an exploration, which would not end.
  bool has_periodic_acks() const { return has_periodic_acks_; }
  void set_periodic_acks(bool on) { has_periodic_acks_ = on; }

  // --- Role.

  bool is_replica() const { return primary_.has_value(); }
  const std::optional<Address>& primary() const { return primary_; }
  LinkState link() const { return link_; }
  void set_link(LinkState state) { link_ = state; }
  /// Since when there has been no link; means something to a replica whose link is not `connected`.
  sim::Instant down_since() const { return down_since_; }
  void set_down_since(sim::Instant moment) { down_since_ = moment; }
  sim::Instant heard_of_primary() const { return heard_of_primary_; }
  void set_heard_of_primary(sim::Instant moment) { heard_of_primary_ = moment; }
  /// REPLICAOF host port: keeps its history, in the hope that the new primary shares it.
  void follow(Address primary);
  /// REPLICAOF NO ONE: a new history begins, which goes on from the old one.
  void lead();

  /// Of FAILOVER, as INFO calls it.
  enum class Failover : std::uint8_t { none, waits_for_sync, in_progress };
  Failover failover() const { return failover_; }
  void set_failover(Failover state) { failover_ = state; }

  // --- History.

  const std::string& id() const { return id_; }
  const std::string& second_id() const { return second_id_; }
  std::int64_t second_offset() const { return second_offset_; }
  std::int64_t offset() const { return offset_; }
  /// As a snapshot, or a partial resync that names another identity, says it.
  void adopt(const std::string& id, std::int64_t offset);
  void continue_as(const std::string& id);
  /// What a primary makes of the snapshot that it was started from.
  void continue_after_restart(const std::string& id, std::int64_t offset);

  // --- Stream.

  /// Whether what happens goes into the stream: somebody follows, or has followed and may come back.
  bool is_recording() const { return has_backlog_; }
  void begin_recording();
  /// Appends what one request did. Null: nothing was appended.
  std::shared_ptr<const StreamPart> append(std::vector<Effect> effects);
  std::shared_ptr<const StreamPart> append_ack_request();
  /// Of a replica: what its primary sent. Requires: it begins at `offset`.
  void append_received(std::shared_ptr<const StreamPart> part);

  /// Whether one who has that history up to that offset can go on from it; then what it misses.
  bool can_continue(std::string_view id, std::int64_t offset) const;
  std::vector<std::shared_ptr<const StreamPart>> since(std::int64_t offset) const;
  /// The next effect says anew which database it concerns, as after every full resync.
  void forget_selected_database() { selected_database_.reset(); }

  std::int64_t backlog_size() const { return backlog_size_; }
  void set_backlog_size(std::int64_t bytes);
  std::int64_t backlog_begin() const { return backlog_.empty() ? offset_ : backlog_.front()->begin; }

  // --- Replicas.

  std::vector<Replica>& replicas() { return replicas_; }
  const std::vector<Replica>& replicas() const { return replicas_; }
  Replica* replica(SessionId session);
  void forget_replica(SessionId session);
  /// How many replicas have acknowledged this offset.
  std::int64_t acknowledged_by(std::int64_t offset) const;
  /// How many were heard of within `lag`.
  std::int64_t good_replicas(const sim::Clock& clock, sim::Duration lag) const;

  /// As newly started: a primary of an empty history, or a replica that has not connected yet. `life`: ordinal of
  /// start it is, so that no two histories have the same identity.
  void restart(std::optional<Address> primary, std::uint64_t life);
  /// As if both had been started long ago and all had been said.
  void begin_in_sync_with(const std::string& primary_name);

 private:
  std::string new_id();
  std::shared_ptr<const StreamPart> append(StreamPart part, std::int64_t bytes);
  void trim();

  std::string name_;
  std::optional<Address> primary_;
  LinkState link_ = LinkState::connect;
  sim::Instant down_since_;
  sim::Instant heard_of_primary_;

  Failover failover_ = Failover::none;

  std::string id_;
  std::string second_id_;
  std::int64_t second_offset_ = -1;
  std::int64_t offset_ = 0;
  std::uint64_t life_ = 0;
  std::uint64_t histories_ = 0;  ///< begun in this life
  bool has_periodic_acks_ = false;

  bool has_backlog_ = false;
  std::optional<DatabaseId> selected_database_;  ///< by the effect before
  std::int64_t backlog_size_ = 1024 * 1024;
  std::deque<std::shared_ptr<const StreamPart>> backlog_;

  std::vector<Replica> replicas_;
};

/// How many bytes Redis sends for it. A symbolic timestamp counts as the 13 digits that milliseconds have in our time.
std::int64_t stream_bytes(const Command& command);

}  // namespace lockstep::models::redis
