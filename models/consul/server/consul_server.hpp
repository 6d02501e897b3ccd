#pragma once

// The servers of one datacentre of Consul as one process: requests, queries that wait, and the times that an engine
// does not know.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/consul/engine/engine.hpp"
#include "models/numbers_by_connection.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/message.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::consul {

/// Of a session. (The create request has no id yet: the server makes it up.)
struct SessionDestroy {
  SessionId session = 0;
};
struct SessionRenew {
  SessionId session = 0;
};

class Request final : public sim::Message {
 public:
  std::variant<Write, Delete, Session, SessionDestroy, SessionRenew, CheckUpdate, Query> content;
  std::string datacentre;  ///< ?dc=
  /// Of a blocking query: when its wait is over, its client asks the same again, for ever. So it need not end: nobody
  /// could tell the difference.
  bool is_repeated = false;

  std::string_view name() const override;
  std::string describe() const override;
  std::uint64_t digest() const override;
};
/// Whether its answer may wait for a change.
bool is_blocking(const Request& request);

/// What a server of a cluster says of itself when it answers a query.
struct Contact {
  bool knows_leader = true;  ///< X-Consul-KnownLeader
  sim::Duration last = {};   ///< X-Consul-LastContact: since when it has not heard the leader, by its clock
};

struct Told {
  Answer answer = {};
  SessionId session = 0;                ///< of a create
  bool is_lost = false;                 ///< no answer: its server has died, and the connection is reset
  std::optional<Contact> contact = {};  ///< of a cluster's query
};
std::string describe(const Told& told);

class Reply final : public sim::Message {
 public:
  std::string_view request;
  Told content;

  std::string_view name() const override { return request; }
  std::string describe() const override;
  std::uint64_t digest() const override;
};

struct ServerSettings {
  std::string datacentre = "dc1";
  sim::Duration session_ttl_min = {};  ///< a session with a shorter TTL is refused
};

/// What it has answered for is in its log. When it comes back each session has its whole time again; lock-delays are
/// over, and queries that waited are lost.
class Server final : public sim::Process {
 public:
  explicit Server(ServerSettings settings) : settings_(std::move(settings)) {}

  void start() override;
  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool describes_accesses() const override { return true; }
  bool answers_at_once(const sim::Message& request) const override;
  bool is_service() const override { return true; }

  const Engine& engine() const { return engine_; }
  const std::string& datacentre() const { return settings_.datacentre; }
  bool is_delayed(const std::string& key) const { return engine_.is_delayed(key); }
  bool has_lock_delays() const { return engine_.has_lock_delays(); }
  /// By its clock. Nothing: there is no such session, or it has no TTL.
  std::optional<sim::Instant> end_of(SessionId session) const;

 private:
  struct Ttl final : sim::TimerOwner {
    Ttl(Server& s, SessionId i, sim::Duration t) : server(s), id(i), length(t) {}
    void timer_fired() override;
    Server& server;
    SessionId id;
    sim::Duration length;  ///< until the server ends it: twice what was asked for
    sim::Instant end;
    sim::TimerRef timer;
  };
  struct Waiting final : sim::TimerOwner {
    Waiting(Server& s, Engine::QueryId i, sim::ConnectionId c, const Request& r)
        : server(s), id(i), connection(c), request(r) {}
    void timer_fired() override;
    Server& server;
    Engine::QueryId id;
    sim::ConnectionId connection;
    Request request;
    sim::TimerRef timer;
  };

  Told execute(const Request& request, sim::ConnectionId connection);
  Answer write(const Write& asked);
  Told create(Session session, sim::ConnectionId connection);
  Answer destroy(SessionId id);
  Answer renew(SessionId id);
  void access_for(const Query& asked);
  void query(const Request& request, sim::ConnectionId connection);
  void put_off(Ttl& ttl);
  void expire(SessionId id);
  void forget_sessions();
  void begin_lock_delays();
  void answer_queries();
  void wait_is_over(Engine::QueryId id);
  /// For histories: what the latest request changed, or read.
  void record(sim::Effect::Kind removal, sim::ProcessId by, sim::OperationId operation);
  void record_read(const Request& request, sim::ProcessId by);
  void reply(const Request& request, sim::ConnectionId connection, Told told);

  ServerSettings settings_;
  Engine engine_;
  std::map<SessionId, Ttl> ttls_;
  std::map<std::string, sim::Instant> lock_delays_;  ///< when they are over, by the monotonic clock
  std::map<Engine::QueryId, Waiting> queries_;
  NumbersByConnection created_;                         ///< sessions
  std::map<std::uint32_t, Engine::QueryId> asked_for_;  ///< queries so far, by connection
};

}  // namespace lockstep::models::consul
