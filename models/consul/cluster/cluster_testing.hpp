#pragma once

// A cluster among clients, for tests: servers consul1, consul2, …, all connected, and clients with programs of their own
// that write down what they are told, and when.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "models/client/client.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/consul/cluster/member.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::consul {

class ClusterBench {
 public:
  struct Setup {
    ClusterSettings settings = {};
    std::uint64_t seed = 0;  ///< 0: whatever may take time takes as little as it can
    sim::DurationRange latency = sim::DurationRange::exactly(sim::Duration::milliseconds(1));
    std::vector<std::int64_t> drifts_ppb = {};
    std::optional<sim::Duration> timeout = {};  ///< of clients
  };
  using Program = std::function<sim::Task<void>(ClusterBench&, Client&)>;

  explicit ClusterBench(Setup setup)
      : setup_(std::move(setup)),
        random_(setup_.seed),
        world_(setup_.seed == 0 ? static_cast<sim::Decisions&>(least_) : random_),
        simulation_(world_) {
    for (std::size_t i = 0; i < setup_.settings.nodes; ++i) {
      ClusterMember& member = members_.emplace_back(static_cast<consensus::NodeId>(i), setup_.settings, history_);
      sim::World::ClockSettings clock;
      if (i < setup_.drifts_ppb.size()) clock.drift_ppb = setup_.drifts_ppb[i];
      world_.add(member, "consul" + std::to_string(i + 1), clock);
    }
    history_.teller = members_.front().id();
    for (std::size_t from = 0; from < members_.size(); ++from) {
      for (std::size_t to = 0; to < members_.size(); ++to) {
        if (from != to)
          members_[from].connect(static_cast<consensus::NodeId>(to),
                                 world_.connect(members_[from].id(), members_[to].id(), setup_.latency));
      }
    }
  }

  /// It begins with this member.
  Client& client(std::size_t member, Program program) {
    const Program& kept = programs_.emplace_back(std::move(program));
    Client& client = clients_.emplace_back([this, &kept](Client& c) { return kept(*this, c); });
    world_.add(client, std::string(1, static_cast<char>('A' + clients_.size() - 1)), {});
    auto& endpoint = client.connect<Endpoint>();
    for (const ClusterMember& each : members_)
      endpoint.add_server(world_.connect(client.id(), each.id(), setup_.latency), each.datacentre(), setup_.timeout);
    endpoint.begin_with(member);
    return client;
  }

  void crash(std::size_t member, sim::Duration at, sim::Duration length) {
    sim::PlannedFault fault{.kind = sim::FaultKind::crash, .process = members_[member].id()};
    fault.restart_after = sim::DurationRange::exactly(length);
    fault.at = at;
    world_.plan(fault);
  }
  void pause(std::size_t member, sim::Duration at, sim::Duration length) {
    world_.plan({.kind = sim::FaultKind::pause, .process = members_[member].id(), .length = length, .at = at});
  }
  /// No other member hears it, or is heard by it.
  void cut_off(std::size_t member, sim::Duration from, sim::Duration length) {
    sim::Partition partition;
    partition.sides.left.push_back(members_[member].id());
    for (const ClusterMember& other : members_) {
      if (&other != &members_[member]) partition.sides.right.push_back(other.id());
    }
    partition.from = sim::Instant::at(from);
    partition.until = sim::Instant::at(from + length);
    world_.plan(std::move(partition));
  }
  /// Neither hears the other.
  void part(std::size_t one, std::size_t other, sim::Duration from, sim::Duration until) {
    sim::Partition partition;
    partition.sides.left.push_back(members_[one].id());
    partition.sides.right.push_back(members_[other].id());
    partition.from = sim::Instant::at(from);
    partition.until = sim::Instant::at(until);
    world_.plan(std::move(partition));
  }

  void run(std::uint64_t events_max = 1'000'000) {
    for (const ClusterMember& member : members_) world_.start(member.id(), sim::DurationRange::exactly({}));
    for (const Client& client : clients_) world_.start(client.id(), sim::DurationRange::exactly({}));
    world_.arm_faults();
    REQUIRE(simulation_.run(sim::Instant::at(sim::Duration::forever()), events_max) == sim::Simulation::End::quiet);
  }
  /// Until then, whatever goes on.
  void run_until(sim::Duration end) {
    client(0, [end](ClusterBench&, Client& self) -> sim::Task<void> { co_await self.sleep(end); });
    run();
  }

  void note(Client& client, const std::string& text) {
    told.push_back(sim::to_string(world_.now().offset()) + " " + client.name() + ": " + text);
  }

  sim::World& world() { return world_; }
  const ClusterMember& operator[](std::size_t member) const { return members_[member]; }
  std::size_t size() const { return members_.size(); }
  std::vector<std::string> told;

 private:
  Setup setup_;
  sim::DefaultDecisions least_;
  sim::RandomDecisions random_;
  sim::World world_;
  sim::Simulation simulation_;
  consensus::Ledger history_;
  std::deque<ClusterMember> members_;
  std::deque<Program> programs_;
  std::deque<Client> clients_;
};

}  // namespace lockstep::models::consul
