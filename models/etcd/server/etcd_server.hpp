#pragma once

// An etcd server of one node as a process: requests, watches that wait, and the times that an engine does not know.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/etcd/engine/engine.hpp"
#include "models/numbers_by_connection.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/message.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::etcd {

/// The server makes up the id: another one for each grant on any connection.
struct LeaseGrant {
  sim::Duration ttl;
};
struct LeaseRevoke {
  LeaseId lease = 0;
};
struct LeaseKeepAlive {
  LeaseId lease = 0;
};
/// Is answered with the first events from this revision on. (etcd answers at once that there is a watch, and its events
/// follow until somebody cancels it: whoever wants more of them asks again, from the revision after these.)
struct Watch {
  Span span;
  Revision start_revision = 0;
};

class Request final : public sim::Message {
 public:
  std::variant<Operation, Txn, LeaseGrant, LeaseRevoke, LeaseKeepAlive, Watch> content;

  std::string_view name() const override;
  std::string describe() const override;
  std::uint64_t digest() const override;
};

/// What is not asked for is empty.
struct Told {
  Answer answer = {};
  LeaseId lease = 0;               ///< of a grant
  bool lease_lives = false;        ///< of a keep-alive: its time to live counts from now
  std::vector<Event> events = {};  ///< of a watch; none: it was cancelled
  bool is_lost = false;            ///< no answer: its server has died, and the connection is reset
};

class Reply final : public sim::Message {
 public:
  std::string_view request;
  Told content;

  std::string_view name() const override { return request; }
  std::string describe() const override;
  std::uint64_t digest() const override;
};

struct LeaseTimes {
  sim::Duration least;  ///< a shorter time to live is raised to it
  /// Leases that are over are looked for so often: a lease ends up to so much late.
  sim::Duration check_interval;
};

/// Everything but watches and what is left of leases is on its disk when it answers. When it comes back all leases have
/// their whole time to live again.
class Server final : public sim::Process {
 public:
  explicit Server(LeaseTimes times) : times_(times) {}

  void start() override;
  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool describes_accesses() const override { return true; }
  bool answers_at_once(const sim::Message& request) const override;
  bool is_service() const override { return true; }

  const Engine& engine() const { return engine_; }
  /// By its clock.
  std::optional<sim::Instant> end_of(LeaseId lease) const;

 private:
  struct Lease final : sim::TimerOwner {
    Lease(Server& s, LeaseId i, sim::Duration t) : server(s), id(i), ttl(t) {}
    void timer_fired() override;
    Server& server;
    LeaseId id;
    sim::Duration ttl;
    sim::Instant end;
    sim::TimerRef timer;
  };
  struct Waiting {
    sim::ConnectionId connection;
    Request request;
  };

  void watch(const Request& request, sim::ConnectionId connection);
  void keep_alive(const LeaseKeepAlive& asked, const Request& request, sim::ConnectionId connection);
  Told execute(const Request& request, sim::ConnectionId connection);
  /// For explorers: the store, and the leases of the keys that are written.
  void access_for(const Operation& operation);
  Told grant(sim::Duration ttl, sim::ConnectionId connection);
  Error revoke(LeaseId lease);
  void put_off(Lease& lease);
  void expire(LeaseId lease);
  /// For histories: what the latest request changed, or read.
  void record(sim::Effect::Kind removal, sim::ProcessId by, sim::OperationId operation);
  void record_reads(const Request& request, sim::ProcessId by);
  void answer_watches();
  void reply(const Request& request, sim::ConnectionId connection, Told told);

  LeaseTimes times_;
  Engine engine_;
  std::map<LeaseId, Lease> leases_;
  std::map<Engine::WatchId, Waiting> watches_;
  NumbersByConnection grants_;
  std::map<std::uint32_t, Engine::WatchId> asked_for_;  ///< watches so far, by connection
};

}  // namespace lockstep::models::etcd
