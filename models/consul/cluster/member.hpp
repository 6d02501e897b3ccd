#pragma once

// A server of a Consul cluster as a process. Start here: what the log, the leader and the leader's timers do with a
// request that comes to any of them. Names are those of Consul 1.18 (agent/consul/rpc.go, session_ttl.go) and of its
// Raft (hashicorp/raft 1.5).
//
//   - A server that does not lead forwards what it is asked to the leader, whole, and passes the answer on. So who has
//     written by way of a follower may find that the follower does not know of it yet.
//   - A query is answered by the leader from its state, at once (default); when a quorum has said that it leads
//     (consistent); or by whoever was asked (stale). A leader that no quorum has answered for its lease
//     (leader_lease_timeout) gives up: until then it may answer a default query though another one leads already. And a
//     leader that was just elected does not know yet what its predecessor committed last.
//   - Sessions are created and destroyed through the log. When one is over only the leader knows, by its own clock; a
//     renewal is no entry. Who becomes the leader gives all sessions their whole time again: twice the TTL.
//   - A lock-delay each server sets by its own clock, when it applies the end of a session, and the leader asks its own
//     before it writes to the log. So it outlives a leader.
//   - Without a leader a server keeps requests for rpc_hold_timeout. A query whose leader died on the way is sent once
//     more, a write is not: nobody knows what has become of it.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/consensus/ledger.hpp"
#include "models/consensus/member.hpp"
#include "models/consul/cluster/messages.hpp"
#include "models/consul/engine/engine.hpp"
#include "models/consul/server/consul_server.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::consul {

/// Consul's own times are these with raft_multiplier = 1; its default is 5, which makes the first two five times as
/// long. A session ends when it was not renewed for twice its TTL, which no setting changes.
struct ClusterSettings {
  std::size_t nodes = 3;
  ServerSettings server = {};
  /// HeartbeatTimeout and ElectionTimeout: who has heard no leader for so long, and up to three times as long, stands
  /// for election.
  sim::Duration heartbeat_timeout = sim::Duration::seconds(1);
  /// LeaderLeaseTimeout. Not longer than `heartbeat_timeout`.
  sim::Duration leader_lease_timeout = sim::Duration::milliseconds(500);
  /// CommitTimeout: so often followers hear what is committed, where nothing else is said. No more than a tenth of
  /// `heartbeat_timeout`, as here each heartbeat tells them.
  sim::Duration commit_timeout = sim::Duration::milliseconds(50);
  sim::Duration rpc_hold_timeout = sim::Duration::seconds(7);
};

class ClusterMember final : public sim::Process, private consensus::MemberOwner<Command> {
 public:
  ClusterMember(consensus::NodeId self, const ClusterSettings& settings, consensus::Ledger& history);
  ~ClusterMember();

  /// Requires: this process is the client of the connection.
  void connect(consensus::NodeId peer, sim::ConnectionId connection);

