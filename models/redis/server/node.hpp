#pragma once

// A Redis server as a process: requests come in, commands are executed one at a time, replies and messages go out; and
// it follows another server, or is followed.
//
// Servers of one world that know each other (`meet`) are called by the names of their processes: `REPLICAOF redis1
// 6379`. The port is 6379 for all of them.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/redis/database/database.hpp"
#include "models/redis/script/script_engine.hpp"
#include "models/redis/server/link.hpp"
#include "models/redis/server/persistence.hpp"
#include "models/redis/server/relay.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/messages.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/worlds/message.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// Handling a command takes no time of its own; a slow server is a latency, or a pause. What a command did to which key
/// goes into the history as effects.
///
/// A connection is one session of the server for as long as neither side dies. That a client died, the server hears
/// when its machine's closing of the connection arrives; until then a BLPOP of the dead takes what is pushed, and it is
/// gone.
///
/// Replication is asynchronous: what a request has done leaves for the replicas when its reply leaves for the client,
/// and a crash loses what has not arrived. A link between two servers is over when one of the processes dies, which the
/// other learns as fast as the network is; a partition only delays what is sent. A replica whose primary cannot be
/// reached tries again when it can: a server that has come up says so to all others.
class Node final : public sim::Process, private KeyWatcher {
 public:
  /// `scripts` may serve all nodes of a world. Requires: it outlives the node.
  explicit Node(ScriptEngine& scripts)
      : database_(scripts), pause_end_(*this), ack_timer_(*this), load_end_(*this), failover_end_(*this) {}

  /// Lets two servers of a world know each other by name. Requires: both were added to it; before anything runs.
  static void meet(Node& a, Node& b, sim::DurationRange latency);
  /// Starts, now and after each restart, as a replica of that server; at first it has all that its primary has, which
  /// is nothing. Requires: they know each other; the primary is none's replica itself.
  void begin_as_replica_of(Node& primary);
  /// How much later than the reply what a request has done leaves for the replicas. A crash takes along what has not
  /// left. Nothing: it leaves at once.
  void set_lag(std::optional<sim::DurationRange> lag) { lag_ = lag; }
  /// How long a primary needs until a snapshot of its keys is on its way.
  void set_snapshot_delay(sim::Duration delay) { snapshot_delay_ = delay; }
  /// What it has on its disk; see `Persistence`.
  void set_persistence(PersistenceSettings settings);
  /// How long a restarted server reads its disk; until then it answers LOADING. Zero: no time.
  void set_loading_time(sim::Duration length) { loading_time_ = length; }
  void set_version(Version version) { database_.set_version(version); }
  /// What CONFIG GET shows of it at first, and what holds after each start.
  void set_configuration(Configuration file) { database_.set_configuration(std::move(file)); }
  /// Lets it acknowledge once a second what it has, as Redis does, while it is a replica; see
  /// `Replication::has_periodic_acks`.
  void set_periodic_acks(bool on) { database_.replication().set_periodic_acks(on); }
  /// Emits what a server does by itself from the beginning. Call before running; without periodic acknowledgements
  /// there is nothing.
  void begin();

