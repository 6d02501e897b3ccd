#pragma once

// A server of a ZooKeeper ensemble as a process: a member of the replicated log, with an engine of its own as its state
// machine, and the clients that are connected to it. Start here.
// Source: ZooKeeper 3.8, Leader.java, Learner.java, LearnerHandler.java (packets, sync, revalidation, syncLimit),
//         LearnerSessionTracker.java, SessionTrackerImpl.java (touches, expiry), CommitProcessor.java (order within a
//         session), ZooKeeperServer.java (zxids that clients have seen). How the log differs: consensus/replica.hpp.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/consensus/ledger.hpp"
#include "models/consensus/member.hpp"
#include "models/numbers_by_connection.hpp"
#include "models/zookeeper/engine/engine.hpp"
#include "models/zookeeper/ensemble/transaction.hpp"
#include "models/zookeeper/server/zookeeper_server.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::zookeeper {

struct EnsembleSettings {
  SessionTimes times = {};  ///< `tick` is not zero
  std::size_t servers = 3;
  int sync_limit = 5;  ///< in ticks: how long a follower does without its leader, and a leader without a quorum
  std::vector<std::string> nodes = {};  ///< see `Server`
};

class EnsembleServer final : public sim::Process, private consensus::MemberOwner<Transaction> {
 public:
  /// Requires: `ledger` outlives it.
  EnsembleServer(consensus::NodeId self, const EnsembleSettings& settings, consensus::Ledger& ledger);

  /// Requires: the process is the client of this connection, and the peer its server.
  void connect(consensus::NodeId peer, sim::ConnectionId connection);

  void start() override;
  void receive(sim::Message& message, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;
  bool may_keep_waiting() const override { return true; }
  bool is_service() const override { return true; }

  const Engine& engine() const { return engine_; }
  const consensus::Member<Transaction>& member() const { return member_; }
  /// Whether clients are served: it knows the leader, and has what earlier leaders committed.
  bool serves() const { return serves_; }
  bool leads() const { return serves_ && member_.replica().believes_to_lead(); }
  bool is_as_at_first() const { return engine_.sessions().empty() && engine_.paths() == first_paths_; }
  /// By its clock, if it leads.
  std::optional<sim::Instant> end_of(SessionId session) const {
    const auto found = tracked_.find(session);
    return found == tracked_.end() ? std::nullopt : std::optional(found->second.end);
  }

 private:
  using NodeId = consensus::NodeId;

  /// A request of a client that waits for its turn or for its answer.
  struct Pending {
    Request request;
    sim::ConnectionId connection;
    std::uint64_t serial = 0;                   ///< 0: nobody has to be asked
    sim::Instant asked = {};                    ///< by the monotonic clock
    std::optional<Told> told{};                 ///< of a write, or of a connect: what the leader says
    std::optional<consensus::Index> reaches{};  ///< of a sync, or of a connect: what it waits for
  };
  /// A session that is connected to this server.
  struct Connection {
    std::uint32_t number = 0;
    sim::ConnectionId connection;
    std::deque<Pending> queue = {};
  };
  /// Who watches, by the connection of the world.
  struct Watcher {
    sim::ConnectionId connection;
    ConnectionNumber on;
  };
  /// What the leader keeps of a session.
  struct Tracked final : sim::TimerOwner {
    Tracked(EnsembleServer& s, SessionId i) : server(s), id(i) {}
    void timer_fired() override;
    EnsembleServer& server;
    SessionId id;
    std::optional<NodeId> owner;  ///< the server that it is connected to, if that is known
    bool is_closing = false;
    sim::Instant end;
    sim::TimerRef timer;
  };
  struct HalfTick final : sim::TimerOwner {
    explicit HalfTick(EnsembleServer& s) : server(s) {}
    void timer_fired() override { server.ping(); }
    EnsembleServer& server;
    sim::TimerRef timer;
  };

  void fill();
  sim::Duration limit() const { return settings_.times.tick * settings_.sync_limit; }

  // --- Of clients.
  void serve(const Request& request, sim::ConnectionId connection);
  void open_or_find(const Connect& asked, const Request& request, sim::ConnectionId connection);
  /// Answers what can be answered, in the order in which it was asked.
  void go_on(SessionId session);
  bool answer(SessionId session, Pending& pending);
  void revalidated(const Packet& told);
  void accept_revalidated();
  void accept(const Pending& pending, SessionId session, sim::Duration timeout);
  void touch(SessionId session, bool by_ping);
  void hang_up(SessionId session);
  void hang_up_on_who_waits_too_long();
  void forget_watchers_of(SessionId session);
  void notify();
  void reply(const Pending& pending, Told told);
  Pending pending(const Request& request, sim::ConnectionId connection) const {
    return {.request = request, .connection = connection, .asked = monotonic().now()};
  }

  // --- To the leader, which may be this one.
  void submit(Transaction transaction);
  void ask_leader(Packet::Kind kind, SessionId session, std::uint64_t serial);
  void receive(const Packet& packet);
  void rejoin(const Packet& received);
  void serve_if_rejoined() {
    if (!rejoins_at_ || *rejoins_at_ > member_.applied()) return;
    rejoins_at_.reset();
    serves_ = true;
  }
  sim::MessagePtrOf<Packet> packet(Packet::Kind kind) const;
  void send(NodeId to, sim::MessagePtrOf<Packet> packet);

  // --- As the leader.
  void begin_leading();
  void propose(Transaction transaction, NodeId from);
  void track(SessionId session);
  void put_off(SessionId session, bool is_upkeep_of_follower = false);
  /// Zero: it is over.
  sim::Duration revalidate(SessionId session, NodeId owner);
  void ping();

  // --- Of the log.
  void applied(consensus::Index index, const consensus::Entry<Transaction>& entry) override;
  void read_answered(const consensus::ReadAnswer&) override {}
  void leader_changed() override { stop_serving(); }
  void apply(const Transaction& transaction, bool is_new);
  void stop_serving();
  /// For histories: what the latest transaction changed.
  void record(const Transaction& transaction);

  NodeId self_;
  EnsembleSettings settings_;
  consensus::Ledger& ledger_;
  consensus::Member<Transaction> member_;
  std::vector<std::optional<sim::ConnectionId>> peers_;  ///< itself: none
  std::vector<std::string> first_paths_;

  // The state machine.
  Engine engine_;
  std::map<SessionId, sim::Duration> timeouts_;

  // As long as it serves.
  bool serves_ = false;
  std::optional<consensus::Index> rejoins_at_;  ///< it will serve when it has applied so much
  std::map<SessionId, Connection> connections_;
  std::map<std::uint64_t, Pending> connects_;  ///< of clients that wait for their session
  std::map<std::uint32_t, Watcher> watchers_;
  std::map<SessionId, bool> touched_;  ///< of a follower, since the leader's last ping; true: by pings alone

  // As long as it leads.
  std::map<SessionId, Tracked> tracked_;
  HalfTick half_tick_{*this};
  std::uint64_t half_ticks_ = 0;
  std::vector<std::uint64_t> heard_;  ///< in which half tick a follower answered last

  // What a crash leaves as it is, so that no number comes twice.
  NumbersByConnection opened_;  ///< sessions
  std::uint64_t serials_ = 0;
  std::uint32_t numbers_ = 0;
  bool has_started_ = false;
};

}  // namespace lockstep::models::zookeeper