  void start() override;
  void receive(sim::Message& message, sim::ConnectionId connection) override;
  void returned(sim::Message& message, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool is_service() const override { return true; }

  const Engine& engine() const { return engine_; }
  const consensus::Member<Command>& member() const { return member_; }
  const std::string& datacentre() const { return settings_.server.datacentre; }
  /// By its clock, as far as it ends sessions.
  std::optional<sim::Instant> end_of(SessionId session) const;
  bool is_delayed(const std::string& key) const;
  bool has_lock_delays() const;
  /// How many blocking queries wait at it.
  std::size_t blocking() const { return queries_.size(); }

 private:
  /// A request of one of its own clients that is not answered yet.
  struct Waiting final : sim::TimerOwner {
    Waiting(ClusterMember& m, Command c, sim::ConnectionId on) : member(m), command(std::move(c)), connection(on) {}
    void timer_fired() override;
    ClusterMember& member;
    Command command;
    sim::ConnectionId connection;
    std::optional<consensus::NodeId> asked = {};  ///< who executes it; nobody: there is no leader
    sim::Instant held_until;                      ///< by the monotonic clock
    bool was_looked_at = false;                   ///< it was sent, executed or held at least once
    bool is_to_be_sent = false;                   ///< `timer` runs until it is sent to the leader, else until it fails
    sim::TimerRef timer;
  };
  struct Ttl final : sim::TimerOwner {
    Ttl(ClusterMember& m, SessionId i, sim::Duration t) : member(m), id(i), length(t) {}
    void timer_fired() override;
    ClusterMember& member;
    SessionId id;
    sim::Duration length;  ///< until the leader ends it: twice what was asked for
    sim::Instant end;
    sim::TimerRef timer;
  };
  /// A blocking query that it executes.
  struct Blocking final : sim::TimerOwner {
    Blocking(ClusterMember& m, Command c) : member(m), command(std::move(c)) {}
    void timer_fired() override { member.wait_is_over(command.id); }
    ClusterMember& member;
    Command command;
    sim::TimerRef timer;
  };
  /// A query that waits until a quorum has said that this server leads.
  struct Verified {
    Command command;
    bool is_woken = false;  ///< it has blocked, and there is news
    bool led = false;       ///< this server, when it began to wait
  };
  struct Lease final : sim::TimerOwner {
    void timer_fired() override { member->check_lease(); }
    ClusterMember* member = nullptr;
    sim::TimerRef timer;
  };

  RequestId new_id() { return requests_++ * settings_.nodes + self(); }
  consensus::NodeId self() const { return member_.replica().self(); }
  bool leads() const { return member_.replica().believes_to_lead(); }

  // --- Requests of clients (ForwardRPC).
  void asked(const Request& request, sim::ConnectionId connection);
  void dispatch(Waiting& waiting);
  void hold(Waiting& waiting);
  void send_later(Waiting& waiting);
  void send_again(RequestId id);
  void has_lost(consensus::NodeId peer);
  void lost(RequestId id);
  void heard(ServerMessage& message);
  void done(RequestId id, Told told);
  void answer(RequestId id, Told told);
  void send(consensus::NodeId to, decltype(ServerMessage::content) content);

  // --- Of the server that executes a request.
  void execute(Command command);
  void propose(Command command);
  void renew(RequestId id, SessionId session);
  void query(Command command);
  void run(Command command);
  void verify(Command command, bool is_woken);
  void answer_queries();
  void wait_is_over(RequestId id);
  void tell(RequestId id, Answer answer);
  void tell_query(RequestId id, Answer answer);

  // --- The log.
  void applied(consensus::Index index, const consensus::Entry<Command>& entry) override;
  void read_answered(const consensus::ReadAnswer& answer) override;
  void elected() override;
  void deposed() override;
  void leader_changed() override;
  Told apply(const Command& command);
  void tell_history(const Command& command);
  void tell_history_of_read(const Command& command);
  void note_contact(const consensus::PeerMessage<Command>& message);
  void note_leader_contact(const consensus::PeerMessage<Command>& message);
  void pass_over_commit(consensus::PeerMessage<Command>& message);
  bool refuses(const consensus::PeerMessage<Command>& message) const;
  void check_lease();

  // --- The leader's timers.
  void begin_session_timers();
  void stop_session_timers();
  void put_off(SessionId session);
  void expired(SessionId session);
  void begin_lock_delays();
  void forget();

  ClusterSettings settings_;
  consensus::Ledger& history_;
  consensus::Member<Command> member_;
  std::vector<std::optional<sim::ConnectionId>> peers_;
  std::uint64_t requests_ = 1;  ///< so far: as UUIDs, no id comes again after a crash
  std::uint64_t created_ = 0;   ///< sessions, likewise

  // Lost in a crash; what the engine is, the log says again.
  Engine engine_;
  std::map<std::string, sim::Instant, std::less<>> lock_delays_;  ///< when they are over, by the monotonic clock
  std::map<SessionId, Ttl> ttls_;                                 ///< of a leader
  std::map<RequestId, Waiting> waiting_;
  std::set<RequestId> proposed_;  ///< to be answered when applied
  std::map<RequestId, Verified> verified_;
  std::map<RequestId, Blocking> queries_;
  std::optional<sim::Instant> heard_;   ///< LastContact, by the monotonic clock; nothing: never in this life
  std::uint64_t round_ = 0;             ///< of the last message of a leader: see `pass_over_commit`
  std::vector<sim::Instant> contacts_;  ///< of a leader: when each server has answered it last
  Lease lease_;
};

}  // namespace lockstep::models::consul
