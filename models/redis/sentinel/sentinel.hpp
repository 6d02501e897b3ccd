#pragma once

// Redis Sentinel: watches a primary, its replicas and the other sentinels, and lets a replica take the primary's place
// when enough sentinels find it dead. Source: sentinel.c of Redis 7.0.15, whose order of steps and whose conditions
// this keeps. Start here; the rules of elections stand in sentinel_rules.hpp, the failover itself in
// sentinel_failover.cpp.

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/sentinel/sentinel_rules.hpp"
#include "models/redis/sentinel/sentinel_view.hpp"
#include "models/redis/server/node.hpp"
#include "sim/coroutines/task.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// A request to a sentinel. It has commands of its own, which a Redis server does not know.
class SentinelRequest final : public sim::Message {
 public:
  explicit SentinelRequest(Command c);
  std::string_view name() const override { return name_; }
  std::string describe() const override { return command.describe(); }
  std::uint64_t digest() const override { return command.digest(); }

  Command command;

 private:
  std::string_view name_;  ///< static text: "SENTINEL MASTERS"
};

/// The names of a sentinel's commands, for scenario files.
std::span<const std::string_view> sentinel_commands();

/// The hosts of a world are the names of its processes; servers listen on 6379, sentinels on 26379.
inline constexpr std::string_view kServerPort = "6379";
inline constexpr std::string_view kSentinelPort = "26379";
/// Where sentinels speak to those who watch the same servers.
inline constexpr std::string_view kHelloChannel = "__sentinel__:hello";

/// One sentinel. It knows the primary from its configuration, learns of replicas from the primary's INFO and of other
/// sentinels from their hello messages, and can reach only whom it was connected to.
class Sentinel final : public sim::Process, private sim::TimerOwner {
 public:
  explicit Sentinel(SentinelSettings settings) : settings_(std::move(settings)) {}

  /// Two connections to a server that it may come to watch. Requires: before the world starts.
  void connect_node(std::string host, sim::ConnectionId requests, sim::ConnectionId messages);
  void connect_sentinel(std::string host, sim::ConnectionId requests);
  /// Requires: a connected server.
  void monitor(std::string_view primary);

  /// From the beginning it knows everybody whom it can reach, as if it had been started long ago: another server is a
  /// replica. Requires: a primary to monitor.
  void begin_acquainted() {
    begins_acquainted_ = true;
    begin_knowing();
  }

