#pragma once

// For tests: sentinels that watch servers which say what the test lets them say.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/redis/sentinel/sentinel.hpp"
#include "models/redis/server/node.hpp"
#include "sim/coroutines/await.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::redis {

/// As much of a Redis server as a sentinel can see. A replica has what the test says it has.
class ScriptedServer final : public sim::Process {
 public:
  std::string follows;  ///< its primary; empty: it is one
  std::vector<std::string> replicas;
  std::string run_id;
  std::int64_t priority = 100;
  std::int64_t offset = 0;
  std::optional<std::int64_t> unlinked_seconds;
  bool obeys = true;  ///< does what REPLICAOF says
  std::vector<std::string> orders;

  void receive(sim::Message& message, sim::ConnectionId connection) override {
    const auto& request = static_cast<Request&>(message);
    const Command& command = request.command;
    for (const Command& queued : request.in_front) answer(queued);
    if (command[0].is_word("SUBSCRIBE")) {
      if (std::find(listeners_.begin(), listeners_.end(), connection.index) == listeners_.end()) {
        listeners_.push_back(connection.index);
      }
    }
    world().send_reply(connection, request, world().make<Response>(request.name(), answer(command)));
    if (!command[0].is_word("PUBLISH")) return;
    for (const std::uint32_t listener : listeners_) {
      Reply content = Reply::array({Reply::bulk("message"), Reply::bulk(command[1]), Reply::bulk(command[2])});
      world().send_push({listener}, world().make<Response>("MESSAGE", std::move(content)));
    }
  }
  void crashed(bool) override { listeners_.clear(); }

 private:
  Reply answer(const Command& command) {
    if (command[0].is_word("PING")) return Reply::status("PONG");
    if (command[0].is_word("INFO")) return Reply::bulk(info());
    if (command[0].is_word("REPLICAOF")) {
      orders.push_back(command[1].text());
      if (obeys) follows = command[1].is_word("NO") ? "" : command[1].text();
      return Reply::ok();
    }
    return Reply::ok();
  }
  std::string info() const {
    std::string out =
        "# Replication\r\nrun_id:" + run_id + "\r\nrole:" + (follows.empty() ? "master" : "slave") + "\r\n";
    if (follows.empty()) {
      for (std::size_t i = 0; i < replicas.size(); ++i) {
        out += "slave" + std::to_string(i) + ":ip=" + replicas[i] + ",port=6379,state=online,offset=0,lag=0\r\n";
      }
      return out;
    }
    out += "master_host:" + follows + "\r\nmaster_port:6379\r\nmaster_link_status:";
    out += unlinked_seconds ? "down\r\nmaster_link_down_since_seconds:" + std::to_string(*unlinked_seconds) : "up";
    out +=
        "\r\nslave_repl_offset:" + std::to_string(offset) + "\r\nslave_priority:" + std::to_string(priority) + "\r\n";
    return out;
  }

  std::vector<std::uint32_t> listeners_;
};

/// redis1 is the primary of redis2 … redisN, and sentinel1 … sentinelM watch it.
class SentinelWorld {
 public:
  SentinelWorld(std::size_t servers, std::size_t sentinels, SentinelSettings settings, sim::Decisions& decisions,
                sim::DurationRange latency = sim::DurationRange::exactly(sim::Duration::milliseconds(1)))
      : world_(decisions), simulation_(world_) {
    using namespace sim::literals;
    for (std::size_t i = 1; i <= servers; ++i) {
      ScriptedServer& server = servers_.emplace_back();
      server.run_id = "run" + std::to_string(i);
      world_.add(server, "redis" + std::to_string(i), {});
      if (i == 1) continue;
      server.follows = "redis1";
      servers_.front().replicas.push_back("redis" + std::to_string(i));
    }
    for (std::size_t i = 1; i <= sentinels; ++i) {
      world_.add(sentinels_.emplace_back(settings), "sentinel" + std::to_string(i), {});
    }
    for (std::size_t i = 0; i < sentinels; ++i) {
      Sentinel& sentinel = sentinels_[i];
      for (ScriptedServer& server : servers_) {
        const sim::ConnectionId requests = world_.connect(sentinel.id(), server.id(), latency);
        sentinel.connect_node(server.name(), requests, world_.connect(sentinel.id(), server.id(), latency));
      }
      for (Sentinel& other : sentinels_) {
        if (&other == &sentinel) continue;
        sentinel.connect_sentinel(other.name(), world_.connect(sentinel.id(), other.id(), latency));
      }
      sentinel.monitor("redis1");
      world_.start(sentinel.id(), sim::DurationRange::exactly(17_ms * static_cast<std::int64_t>(i)));
    }
  }

