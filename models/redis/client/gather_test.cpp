// Every order in which answers can come, and none: what a gathering knows when it goes on, and when that is.

#include "models/redis/client/gather.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/server/node.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::redis::gather_test {
namespace {

using namespace sim::literals;

struct Seen {
  Votes votes;
  sim::Duration at;
  bool missed_reply = false;
};

bool is_ok(const Reply& reply) { return reply.is_ok(); }

/// One client that asks for a key on servers of which some have it already; server i answers after `delays[i]`, 2ms or
/// more. `crash`: that server dies at 1ms, with the request on its way.
Seen gather(const std::vector<sim::Duration>& delays, std::uint64_t taken, std::uint64_t whom, Gather::Rule rule,
            std::optional<std::size_t> crash = std::nullopt) {
  sim::DefaultDecisions decisions;
  sim::World world(decisions);
  sim::Simulation simulation(world);
  ScriptEngine scripts;
  std::deque<Node> nodes;
  std::optional<Seen> seen;
  Client client([&](Client& c) -> sim::Task<void> {
    // Nobody else may be first where the key is to be taken already.
    for (std::size_t i = 0; i < delays.size(); ++i) {
      if ((taken >> i & 1) != 0) co_await servers_of(c)[i].with_timeout(std::nullopt).set("lock", "other");
    }
    c.session().missed_reply = false;
    const sim::Duration began = c.world().now().offset();
    const Votes votes = co_await Gather(servers_of(c), whom, Command{"SET", "lock", "me", "NX"}, rule);
    seen = Seen{votes, c.world().now().offset() - began, c.session().missed_reply};
  });
  std::vector<sim::ProcessId> servers;
  for (std::size_t i = 0; i < delays.size(); ++i)
    servers.push_back(world.add(nodes.emplace_back(scripts), "redis", {}));
  const sim::ProcessId id = world.add(client, "A", {});
  for (std::size_t i = 0; i < delays.size(); ++i) {
    const sim::Duration one_way = delays[i] / 2;
    client.connect<Endpoint>().add_server(world.connect(id, servers[i], sim::DurationRange::exactly(one_way)),
                                          std::nullopt);
  }
  if (crash) {
    sim::PlannedFault fault;
    fault.kind = sim::PlannedFault::Kind::crash;
    fault.process = servers[*crash];
    fault.at = 500_us;
    world.plan(std::move(fault));
  }
  world.start(id, sim::DurationRange::exactly(0_ms));
  world.arm_faults();
  simulation.run(sim::Instant::at(10_s), 10'000);
  REQUIRE(seen.has_value());
  return *seen;
}

}  // namespace

TEST_CASE("a gathering without a quorum waits for the slowest, in whatever order the answers come") {
  std::vector<sim::Duration> delays{2_ms, 4_ms, 6_ms, 8_ms};
  do {
    const Seen seen = gather(delays, 0b0010, kEveryServer, {.is_yes = is_ok});
    CHECK(seen.votes.yes == 0b1101);
    CHECK(seen.votes.answered == 0b1111);
    CHECK(seen.at == 8_ms);
    CHECK_FALSE(seen.missed_reply);
  } while (std::next_permutation(delays.begin(), delays.end()));
}

TEST_CASE("with a quorum it goes on with the vote that decides, for or against") {
  std::vector<sim::Duration> delays{2_ms, 4_ms, 6_ms, 8_ms, 10_ms};
  const Seen won = gather(delays, 0b00010, kEveryServer, {.is_yes = is_ok, .enough = 3});
  CHECK(won.at == 8_ms);
  CHECK(won.votes.yes == 0b01101);
  CHECK(won.missed_reply);
  const Seen lost = gather(delays, 0b00111, kEveryServer, {.is_yes = is_ok, .enough = 3});
  CHECK(lost.at == 6_ms);
  CHECK(lost.votes.count() == 0);
  CHECK(lost.missed_reply);
}

TEST_CASE("when the patience is over, whoever has not answered is unknown") {
  const Seen seen = gather({2_ms, 4_ms, 600_ms}, 0, kEveryServer, {.is_yes = is_ok, .timeout = 50_ms});
  CHECK(seen.at == 50_ms);
  CHECK(seen.votes.yes == 0b011);
  CHECK(seen.votes.answered == 0b011);
  CHECK(seen.missed_reply);
}

TEST_CASE("a server that died is no vote and is not waited for") {
  const Seen seen = gather({2_ms, 4_ms, 6_ms}, 0, kEveryServer, {.is_yes = is_ok}, 1);
  CHECK(seen.votes.yes == 0b101);
  CHECK(seen.at == 6_ms);
  CHECK(seen.missed_reply);
}

TEST_CASE("only the servers of the set are asked; none at all is an answer at once") {
  const Seen some = gather({2_ms, 4_ms, 600_ms}, 0, 0b011, {.is_yes = is_ok});
  CHECK(some.votes.answered == 0b011);
  CHECK(some.at == 4_ms);
  CHECK_FALSE(some.missed_reply);
  const Seen none = gather({2_ms, 4_ms}, 0, 0, {.is_yes = is_ok});
  CHECK(none.at == 0_ms);
  CHECK_FALSE(none.missed_reply);
}

}  // namespace lockstep::models::redis::gather_test