  bool is_service() const override { return true; }
  void start() override;
  void receive(sim::Message& request, sim::ConnectionId connection) override;
  void closed(sim::ConnectionId connection) override;
  void notified(sim::Message& message, sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;

  // --- For tests and reports.

  enum class State : std::uint8_t {
    none,
    wait_start,  ///< of the election
    select_replica,
    send_replicaof,
    wait_promotion,
    reconfigure,  ///< the other replicas
    update_configuration
  };
  State state() const { return state_; }
  const std::string& primary() const { return nodes_[primary_].name; }
  Epoch epoch() const { return ballot_.epoch(); }
  Epoch configuration_epoch() const { return configuration_epoch_; }
  bool is_objectively_down() const { return is_objectively_down_; }
  bool is_tilted() const { return tilted_.has_value(); }
  /// What it has announced, oldest first: "+switch-master mymaster redis1 6379 redis2 6379".
  const std::vector<std::string>& announced() const { return announced_; }

 private:
  using Role = MonitoredNode::Role;
  using Reconfiguration = MonitoredNode::Reconfiguration;
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  struct Subscriber {
    std::uint32_t connection = 0;
    std::vector<std::string> channels, patterns;
  };

  // --- sentinel.cpp: looking around.
  void timer_fired() override;
  void wait_for_next_look();
  void look();
  void check_tilt();
  bool is_still_tilted();
  void look_after(MonitoredNode& node);
  void look_after(PeerSentinel& peer);
  bool reconnect(SentinelLink& link);
  void send_pings(SentinelLink& link);
  void ping(SentinelLink& link);
  bool is_unreachable(const SentinelLink& link) const;
  template <class Watched>
  void suspect(Watched& watched, bool is_down);
  sim::Instant now() const { return clock().now(); }
  /// Whether more than this has passed since then, or it never was.
  bool is_long_ago(const std::optional<sim::Instant>& then, sim::Duration length) const {
    return !then || clock().has_passed(*then + length);
  }
  bool may_be_primary(const MonitoredNode& node) const { return &node == &nodes_[primary_]; }
  void forget_link(SentinelLink& link) const;
  void forget_nodes();
  void forget_peers();
  void begin_knowing();

  // --- sentinel_talk.cpp: requests of its own, and hello messages.
  sim::Task<void> send_ping(SentinelLink& link);
  sim::Task<void> send_info(MonitoredNode& node);
  sim::Task<void> send_and_forget(SentinelLink& link, Command command);
  sim::Task<void> send_role(MonitoredNode& node, std::string host);
  sim::Task<void> subscribe(MonitoredNode& node);
  sim::Task<void> ask(PeerSentinel& peer, std::string candidate);
  sim::MessagePtr message_for(const SentinelLink& link, Command command);
  bool is_of_peer(const SentinelLink& link) const;
  void publish_hello(SentinelLink& link);
  void publish_hello_soon();
  std::string hello() const;
  void hear_hello(const std::string& payload);
  void command_replicaof(MonitoredNode& node, const std::string& host);
  std::size_t known_peers() const;
  std::size_t known_replicas() const;

  // --- sentinel_info.cpp: what INFO tells.
  void learn(MonitoredNode& node, const std::string& info);
  void learn_role(MonitoredNode& node, Role role, std::string follows);
  void learn_replica(const std::string& host);
  void react_to_role(MonitoredNode& node);
  void follow_reconfiguration(MonitoredNode& node);
  bool is_primary_sane() const;
  bool has_been_up_for(const Suspicion& suspicion, sim::Duration length) const;

  // --- sentinel_failover.cpp: from suspicion to the new configuration.
  void check_objectively_down();
  bool start_failover_if_needed();
  void start_failover();
  void ask_others(bool at_once);
  bool vote(Epoch epoch, const std::string& candidate);
  std::optional<std::string> leader();
  void advance_failover();
  void wait_for_election();
  void select_replica();
  std::optional<std::size_t> fittest_replica();
  void promote();
  void wait_for_promotion();
  void promoted();
  void reconfigure_others();
  void detect_end();
  void abort_failover(const std::string& why);
  void enter(State state, std::string_view name);
  void switch_primary(std::size_t to);
  bool is_failing_over() const { return state_ != State::none; }
  sim::Duration desync();
  const MonitoredNode& announced_primary() const;

  // --- sentinel_commands.cpp: requests of clients and of other sentinels.
  Reply execute(const Command& command, sim::ConnectionId connection);
  Reply execute_sentinel(std::string_view name, const Command& command);
  Reply is_primary_down(const Command& command);
  Reply check_quorum() const;
  Reply force_failover();
  Reply subscribe(std::string_view name, const Command& command, sim::ConnectionId connection);
  Reply describe_primary() const;
  Reply describe(const MonitoredNode& replica) const;
  Reply describe(const PeerSentinel& peer) const;
  Subscriber& subscriber(sim::ConnectionId connection);
  void announce(const std::string& event, const std::string& payload);
  /// "master mymaster redis1 6379", "slave redis2:6379 redis2 6379 @ mymaster redis1 6379".
  std::string describe_primary_instance() const;
  std::string instance(const MonitoredNode& node) const;
  std::string instance(const PeerSentinel& peer) const;

  SentinelSettings settings_;
  std::deque<MonitoredNode> nodes_;  ///< programs refer to them: they must not move
  std::deque<PeerSentinel> peers_;
  std::size_t configured_primary_ = 0;
  bool begins_acquainted_ = false;

  // Durable: the real one writes it into its configuration file before it acts on it.
  std::size_t primary_ = 0;
  Ballot ballot_;
  Epoch configuration_epoch_ = 0;

  // Lost in a crash.
  std::int64_t looks_ = 0;
  std::optional<sim::Instant> looked_;  ///< last time
  std::optional<sim::Instant> tilted_;  ///< since when
  bool is_objectively_down_ = false;
  State state_ = State::none;
  bool is_forced_ = false;
  Epoch failover_epoch_ = 0;
  std::optional<sim::Instant>
      failover_started_;  ///< of its own or of the one that it voted for, made a little uncertain
  sim::Instant state_since_;
  std::size_t promoted_ = kNobody;
  std::vector<Subscriber> subscribers_;
  std::vector<std::string> announced_;
};

}  // namespace lockstep::models::redis
