#pragma once

// A cluster among clients, for tests of a product: members etcd1, etcd2, …, all connected, and clients with programs of
// their own that write down what they are told, and when.

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
#include "models/consensus/connect_members.hpp"
#include "models/consensus/ledger.hpp"
#include "models/consensus/types.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/random.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::consensus::testing {

/// A `Product` has the types `Member`, `MemberSettings`, `Endpoint` and `Own` (what its setups have beside these), a `name`,
/// `Member& add_member(std::deque<Member>&, const MemberSettings&, const Own&, Ledger&)`, and
/// `void add_server(Endpoint&, const Member&, sim::ConnectionId, timeout)`.
template <class Product>
class ClusterBench {
 public:
  using Member = typename Product::Member;
  struct Setup {
    typename Product::MemberSettings settings = {};
    std::uint64_t seed = 0;  ///< 0: whatever may take time takes as little as it can
    sim::DurationRange latency = sim::DurationRange::exactly(sim::Duration::milliseconds(1));
    typename Product::Own own = {};
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
      Member& member = Product::add_member(members_, setup_.settings, setup_.own, history_);
      sim::World::ClockSettings clock;
      if (i < setup_.drifts_ppb.size()) clock.drift_ppb = setup_.drifts_ppb[i];
      world_.add(member, Product::name + std::to_string(i + 1), clock);
    }
    history_.teller = members_.front().id();
    connect_members(world_, members_, setup_.latency);
  }

  /// It begins with this member.
  Client& client(std::size_t member, Program program) {
    const Program& kept = programs_.emplace_back(std::move(program));
    Client& client = clients_.emplace_back([this, &kept](Client& c) { return kept(*this, c); });
    world_.add(client, std::string(1, static_cast<char>('A' + clients_.size() - 1)), {});
    auto& endpoint = client.connect<typename Product::Endpoint>();
    for (const Member& each : members_)
      Product::add_server(endpoint, each, world_.connect(client.id(), each.id(), setup_.latency), setup_.timeout);
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
    sim::Partition partition = partition_of(member, from, from + length);
    for (const Member& other : members_) {
      if (&other != &members_[member]) partition.sides.right.push_back(other.id());
    }
    world_.plan(std::move(partition));
  }
  /// Neither hears the other.
  void part(std::size_t one, std::size_t other, sim::Duration from, sim::Duration until) {
    sim::Partition partition = partition_of(one, from, until);
    partition.sides.right.push_back(members_[other].id());
    world_.plan(std::move(partition));
  }
  /// Five of them, each at any member, within the first 19s.
  void plan_faults(sim::Random& random) {
    for (int i = 0; i < 5; ++i) {
      const auto at = sim::Duration::milliseconds(random.between(500, 14'000));
      const auto length = sim::Duration::milliseconds(random.between(50, 5'000));
      const std::size_t member = random.below(members_.size());
      switch (random.below(3)) {
        case 0: crash(member, at, length); break;
        case 1: cut_off(member, at, length); break;
        default: pause(member, at, length);
      }
    }
  }

  void run(std::uint64_t events_max = 1'000'000) {
    for (const Member& member : members_) world_.start(member.id(), sim::DurationRange::exactly({}));
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
  const Member& operator[](std::size_t member) const { return members_[member]; }
  std::size_t size() const { return members_.size(); }
  std::vector<std::string> told;

 private:
  sim::Partition partition_of(std::size_t member, sim::Duration from, sim::Duration until) const {
    sim::Partition partition;
    partition.sides.left.push_back(members_[member].id());
    partition.from = sim::Instant::at(from);
    partition.until = sim::Instant::at(until);
    return partition;
  }

  Setup setup_;
  sim::DefaultDecisions least_;
  sim::RandomDecisions random_;
  sim::World world_;
  sim::Simulation simulation_;
  Ledger history_;
  std::deque<Member> members_;
  std::deque<Program> programs_;
  std::deque<Client> clients_;
};

}  // namespace lockstep::models::consensus::testing
