#pragma once

// A Redis server: keys, script cache, what it knows of each connection, and the execution of one command after the
// other. How requests and replies travel is `Node`'s business. Start here.

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/data/keyspace.hpp"
#include "models/redis/database/call.hpp"
#include "models/redis/database/configuration.hpp"
#include "models/redis/database/replication.hpp"
#include "models/redis/database/session.hpp"
#include "models/redis/database/version.hpp"
#include "models/redis/script/script_engine.hpp"
#include "models/redis/script/script_memory.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/command_spec.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/time/clock.hpp"

namespace lockstep::models::redis {

struct Notification;

/// Behaves as a single redis-server 7.0.15 with its sixteen databases does, command by command, and has what `Version`
/// says of later ones. Differences that are known and meant: docs/evidence/redis-fidelity.md.
class Database final : private ScriptHost {
 public:
  /// Requires: `scripts` outlives the database. It may serve many databases, one at a time.
  explicit Database(ScriptEngine& scripts) : scripts_(&scripts) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Executes one request of a connection at the present moment of `server_clock`. Nothing: the command blocks, and its
  /// reply comes as a delivery of some later request, of `time_out` or of `close`.
  /// Requires: the command is not empty; the connection does not wait for a reply.
  std::optional<Reply> execute(SessionId session, const Command& command, const sim::Clock& server_clock);
  /// For a caller with one connection. A command that would block replies as it does when its time is out.
  Reply execute(const Command& command, const sim::Clock& server_clock);
  /// The time of a blocked command is out: its reply is among the deliveries.
  void time_out(SessionId session);
  /// A connection is gone, and with it its transaction, watches, subscriptions and waiting.
  void close(SessionId session);

  /// What the last `execute`, `time_out` or `close` did to which keys, in that order. Calls of a script are listed one
  /// after the other. Valid until the next call.
  std::span<const KeyChange> changes() const { return keys_.changes(); }
  /// To which parts of them, by change.
  std::span<const PartChange> parts() const { return keys_.parts(); }
  /// What it made the server send besides its own reply, in order. Valid until the next call.
  std::span<const Delivery> deliveries() const { return deliveries_; }
  /// Whether the last `execute` may have depended on, or changed, something besides the keys in `changes()` and the
  /// state of its own connection: all keys (FLUSHALL), the script cache, subscriptions, other connections, the
  /// configuration. Such a command is ordered with every other command of its server.
  bool touched_more_than_keys() const { return touched_more_than_keys_; }
  /// Whether it may have depended on which keys there are, or on what the server knows of other connections. A watcher
  /// hears of neither.
  bool touched_every_key() const { return touched_every_key_; }

  /// Whether the last `execute`, `time_out` or `close` may have asked for anything besides changes, effects and its
  /// reply. If not: there are no deliveries, intents, stall or new pause, it touched no more than keys, and closed no
  /// connection.
  bool asked_for_more() const { return asked_for_more_; }

  /// Whether the last `execute` ended its own connection, once its reply is sent: QUIT.
  bool closed_its_connection() const { return closed_its_connection_; }
  bool is_blocked(SessionId session) const;
  /// Of a blocked command: how long it waits at most; nothing: for ever.
  std::optional<sim::Duration> patience(SessionId session) const;
  /// Whether CLIENT PAUSE holds this command back at the present moment.
  bool is_held_back(const Command& command, const sim::Clock& server_clock);

  /// How long the pause lasts that the last `execute` has begun.
  std::optional<sim::Duration> new_pause() const { return new_pause_; }
  bool is_paused() const { return pause_.has_value(); }
  /// How long the server stands still because of the last `execute`: DEBUG SLEEP. Its reply comes after that.
  std::optional<sim::Duration> stall() const { return stall_; }

  /// Why a script was stopped, for the user: "script ran for more than 1,000,000 instructions". Stays until `reset`.
  const std::optional<std::string>& limit_hit() const { return limit_hit_; }
  /// Which script that was, as 40 hexadecimal digits; empty: none.
  std::string_view stopped_script() const { return stopped_script_ ? scripts_->sha1(*stopped_script_) : ""; }
  /// Whether the last `execute` came to something that this model cannot do: its reply means nothing then.
  bool has_given_up() const { return has_given_up_; }
  /// Notes that, as `limit_hit`, and gives an error to reply with.
  Reply give_up(std::string why);

  /// As newly started and empty. Memory and compiled scripts are kept.
  void reset();
  /// A restart of the server process that finds its keys again: script cache, connections and configuration are gone.
  void restart_with_keys();
  /// A restart that lost everything, in the same run: unlike `reset` it keeps `limit_hit`.
  void restart_empty();

  /// Script runs that were seen before need no interpreter. Null: each is run. Requires: the memory outlives the
  /// database.
  void set_script_memory(ScriptMemory* memory) { script_memory_ = memory; }
  /// See `Keyspace::set_watcher`.
  void set_watcher(KeyWatcher* watcher) { keys_.set_watcher(watcher); }