  void start() override;
  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void notified(sim::Message& message, sim::ConnectionId connection) override;
  void returned(sim::Message& message, sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool describes_accesses() const override { return true; }
  /// Of a server without others, data commands and scripts, unless somebody may tell it to wait.
  bool answers_at_once(const sim::Message& request) const override;
  /// CLIENT PAUSE keeps back whatever comes.
  bool may_keep_waiting() const override { return expects_anything_; }
  /// Clients may send it whatever they like, CLIENT PAUSE included. Before anything runs.
  /// See `Database::set_tells_of_clients`.
  void tell_of_clients() { database_.set_tells_of_clients(true); }
  void expect_anything() { expects_anything_ = true; }
  bool is_service() const override { return true; }

  /// From now on what it answers is what `relay` says. Requires: it outlives the last event.
  void set_relay(Relay& relay) { relay_ = &relay; }
  /// The relay has got an answer for a client that is kept waiting, or a message for a subscriber. Call in an event, or
  /// between two.
  void pass_on(sim::ConnectionId connection, Reply content);

  /// See `Database::set_script_memory`.
  void set_script_memory(ScriptMemory* memory) { database_.set_script_memory(memory); }
  const Database& database() const { return database_; }

 private:
  /// A request whose reply is still to come.
  struct Pending final : sim::TimerOwner {
    Pending(Node& n, sim::ConnectionId c, const Request& r) : node(n), connection(c), request(r) {}
    void timer_fired() override { node.time_out(*this); }
    Node& node;
    sim::ConnectionId connection;
    Request request;
    sim::TimerRef timer;
  };
  struct PauseEnd final : sim::TimerOwner {
    explicit PauseEnd(Node& n) : node(n) {}
    void timer_fired() override { node.release_held(); }
    Node& node;
  };

  /// Another server, with a connection for either direction of following.
  struct Peer {
    std::string host;
    sim::ConnectionId to;    ///< here it serves
    sim::ConnectionId from;  ///< here it is served
  };
  struct AckTimer final : sim::TimerOwner {
    explicit AckTimer(Node& n) : node(n) {}
    void timer_fired() override { node.acknowledge_periodically(); }
    Node& node;
    sim::TimerRef timer;
  };
  /// A full resync that waits for its snapshot.
  struct Snapshot final : sim::TimerOwner {
    Snapshot(Node& n, SessionId s, std::uint64_t link) : node(n), session(s), number(link) {}
    void timer_fired() override { node.send_snapshot(*this); }
    Node& node;
    SessionId session;
    std::uint64_t number;
  };

  /// A key with a deadline, where somebody hears of its end: a real server looks for such keys ten times a second.
  struct KeyEnd final : sim::TimerOwner {
    KeyEnd(Node& n, DatabaseId d, std::string k, sim::Instant i) : node(n), database(d), key(std::move(k)), at(i) {}
    void timer_fired() override { node.end_key(*this); }
    Node& node;
    DatabaseId database;
    std::string key;
    sim::Instant at;
    sim::TimerRef timer;
  };
  /// A part of the stream that waits to be sent.
  struct Lagging final : sim::TimerOwner {
    Lagging(Node& n, std::shared_ptr<const StreamPart> p) : node(n), part(std::move(p)) {}
    void timer_fired() override { node.send_until(*this); }
    Node& node;
    std::shared_ptr<const StreamPart> part;
    sim::TimerRef timer;
  };
  struct LoadEnd final : sim::TimerOwner {
    explicit LoadEnd(Node& n) : node(n) {}
    void timer_fired() override { node.finish_loading(); }
    Node& node;
  };
  struct FailoverEnd final : sim::TimerOwner {
    explicit FailoverEnd(Node& n) : node(n) {}
    void timer_fired() override { node.failover_timed_out(); }
    Node& node;
    sim::TimerRef timer;
  };

  void key_accessed(std::uint64_t key, bool changes) override { world().access(key, changes); }
  bool is_held_back(const Request& request);
  void handle(const Request& request, sim::ConnectionId connection);
  void give_what_was_asked();
  void record_effects(sim::OperationId operation);
  void send_deliveries();
  std::optional<Reply> relayed(const Request& request, sim::ConnectionId connection, std::optional<Reply> answer);
  void block(const Request& request, sim::ConnectionId connection);
  void time_out(const Pending& blocked);
  void reply(const Request& request, sim::ConnectionId connection, Reply&& reply);
  void end_session(sim::ConnectionId connection);
  void release_held();
  void forget_connections();
  std::unique_ptr<Pending> take_blocked(sim::ConnectionId connection);

  // node_replication.cpp
  void settle();
  const Peer* peer_named(std::string_view host) const;
  const Peer* peer_served_on(sim::ConnectionId connection) const;
  void propagate(const Request& request, sim::ConnectionId connection);
  std::vector<Effect> effects_of(const Request& request, sim::ConnectionId connection) const;
  void send_part(const std::shared_ptr<const StreamPart>& part);
  void send_to_all(const std::shared_ptr<const StreamPart>& part);
  void send_until(const Lagging& last);
  void send_part(const Replica& replica, const std::shared_ptr<const StreamPart>& part);
  void receive_from_replica(const LinkMessage& message, const Peer& peer);
  Replica& add_replica(const Peer& peer, std::uint64_t number, Replica::State state);
  void serve_replica(const LinkMessage& psync, const Peer& peer);
  void send_snapshot(const Snapshot& snapshot);
  void close_replicas();
  void refuse(const Peer& peer, const LinkMessage& psync);
  void say(sim::ConnectionId replica, LinkMessage::Kind kind, std::uint64_t number);
  void carry_out(Database::Intent intent);
  void leave_primary();
  void connect_to_primary();
  void lose_link();
  void become_connected();
  void apply(const std::shared_ptr<const StreamPart>& part);
  void acknowledge(std::int64_t offset);
  void acknowledge_later();
  void acknowledge_periodically();
  void say_reachable();
  void take_leave();
  void finish_loading();
  void serve_others();

  // node_expiry.cpp
  void await_key_ends();
  void await_key_end(const Entry& entry, DatabaseId database);
  void end_key(const KeyEnd& end);

  // node_failover.cpp
  void begin_failover();
  void look_for_synced_replica();
  void hand_over(const Address& successor);
  void end_failover();
  void abort_failover();
  void failover_timed_out();

  // node_persistence.cpp
  void look_at_save_points();
  void note_on_disk();
  void restart(bool keep);
  void restart_from_disk();
  void record_losses();

  Database database_;
  Relay* relay_ = nullptr;  ///< null: it answers for itself
  std::vector<std::unique_ptr<Pending>> blocked_;
  std::vector<std::unique_ptr<Pending>> held_;  ///< by CLIENT PAUSE, in order of arrival
  PauseEnd pause_end_;
  std::vector<std::unique_ptr<KeyEnd>> key_ends_;
  bool awaits_key_ends_ = false;

  std::optional<sim::DurationRange> lag_;
  std::vector<std::unique_ptr<Lagging>> lagging_;  ///< in the order of the stream

  std::vector<Peer> peers_;
  std::string first_primary_;                  ///< whom it follows when the world begins
  std::optional<Address> configured_primary_;  ///< and whenever it starts: what its configuration file says
  std::vector<std::string> first_replicas_;    ///< who follows it when the world begins
  std::uint64_t lives_ = 0;
  std::string link_host_;                    ///< of the present link to a primary; empty: there is none
  std::uint64_t link_number_ = 0;            ///< of the present link to a primary, or the last
  std::vector<std::uint64_t> link_numbers_;  ///< of the replicas' present links, by session
  bool has_refused_ = false;                 ///< somebody wants to follow, and has been told to wait
  sim::Duration snapshot_delay_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;
  AckTimer ack_timer_;
  Persistence persistence_;
  bool is_persistent_ = false;
  Keyspace keys_before_;  ///< what was there before a crash or another server's keys; here so that its memory is kept
  sim::Duration loading_time_;
  LoadEnd load_end_;
  FailoverEnd failover_end_;
  std::int64_t failover_offset_ = 0;  ///< what the successor must have acknowledged
  bool expects_anything_ = false;
};

}  // namespace lockstep::models::redis
