#pragma once

// Several servers of an ensemble, and clients with programs of their own that are connected to all of them.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/consensus/connect_members.hpp"
#include "models/zookeeper/client/zookeeper_endpoint.hpp"
#include "models/zookeeper/ensemble/ensemble_server.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::zookeeper::testing {

class EnsembleBench {
 public:
  using Program = std::function<sim::Task<void>(Client&)>;
  /// What servers tell a client without being asked, and on which of a session's connections.
  using Hears = std::function<void(const std::string&, ConnectionNumber)>;

  /// A seed of 0: whatever may take time takes as little as it can. `drifts`: of the servers' clocks.
  explicit EnsembleBench(const EnsembleSettings& settings, std::uint64_t seed = 0,
                         sim::DurationRange latency = sim::DurationRange::exactly(sim::Duration::milliseconds(1)),
                         const std::vector<std::int64_t>& drifts = {})
      : latency_(latency),
        random_(seed),
        world(seed == 0 ? static_cast<sim::Decisions&>(least_) : random_),
        simulation(world) {
    for (std::size_t i = 0; i < settings.servers; ++i) {
      EnsembleServer& server = servers.emplace_back(static_cast<consensus::NodeId>(i), settings, ledger_);
      sim::World::ClockSettings clock;
      if (i < drifts.size()) clock.drift_ppb = drifts[i];
      world.add(server, "zookeeper" + std::to_string(i + 1), clock);
    }
    ledger_.teller = servers.front().id();
    consensus::connect_members(world, servers, latency_);
  }

  /// Without `ear` what it hears is noted.
  Client& client(Program program, Hears ear = {}) {
    Program& kept = programs_.emplace_back(std::move(program));
    Client& client = clients_.emplace_back([&kept](Client& c) { return kept(c); });
    world.add(client, std::string(1, static_cast<char>('A' + clients_.size() - 1)), {});
    for (EnsembleServer& server : servers)
      client.connect<Endpoint>().add_server(world.connect(client.id(), server.id(), latency_), {});
    client.to<Endpoint>().set_listener(ears_.emplace_back(*this, client, std::move(ear)));
    return client;
  }

  void note(Client& client, const std::string& text) {
    told.push_back(sim::to_string(world.now().offset()) + " " + client.name() + ": " + text);
  }

  void cut_off(std::size_t node, sim::Duration from, sim::Duration until) {
    sim::Partition partition;
    partition.sides.left.push_back(servers[node].id());
    for (const EnsembleServer& server : servers) {
      if (server.id() != servers[node].id()) partition.sides.right.push_back(server.id());
    }
    partition.from = sim::Instant::at(from);
    partition.until = sim::Instant::at(until);
    world.plan(std::move(partition));
  }
  void crash(std::size_t node, sim::Duration at, std::optional<sim::Duration> restart_after = std::nullopt) {
    sim::PlannedFault crash{.kind = sim::FaultKind::crash, .process = servers[node].id()};
    if (restart_after) crash.restart_after = sim::DurationRange::exactly(*restart_after);
    crash.at = at;
    world.plan(crash);
  }
  void pause(std::size_t node, sim::Duration at, sim::Duration length) {
    sim::PlannedFault pause{.kind = sim::FaultKind::pause, .process = servers[node].id(), .length = length};
    pause.at = at;
    world.plan(pause);
  }

  /// Of what a server sends, the message of this name that is the `occurrence`-th, from 1.
  void lose(std::size_t node, const std::string& name, std::int64_t occurrence) {
    sim::PlannedFault loss{.kind = sim::FaultKind::lose, .process = servers[node].id()};
    loss.step = name;
    loss.occurrence = occurrence;
    world.plan(loss);
  }

  void run(sim::Duration until) {
    const sim::DurationRange at_once = sim::DurationRange::exactly(sim::Duration::zero());
    for (const EnsembleServer& server : servers) world.start(server.id(), at_once);
    for (const Client& client : clients_) world.start(client.id(), at_once);
    world.arm_faults();
    simulation.run(sim::Instant::at(until), 2'000'000);
  }

  /// Of those who know that they do. Null: nobody.
  const EnsembleServer* leader() const {
    for (const EnsembleServer& server : servers) {
      if (server.leads()) return &server;
    }
    return nullptr;
  }

 private:
  struct Ear final : Listener {
    Ear(EnsembleBench& b, Client& c, Hears h) : bench(b), client(c), hears(std::move(h)) {}
    void notified(const Notification& notification) override { tell(describe(notification.event), notification.on); }
    void closed(ConnectionNumber on) override { tell("closed", on); }
    void left_by(Client&) override {}
    void tell(const std::string& text, ConnectionNumber on) { hears ? hears(text, on) : bench.note(client, text); }
    EnsembleBench& bench;
    Client& client;
    Hears hears;
  };

  sim::DurationRange latency_;
  sim::DefaultDecisions least_;
  sim::RandomDecisions random_;
  consensus::Ledger ledger_;

 public:
  sim::World world;
  sim::Simulation simulation;
  std::deque<EnsembleServer> servers;
  std::vector<std::string> told;

 private:
  std::deque<Ear> ears_;
  std::deque<Program> programs_;
  std::deque<Client> clients_;
};

// What a program does with one server of several.

inline sim::Task<ConnectionNumber> connect(Client& client, std::size_t server, sim::Duration timeout,
                                           SessionId session = 0, Zxid seen = 0) {
  const Connect asked{session, timeout, seen};
  const std::optional<Told> told = co_await client.to<Endpoint>().send({}, asked, sim::Duration::seconds(2), server);
  co_return told ? told->on : ConnectionNumber{-1, 0};
}

inline sim::Task<std::optional<Answer>> ask(Client& client, std::size_t server, ConnectionNumber on,
                                            Operation operation) {
  std::optional<Told> told =
      co_await client.to<Endpoint>().send(on, std::move(operation), sim::Duration::seconds(30), server);
  if (!told) co_return std::nullopt;
  co_return std::move(told->answer);
}

inline std::string said(const std::optional<Answer>& answer) { return answer ? describe(*answer) : "connection lost"; }

}  // namespace lockstep::models::zookeeper::testing