  const Keyspace& keys() const { return keys_; }
  /// Whether somebody may hear of a key's end when it comes, and not when somebody comes upon the key. A replica's keys
  /// end when its primary says so.
  bool tells_of_expiry() const {
    return configuration_.notified_events().tells_of_expiry() && !replication_.is_replica();
  }
  /// The key's time may be over: if so, it is removed as if a command had come upon it. Requires: not a replica.
  void look_at(std::string_view key, DatabaseId database, const sim::Clock& server_clock);

  /// A server that reads its keys from the disk answers hardly anything.
  void set_loading(bool on) { is_loading_ = on; }
  bool is_loading() const { return is_loading_; }
  void set_held_clients(std::size_t count) { held_clients_ = count; }
  /// Whether INFO without a section has that of the clients. A sentinel asks so, and who else has spoken to the server
  /// is not part of its story.
  void set_tells_of_clients(bool on) { tells_of_clients_ = on; }
  bool tells_of_clients() const { return tells_of_clients_; }
  /// What its configuration file says: what every start begins with.
  void set_configuration(Configuration file) {
    configured_ = std::move(file);
    configuration_ = configured_;
  }

  /// Which server it is, from now on and through every restart.
  void set_version(Version version) { version_ = version; }
  Version version() const { return version_; }
  /// Whether a server of this version has such a command.
  bool has(const CommandSpec& spec) const {
    if ((spec.flags & (kSinceRedis84 | kSinceValkey90)) == 0) [[likely]]
      return true;
    return includes(version_, spec.is(kSinceRedis84) ? Version::redis_8_4 : Version::valkey_9_0);
  }

  // --- Replication.

  Replication& replication() { return replication_; }
  const Replication& replication() const { return replication_; }
  /// What the last `execute` asks its server to do besides: REPLICAOF, and WAIT for acknowledgements.
  enum class Intent : std::uint8_t {
    follow,     ///< its primary has just been set: connect to it
    lead,       ///< it has just become a primary
    ask_acks,   ///< somebody waits until replicas acknowledge
    fail_over,  ///< FAILOVER, as `failover_request` says
    abort_failover,
    close_replicas,  ///< CLIENT KILL TYPE replica
    close_primary,   ///< CLIENT KILL TYPE master
    save,
    rewrite  ///< CONFIG REWRITE: what it is now, it will be after a restart
  };
  struct FailoverRequest {
    std::optional<Address> to;
    std::optional<sim::Duration> timeout;
    bool force = false;
  };
  const FailoverRequest& failover_request() const { return failover_request_; }
  void request_failover(FailoverRequest request) { failover_request_ = std::move(request); }
  /// Writes wait until `resume`, as CLIENT PAUSE WRITE without an end.
  void hold_writes(const sim::Clock& server_clock) { pause_ = {server_clock.now() + sim::Duration::forever(), true}; }
  /// In order: a transaction may ask for several.
  std::span<const Intent> intents() const { return intents_; }
  void intend(Intent intent) {
    asked_for_more_ = true;
    intents_.push_back(intent);
  }
  /// Executes what the primary sent, on the connection to it.
  void apply(SessionId link, const Effect& effect, const sim::Clock& server_clock);
  /// The last `execute` has been added to the stream: WAIT of that connection refers to it.
  void note_write_offset(SessionId session) { this->session(session).write_offset = replication_.offset(); }
  /// A replica has acknowledged something: who waits for that gets its reply, among the deliveries.
  void acknowledged();
  /// The role has changed: whoever waits is told so and disconnected.
  void unblock_all();
  /// Its primary's keys in place of its own.
  void load(const Keyspace& keys) { keys_.load(keys); }
  std::uint64_t digest() const { return keys_.digest(); }

  // --- Replication (and later the append-only file) lives on effects: commands without chance, clocks or scripts in
  // them, which make the same keys of the same keys. The last `execute` noted them if that was asked for.

  void record_effects(bool on) { records_effects_ = on; }
  bool records_effects() const { return records_effects_; }
  std::span<const Effect> effects() const { return effects_; }

  // --- For command handlers.

  /// The script of this text, compiled; or the error.
  std::variant<ScriptId, Reply> compile_script(const Value& text);
  void cache_script(ScriptId script);
  /// A script in this server's cache. Upper and lower case are the same.
  std::optional<ScriptId> cached_script(const Value& sha1) const;
  void forget_scripts();
  bool script_declares_writes(ScriptId script) const { return scripts_->declares_writes(script); }
  /// Why nobody may write now: this is a replica, or has too few.
  std::optional<Reply> write_error() const { return write_error(*clock_); }
  std::string_view sha1_of(ScriptId script) const { return scripts_->sha1(script); }
  Reply run_script(Session& session, ScriptId script, bool may_write, std::span<const Value> keys,
                   std::span<const Value> arguments);