  sim::World& world() { return world_; }
  sim::Simulation& simulation() { return simulation_; }
  Sentinel& sentinel(std::size_t i) { return sentinels_[i - 1]; }
  ScriptedServer& server(std::size_t i) { return servers_[i - 1]; }
  std::size_t sentinels() const { return sentinels_.size(); }

  void crash(const sim::Process& process, sim::Duration at, std::optional<sim::Duration> restart_after = std::nullopt) {
    sim::PlannedFault fault;
    fault.kind = sim::PlannedFault::Kind::crash;
    fault.process = process.id();
    fault.at = at;
    fault.keep = true;
    if (restart_after) fault.restart_after = sim::DurationRange::exactly(*restart_after);
    world_.plan(std::move(fault));
  }
  void strike(sim::PlannedFault::Kind kind, const sim::Process& process, sim::Duration at, sim::Duration length) {
    sim::PlannedFault fault;
    fault.kind = kind;
    fault.process = process.id();
    fault.at = at;
    fault.length = length;
    world_.plan(std::move(fault));
  }
  /// Cuts these off from everybody else.
  void isolate(const std::vector<sim::ProcessId>& some, sim::Duration from, std::optional<sim::Duration> until) {
    sim::Partition partition{.sides = {.left = some, .right = {}}, .from = sim::Instant::at(from), .until = {}};
    if (until) partition.until = sim::Instant::at(*until);
    for (std::size_t i = 0; i < world_.process_count(); ++i) {
      const sim::ProcessId id{static_cast<std::uint16_t>(i)};
      if (std::find(some.begin(), some.end(), id) == some.end()) partition.sides.right.push_back(id);
    }
    world_.plan(std::move(partition));
  }

  /// Sends one request to a sentinel, at this time.
  void ask(std::size_t sentinel, sim::Duration at, Command command, std::function<void(const Reply&)> then) {
    Asker& asker = askers_.emplace_back(std::move(command), std::move(then));
    const sim::ProcessId id = world_.add(asker, "asker" + std::to_string(askers_.size()), {});
    asker.connection =
        world_.connect(id, sentinels_[sentinel - 1].id(), sim::DurationRange::exactly(sim::Duration::milliseconds(1)));
    world_.start(id, sim::DurationRange::exactly(at));
  }

  void run(sim::Duration until) {
    if (!armed_) world_.arm_faults();
    armed_ = true;
    // Sentinels are background: without somebody who is not, nothing would seem to happen.
    while (simulation_.next_due() && world_.now().offset() <= until && simulation_.step()) {
    }
  }

  /// How often some sentinel has announced something that begins so.
  std::size_t announced(const std::string& begin) const {
    std::size_t count = 0;
    for (const Sentinel& sentinel : sentinels_) count += announced(sentinel, begin);
    return count;
  }
  static std::size_t announced(const Sentinel& sentinel, const std::string& begin) {
    return static_cast<std::size_t>(std::count_if(sentinel.announced().begin(), sentinel.announced().end(),
                                                  [&](const std::string& line) { return line.starts_with(begin); }));
  }
  /// Of each sentinel: which server it takes for the primary.
  std::string primaries() const {
    std::string out;
    for (const Sentinel& sentinel : sentinels_) out += (out.empty() ? "" : " ") + sentinel.primary();
    return out;
  }

 private:
  class Asker final : public sim::Process {
   public:
    Asker(Command command, std::function<void(const Reply&)> then)
        : command_(std::move(command)), then_(std::move(then)) {}
    void start() override { spawn(run(*this)); }
    sim::ConnectionId connection;

   private:
    static sim::Task<void> run(Asker& asker) {
      const auto reply = co_await sim::Call<Response>(
          asker, asker.connection, asker.world().make<SentinelRequest>(asker.command_), std::nullopt);
      asker.then_(reply.value_or(Reply::unknown()));
    }
    Command command_;
    std::function<void(const Reply&)> then_;
  };

  sim::World world_;
  sim::Simulation simulation_;
  std::deque<ScriptedServer> servers_;
  std::deque<Sentinel> sentinels_;
  std::deque<Asker> askers_;
  bool armed_ = false;
};

}  // namespace lockstep::models::redis
