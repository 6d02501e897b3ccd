#pragma once

// For the tests of this folder: several servers that know each other, and one client whose requests go to any of them at given
// times.

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/server/node.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::redis {

/// Servers "redis1", "redis2", … of which all but the first begin as replicas of it, 1 ms apart from each other and from clients.
class ReplicatedStory {
 public:
  explicit ReplicatedStory(std::size_t servers = 2) {
    for (std::size_t i = 0; i < servers; ++i) {
      nodes_.emplace_back(scripts_);
      ids_.push_back(world_.add(nodes_.back(), "redis" + std::to_string(i + 1), {}));
      for (std::size_t j = 0; j < i; ++j) Node::meet(nodes_[j], nodes_[i], kLatency);
      if (i > 0) nodes_[i].begin_as_replica_of(nodes_[0]);
    }
  }

  /// What a server's own freedom decides, as far as there is such a choice; the rest is the default.
  void decide(std::uint64_t answer) { decisions_.answer = answer; }

  Node& node(std::size_t number) { return nodes_[number - 1]; }
  sim::ProcessId id(std::size_t number) const { return ids_[number - 1]; }

  /// At this time a client of its own sends these lines to a server, one after the other; replies go into `seen`.
  template <class... Lines>
  void say(sim::Duration at, std::size_t server, Lines... text) {
    const std::vector<std::string> lines{std::string(text)...};
    const std::size_t number = clients_.size();
    Client& client = clients_.emplace_back([this, number, lines](Client& c) { return program(c, number, lines); });
    const sim::ProcessId process = world_.add(client, "c" + std::to_string(number), {});
    client.connect<Endpoint>().add_server(world_.connect(process, id(server), kLatency), std::nullopt);
    world_.start(process, sim::DurationRange::exactly(at));
    seen_.emplace_back();
  }
  void crash(std::size_t server, sim::Duration at, std::optional<sim::Duration> restart_after = std::nullopt,
             bool keep = false) {
    sim::PlannedFault fault;
    fault.kind = sim::PlannedFault::Kind::crash;
    fault.process = id(server);
    fault.at = at;
    fault.keep = keep;
    if (restart_after) fault.restart_after = sim::DurationRange::exactly(*restart_after);
    world_.plan(std::move(fault));
  }
  /// Nothing passes between two servers from one time to another.
  void cut(std::size_t a, std::size_t b, sim::Duration from, std::optional<sim::Duration> until) {
    sim::Partition partition{.sides = {{id(a)}, {id(b)}}, .from = sim::Instant::at(from), .until = {}};
    if (until) partition.until = sim::Instant::at(*until);
    world_.plan(std::move(partition));
  }

  /// What each client saw, in the order of `say`: its replies, with "; " between them.
  std::vector<std::string> run(sim::Duration until = sim::Duration::seconds(1000)) {
    if (!has_begun_) {
      world_.arm_faults();
      for (Node& node : nodes_) node.begin();
      has_begun_ = true;
    }
    end_ = simulation_.run(sim::Instant::at(until), 100'000);
    return seen_;
  }
  sim::Simulation::End end() const { return end_; }
  sim::World& world() { return world_; }

  /// All keys of a server, as they lie there: "a=1, lock=A-1".
  std::string keys(std::size_t number) {
    std::vector<std::string> lines;
    for (const Entry& entry : node(number).database().keys().entries()) {
      lines.push_back(entry.key + "=" + std::get<Value>(entry.object).text());
    }
    std::sort(lines.begin(), lines.end());
    std::string out;
    for (const std::string& line : lines) out += (out.empty() ? "" : ", ") + line;
    return out;
  }
  const Replication& replication(std::size_t number) { return node(number).database().replication(); }

 private:
  static constexpr sim::DurationRange kLatency = sim::DurationRange::exactly(sim::Duration::milliseconds(1));

  sim::Task<void> program(Client& client, std::size_t number, std::vector<std::string> lines) {
    for (const std::string& line : lines) {
      Command command = std::get<Command>(parse_command_line(line));
      const Reply reply = co_await server_of(client).call(std::move(command));
      seen_[number] += (seen_[number].empty() ? "" : "; ") + reply.describe();
    }
  }

  class Decided final : public sim::Decisions {
   public:
    std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId) override {
      return choice == sim::Choice::model ? std::min(answer, options - 1) : 0;
    }
    std::uint64_t answer = 0;
  };

  Decided decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};
  ScriptEngine scripts_;
  std::deque<Node> nodes_;
  std::vector<sim::ProcessId> ids_;
  std::deque<Client> clients_;
  std::vector<std::string> seen_;
  bool has_begun_ = false;
  sim::Simulation::End end_ = sim::Simulation::End::quiet;
};

}  // namespace lockstep::models::redis