  /// Runs what a transaction has queued.
  Reply run_queue(Session& session);
  void forget_transaction(Session& session);
  void watch(Session& session, std::string_view key);
  void unwatch(Session& session);
  /// Puts the command to sleep until one of its keys has an element.
  void block(Session& session, Waiting waiting);
  /// Whoever waits gets this reply.
  void unblock(Session& session, Reply reply);
  /// Its reply when it has waited for too long.
  Reply reply_of_time_out(const Session& session) const;
  std::size_t blocked_clients() const { return waiting_count_; }
  /// Those that CLIENT PAUSE keeps waiting; INFO counts them as blocked.
  std::size_t held_clients() const { return held_clients_; }
  Session& session(SessionId id);
  std::deque<Session>& sessions() { return sessions_; }
  std::int64_t client_id(Session& session);
  void deliver(Delivery::Kind kind, SessionId to, Reply reply);
  /// These messages, from the first on: see `Delivery::written`.
  void place_deliveries(std::size_t first, std::size_t written);
  void disconnect(Session& session);
  Configuration& configuration() { return configuration_; }
  /// CLIENT PAUSE, from now on.
  void pause(sim::Duration length, bool only_writes) {
    pause_ = {clock_->now() + length, only_writes};
    new_pause_ = length;
    asked_for_more_ = true;
  }
  void resume() { pause_.reset(); }
  void stall(sim::Duration length) {
    stall_ = length;
    asked_for_more_ = true;
  }
  void touches_more_than_keys() { asked_for_more_ = touched_more_than_keys_ = touched_every_key_ = true; }
  /// What the present command really did, in place of itself. Several calls: several commands.
  void replicate_as(Command command);
  /// Tells the subscribers of what a command has just done, in the order in which a real server does. Of a command that
  /// consists of others only what expired before them; those have told of themselves.
  void announce(Call& call, const CommandSpec& spec);
  /// Of keys that the current command found expired.
  void announce_expiries(Call& call);
  /// EXEC's own part: its watched keys may have expired. Its commands note their effects themselves.
  void replicate_expiries();

 private:
  struct Pause {
    sim::Instant until;
    bool only_writes;
  };

  Reply call_from_script(const Command& command, bool may_write) override;
  bool knows_command(const Command& command) const override { return spec_of(command) != nullptr; }
  /// Null: this server does not know it.
  const CommandSpec* spec_of(const Command& command) const {
    const CommandSpec* spec = command.spec();
    return spec != nullptr && has(*spec) ? spec : nullptr;
  }
  sim::World* world() const override { return &clock_->world(); }
  sim::Instant now() const override { return clock_->now(); }

  void begin(SessionId session, const sim::Clock* clock);
  void forget_what_was_asked();
  Reply dispatch(Session& session, const Command& command);
  Reply refuse(Session& session, Reply error) const;
  void place_own_messages(Reply& reply, const Session& session, bool runs_commands, std::size_t first);
  std::optional<Reply> unless_run(Session& session, const CommandSpec& spec, const Command& command);
  std::optional<Reply> refusal(const Session& session, const CommandSpec& spec, const Command& command) const;
  std::optional<Reply> write_error(const sim::Clock& clock) const;
  bool would_write(const Session& session, const CommandSpec& spec) const;
  void tell(const std::vector<Notification>& notifications);
  void expire_named(const CommandSpec& spec, Call& call);
  Reply run(const CommandSpec& spec, Session& session, const Command& command, bool may_block);
  void note_effects(const CommandSpec& spec, const Command& command, std::size_t effects_before);
  void mark_watchers(const Session* except);
  void serve_waiting();
  Session* next_waiting(const std::string& key, DatabaseId database);
  void serve(Session& session, const std::string& key);

  Keyspace keys_;
  Replication replication_;
  std::vector<Intent> intents_;
  ScriptEngine* scripts_;
  ScriptMemory* script_memory_ = nullptr;
  std::vector<ScriptId> cached_;       ///< the script cache, in order of arrival
  std::deque<Session> sessions_;       ///< by id: handlers hold references, so they must not move
  Session* latest_session_ = nullptr;  ///< the one that was asked for last
  std::int64_t clients_seen_ = 0;
  std::uint64_t waits_seen_ = 0;
  std::size_t waiting_count_ = 0;
  std::size_t watching_count_ = 0;
  std::size_t held_clients_ = 0;
  Version version_ = Version::redis_7_0;
  Configuration configured_;
  Configuration configuration_;
  bool is_loading_ = false;
  bool tells_of_clients_ = false;
  FailoverRequest failover_request_;
  std::optional<Pause> pause_;
  std::optional<sim::Duration> new_pause_;
  std::optional<sim::Duration> stall_;

  const sim::Clock* clock_ = nullptr;  ///< during `execute`
  Session* script_session_ = nullptr;
  std::vector<Delivery> deliveries_;
  bool asked_for_more_ = false;
  bool touched_more_than_keys_ = false;
  bool touched_every_key_ = false;
  bool closed_its_connection_ = false;
  bool records_effects_ = false;
  bool replaced_effect_ = false;
  std::vector<Effect> effects_;
  bool has_given_up_ = false;
  std::optional<std::string> limit_hit_;
  std::optional<ScriptId> stopped_script_;
};

}  // namespace lockstep::models::redis
