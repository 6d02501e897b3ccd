#pragma once

// A member of an etcd cluster as a process. Start here: what the log, the leader and the leader's lessor do with a
// request that comes to any of them. Names are those of etcd 3.4 (etcdserver/v3_server.go, lease/lessor.go).
//
//   - What writes is proposed: the leader appends it to the log, other members send it there. Each member carries
//     committed entries out in the order of the log; the one that was asked answers when it has done so itself.
//   - Reads are linearizable unless they say `serializable`: the member asks the leader for its read index, waits until
//     it has applied so much, and answers from its own state. A serializable read asks nobody.
//   - Leases are granted and revoked through the log; when one is over only the leader's lessor knows, by its own
//     clock. A keep-alive is no entry: it goes to the leader. Who becomes the leader begins all leases anew (Promote).
//   - Without a leader a member keeps what it cannot send. Requests time out: what was to be written then may have
//     been, or may be yet.

#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "models/consensus/ledger.hpp"
#include "models/consensus/member.hpp"
#include "models/etcd/cluster/messages.hpp"
#include "models/etcd/engine/engine.hpp"
#include "models/etcd/server/etcd_server.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::etcd {

struct ClusterSettings {
  std::size_t nodes = 3;
  LeaseTimes leases = {};
  sim::Duration election_timeout = sim::Duration::seconds(1);
  sim::Duration heartbeat_interval = sim::Duration::milliseconds(100);
  /// A leader that no quorum has answered for an election timeout gives up. (etcd's always does.)
  bool check_quorum = true;
  bool pre_vote = false;
  /// Before the lessor ends a lease or puts its end off, the leader asks a quorum whether it still leads
  /// (ensureLeadership, since 3.5.13 and 3.4.31: issue 15247).
  bool ensures_leadership = true;
};

/// A write to the disk that takes long: the member's Raft waits for it, and nothing else does. Of no length: none.
struct DiskStall {
  sim::Duration at;  ///< after the beginning
  sim::Duration length;
};

class ClusterMember final : public sim::Process, private consensus::MemberOwner<Command> {
 public:
  ClusterMember(consensus::NodeId self, const ClusterSettings& settings, const DiskStall& stall,
                consensus::Ledger& history);
  ~ClusterMember();

  /// Requires: this process is the client of the connection.
  void connect(consensus::NodeId peer, sim::ConnectionId connection);

  void start() override;
  void receive(sim::Message& message, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool is_service() const override { return true; }

  const Engine& engine() const { return engine_; }
  const consensus::Member<Command>& member() const { return member_; }
  /// By its clock, as far as it ends leases.
  std::optional<sim::Instant> end_of(LeaseId lease) const;
  /// How many watches wait at it.
  std::size_t watching() const { return watches_.size(); }
  /// Whether it thinks that leases end by its clock.
  bool is_primary_lessor() const { return is_primary_; }

 private:
  /// A request of a client that is not answered yet.
  struct Waiting final : sim::TimerOwner {
    Waiting(ClusterMember& m, RequestId i, sim::ConnectionId c, const Request& r)
        : member(m), id(i), connection(c), request(r) {}
    void timer_fired() override;
    bool is_keep_alive() const { return std::holds_alternative<LeaseKeepAlive>(request.content); }
    ClusterMember& member;
    RequestId id;
    sim::ConnectionId connection;
    Request request;
    sim::TimerRef timer;
    bool is_read = false;
    std::optional<consensus::Index> index;  ///< of a read: what the leader had committed
  };
  struct Watcher {
    sim::ConnectionId connection;
    Request request;
  };
  /// A keep-alive at the leader, of a client (`origin` is this member) or of another member.
  struct Renewal {
    RequestId id = 0;
    LeaseId lease = 0;
  };
  struct Lease final : sim::TimerOwner {
    Lease(ClusterMember& m, LeaseId i, sim::Duration t) : member(m), id(i), ttl(t) {}
    void timer_fired() override { member.expired(id); }
    ClusterMember& member;
    LeaseId id;
    sim::Duration ttl;
    // Of the primary lessor:
    sim::Instant end;  ///< by the monotonic clock, as Go compares times
    sim::TimerRef timer;
    std::vector<Renewal> renewals;  ///< came when it was over, and was to be revoked
  };
  /// What the leader does when a quorum has said that it leads.
  using Checked = std::variant<Renewal, LeaseId>;
  struct Stall final : sim::TimerOwner {
    void timer_fired() override { member->stall_fired(); }
    ClusterMember* member = nullptr;
  };

  RequestId new_id() { return requests_++ * settings_.nodes + member_.replica().self(); }
  consensus::NodeId origin_of(RequestId id) const { return static_cast<consensus::NodeId>(id % settings_.nodes); }
  bool is_own(RequestId id) const { return origin_of(id) == member_.replica().self(); }

  // --- Requests.
  void heard(MemberMessage& message);
  void asked(const Request& request, sim::ConnectionId connection);
  void propose(const Request& request, RequestId id, sim::ConnectionId connection);
  void submit(Command command);
  void ask_index(RequestId id);
  void watch(const Request& request, sim::ConnectionId connection);
  void answer_watches();
  void answer(RequestId id, Told told);
  void reply(const Request& request, sim::ConnectionId connection, Told told);
  void timed_out(RequestId id);
  void send(consensus::NodeId to, decltype(MemberMessage::content) content);

  // --- The log.
  void applied(consensus::Index index, const consensus::Entry<Command>& entry) override;
  void read_answered(const consensus::ReadAnswer& answer) override;
  void deposed() override { demote(); }
  void leader_changed() override;
  Told execute(const Command& command);
  void tell_history(const Command& command);
  void serve(Waiting& read);
  void serve_reads();
  void stall_fired();

  // --- The lessor.
  void promote();
  void demote();
  void put_off(Lease& lease, sim::Duration extend);
  void expired(LeaseId lease);
  void revoke_expired(LeaseId lease);
  void keep_alive(RequestId id, LeaseId lease);
  void renew(Renewal renewal);
  void renew_as_leader(Renewal renewal);
  void renewed(const Renewal& renewal, bool lives);
  void check(Checked what);

  ClusterSettings settings_;
  DiskStall stall_;
  consensus::Ledger& history_;
  consensus::Member<Command> member_;
  std::vector<std::optional<sim::ConnectionId>> peers_;
  Stall stall_timer_;
  std::uint64_t requests_ = 1;  ///< so far; as etcd's ids, which begin with the time, none comes again after a crash
  LeaseId granted_ = 0;

  // Lost in a crash; what the engine and the leases are, the log says again.
  Engine engine_;
  std::map<LeaseId, Lease> leases_;
  bool is_primary_ = false;
  std::map<RequestId, Waiting> waiting_;
  std::map<Engine::WatchId, Watcher> watches_;
  std::map<std::uint32_t, Engine::WatchId> asked_for_;  ///< watches so far, by connection
  std::vector<Command> unsent_;                         ///< nobody leads, or the disk stalls
  std::vector<RequestId> unasked_;                      ///< reads and checks: the disk stalls
  std::vector<Renewal> unrenewed_;                      ///< it leads, and has not been promoted yet
  std::map<RequestId, Checked> checks_;
};

}  // namespace lockstep::models::etcd
