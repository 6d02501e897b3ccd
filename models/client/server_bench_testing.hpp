#pragma once

// What tests of a server among clients have in common: one server, and clients with programs of their own that write
// down what they are told, and when.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "models/client/client.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models {

/// `Bench` is the test's own, derived from this; its `connected(client, connection)` gives the client its endpoint.
template <class Bench, class Server>
class ServerBench {
 public:
  using Program = std::function<sim::Task<void>(Bench&, Client&)>;
  sim::ProcessId client(Program program) {
    auto& bench = static_cast<Bench&>(*this);
    const Program& kept = programs_.emplace_back(std::move(program));
    Client& client = clients_.emplace_back([&bench, &kept](Client& c) { return kept(bench, c); });
    const sim::ProcessId id = world_.add(client, std::string(1, static_cast<char>('A' + clients_.size() - 1)), {});
    bench.connected(client,
                    world_.connect(id, server_id_, sim::DurationRange::exactly(sim::Duration::milliseconds(1))));
    ids_.push_back(id);
    return id;
  }

  void note(Client& client, const std::string& text) {
    told.push_back(sim::to_string(world_.now().offset()) + " " + client.name() + ": " + text);
  }

  void run() {
    for (const sim::ProcessId id : ids_) world_.start(id, sim::DurationRange::exactly(sim::Duration::zero()));
    world_.arm_faults();
    REQUIRE(simulation_.run(sim::Instant::at(sim::Duration::forever()), 100'000) == sim::Simulation::End::quiet);
  }

  sim::World& world() { return world_; }
  sim::ProcessId server() const { return server_id_; }
  const auto& engine() const { return server_.engine(); }
  std::vector<std::string> told;

 protected:
  /// A seed of 0: whatever may take time takes as little as it can. The rest is for the server.
  template <class... Arguments>
  ServerBench(std::uint64_t seed, const std::string& name, Arguments&&... arguments)
      : random_(seed),
        world_(seed == 0 ? static_cast<sim::Decisions&>(least_) : random_),
        simulation_(world_),
        server_(std::forward<Arguments>(arguments)...),
        server_id_(world_.add(server_, name, {})) {}

  const Server& its_server() const { return server_; }

 private:
  sim::DefaultDecisions least_;
  sim::RandomDecisions random_;
  sim::World world_;
  sim::Simulation simulation_;
  Server server_;
  sim::ProcessId server_id_;
  std::deque<Program> programs_;
  std::deque<Client> clients_;
  std::vector<sim::ProcessId> ids_;
};

}  // namespace lockstep::models
