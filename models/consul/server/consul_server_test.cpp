// The servers of a datacentre among clients: what time and crashes do to sessions, lock-delays and queries.

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/server_bench_testing.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/consul/server/consul_server.hpp"

namespace lockstep::models::consul {
namespace {

using namespace sim::literals;
using Lines = std::vector<std::string>;

class Bench : public ServerBench<Bench, Server> {
 public:
  explicit Bench(ServerSettings settings = {}) : ServerBench(0, "consul", std::move(settings)) {}
  void connected(Client& client, sim::ConnectionId connection) {
    client.connect<Endpoint>().add_server(connection, its_server().datacentre(), {});
  }
};

std::string text_of(const std::optional<Told>& told) { return told ? describe(told->answer) : "no answer"; }

/// Acquires the key "a" with a session of 100ms.
sim::Task<SessionId> acquire(Client& client, sim::Duration lock_delay, Behavior behavior = Behavior::releases) {
  auto& server = client.to<Endpoint>();
  const std::optional<Told> created =
      co_await server.create("dc1", {.ttl = 100_ms, .lock_delay = lock_delay, .behavior = behavior});
  static_cast<void>(
      co_await server.write("dc1", {.key = "a", .how = Write::How::acquire, .session = created->session}));
  co_return created->session;
}

sim::Task<void> acquires(Bench&, Client& client) { static_cast<void>(co_await acquire(client, 0_ms)); }
sim::Task<void> acquires_with_delay(Bench&, Client& client) { static_cast<void>(co_await acquire(client, 30_ms)); }

sim::Task<void> waits_for_a(Bench& bench, Client& client) {
  co_await client.sleep(10_ms);
  auto& server = client.to<Endpoint>();
  const std::optional<Told> first = co_await server.query("dc1", {.key = "a"});
  bench.note(client, text_of(first));
  const std::optional<Told> next = co_await server.query("dc1", {.key = "a", .index = first->answer.index});
  bench.note(client, text_of(next));
}

/// Each 10ms from 195ms on, until it has it.
sim::Task<void> tries(Bench& bench, Client& client) {
  auto& server = client.to<Endpoint>();
  co_await client.sleep(193_ms);
  const std::optional<Told> created = co_await server.create("dc1", {.lock_delay = 0_ms});
  for (bool has_it = false; !has_it;) {
    const std::optional<Told> told =
        co_await server.write("dc1", {.key = "a", .how = Write::How::acquire, .session = created->session});
    has_it = told && told->answer.ok;
    bench.note(client, text_of(told));
    co_await client.sleep(8_ms);
  }
}

}  // namespace

TEST_CASE("consul server: a session that is not renewed ends after twice its TTL, and a blocking query hears of it") {
  Bench bench;
  bench.client(acquires);
  bench.client(waits_for_a);
  bench.run();
  CHECK(bench.told == Lines{"12ms B: index 3; a created at 3, modified at 3, locked 1, session 1",
                            "202ms B: index 4; a created at 3, modified at 4, locked 1"});
}

TEST_CASE("consul server: renewals put the end off; a session that is over cannot be renewed") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const SessionId session = co_await acquire(client, 0_ms);
    for (const sim::Duration pause : {150_ms, 190_ms, 300_ms}) {
      co_await client.sleep(pause);
      bench.note(client, text_of(co_await client.to<Endpoint>().renew("dc1", session)));
    }
  });
  bench.client(waits_for_a);
  bench.run();
  REQUIRE(bench.told.size() == 5);
  CHECK(bench.told[1] == "156ms A: true");
  CHECK(bench.told[2] == "348ms A: true");
  CHECK(bench.told[3].starts_with("548ms B: index 4"));
  CHECK(bench.told[4] == "650ms A: ERROR: Session id not found");
}

TEST_CASE("consul server: a lock-delay begins when the session ends, and lasts to the instant") {
  Bench bench;
  bench.client(acquires_with_delay);
  bench.client(tries);
  bench.run();
  // The session ends at 201ms. The tries arrive at 196, 206, 216, 226 and 236ms.
  CHECK(bench.told == Lines{"197ms B: false", "207ms B: false", "217ms B: false", "227ms B: false", "237ms B: true"});
}

TEST_CASE("consul server: without a lock-delay the next one gets the key at once") {
  Bench bench;
  bench.client(acquires);
  bench.client(tries);
  bench.run();
  CHECK(bench.told == Lines{"197ms B: false", "207ms B: true"});
}

TEST_CASE("consul server: a session with a TTL below the least one, or above a day, is refused") {
  Bench bench({.session_ttl_min = 10_s});
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    for (const sim::Duration ttl : {9_s, 10_s, 0_s, 86'401_s}) {
      const std::optional<Told> told = co_await client.to<Endpoint>().create("dc1", {.ttl = ttl});
      bench.note(client, told->session != 0 ? "created" : text_of(told));
    }
  });
  bench.run();
  CHECK(bench.told == Lines{"2ms A: ERROR: Invalid Session TTL", "4ms A: created", "6ms A: created",
                            "8ms A: ERROR: Invalid Session TTL"});
}

TEST_CASE("consul server: a blocking query ends after its wait, with what is there") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const std::optional<Told> told =
        co_await client.to<Endpoint>().query("dc1", {.key = "a", .index = 9, .wait = 16_s});
    bench.note(client, text_of(told));
    const std::optional<Told> longest =
        co_await client.to<Endpoint>().query("dc1", {.key = "a", .index = 9, .wait = 1000_s});
    bench.note(client, text_of(longest));
  });
  bench.run();
  CHECK(bench.told == Lines{"16002ms A: index 1", "616004ms A: index 1"});
}

TEST_CASE("consul server: the wait of a query is longer by up to a sixteenth") {
  sim::Duration longest;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    sim::RandomDecisions decisions(seed);
    sim::World world(decisions);
    sim::Simulation simulation(world);
    Server server({});
    const sim::ProcessId id = world.add(server, "consul", {});
    sim::Duration ended;
    Client client([&](Client& c) -> sim::Task<void> {
      static_cast<void>(co_await c.to<Endpoint>().query("dc1", {.key = "a", .index = 9, .wait = 16_s}));
      ended = c.world().now().offset();
    });
    const sim::ProcessId a = world.add(client, "A", {});
    client.connect<Endpoint>().add_server(world.connect(a, id, sim::DurationRange::exactly(1_ms)), "dc1", {});
    world.start(a, sim::DurationRange::exactly(0_ms));
    simulation.run(sim::Instant::at(60_s), 1000);
    CHECK(ended >= 16'002_ms);
    CHECK(ended <= 17'002_ms);
    longest = std::max(longest, ended);
  }
  CHECK(longest > 16'500_ms);
}

TEST_CASE(
    "consul server: after a crash keys and sessions are there, with all of their time; lock-delays and queries are "
    "not") {
  Bench bench;
  bench.client(acquires);
  bench.client(waits_for_a);
  sim::PlannedFault crash{.kind = sim::FaultKind::crash, .process = bench.server()};
  crash.restart_after = sim::DurationRange::exactly(20_ms);
  crash.at = 50_ms;
  bench.world().plan(crash);
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    co_await client.sleep(99_ms);
    const std::optional<Told> told = co_await client.to<Endpoint>().query("dc1", {.key = "a", .index = 3});
    bench.note(client, text_of(told));
  });
  bench.run();
  REQUIRE(bench.told.size() == 3);
  CHECK(bench.told[1].ends_with("B: no answer"));
  CHECK(bench.told[2] == "271ms C: index 4; a created at 3, modified at 4, locked 1");
}

TEST_CASE("consul server: a lock-delay does not outlive the memory that it is kept in") {
  Bench bench;
  bench.client(acquires_with_delay);
  bench.client(tries);
  sim::PlannedFault crash{.kind = sim::FaultKind::crash, .process = bench.server()};
  crash.restart_after = sim::DurationRange::exactly(1_ms);
  crash.at = 202_ms;
  bench.world().plan(crash);
  bench.run();
  REQUIRE(bench.told.size() == 2);
  CHECK(bench.told[1] == "207ms B: true");
}

TEST_CASE("consul server: a query goes with its client, a session does not") {
  Bench bench;
  const sim::ProcessId a = bench.client(acquires);
  const sim::ProcessId b = bench.client(waits_for_a);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = a, .at = 20_ms});
  bench.world().plan({.kind = sim::FaultKind::crash, .process = b, .at = 30_ms});
  bench.run();
  CHECK(bench.told.size() == 1);
  CHECK(bench.engine().sessions().empty());
  CHECK(bench.world().now().offset() == 201_ms);
}

TEST_CASE("consul server: a datacentre that nobody has") {
  Bench bench({.datacentre = "dc2"});
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    bench.note(client, text_of(co_await client.to<Endpoint>().query("dc1", {.key = "a"})));
    bench.note(client, text_of(co_await client.to<Endpoint>().query("dc2", {.key = "a"})));
  });
  bench.run();
  CHECK(bench.told == Lines{"2ms A: ERROR: No path to datacenter", "4ms A: index 1"});
}

}  // namespace lockstep::models::consul
