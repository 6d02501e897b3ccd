// Pinned orders: constraints on which command is handled when, kept within what the network allows.

#include <algorithm>

#include <catch2/catch.hpp>

#include "sim/testing/test_world.hpp"

namespace lockstep::sim::pins_test {
namespace {

using namespace testing;

/// A and B each send GET and then SET to S, and again to T; latency 1 ms to 5 ms unless said otherwise.
struct TwoClients {
  explicit TwoClients(Decisions& decisions, DurationRange latency = {1_ms, 5_ms}) : test(decisions) {
    for (const char* name : {"A", "B"}) {
      test.add_client(name, [this, name](Client& self) -> Task<void> {
        const std::size_t first = self.id().index * 2UL;
        for (const std::size_t server : {first, first + 1}) {
          co_await self.call(connections[server], std::string(name) + "GET", 1);
          co_await self.call(connections[server], std::string(name) + "SET", 2);
        }
        self.note("done");
      });
    }
    test.add_server("S");
    test.add_server("T");
    for (const Client& client : test.clients) {
      for (const Server& server : test.servers) connections.push_back(test.connect(client, server, latency));
    }
  }
  Pin pin(char client, const std::string& step, std::optional<std::int64_t> occurrence = std::nullopt,
          std::optional<std::size_t> server = std::nullopt) {
    Pin entry;
    entry.client = test.clients[client == 'A' ? 0 : 1].id();
    entry.step = client + step;
    entry.occurrence = occurrence;
    if (server) entry.server = test.servers[*server].id();
    return entry;
  }
  Simulation::End run(std::vector<Pin> order) {
    test.simulation.pin(std::move(order));
    test.start();
    return test.run();
  }
  std::vector<ConnectionId> connections;
  TestWorld test;
};

/// Position of a line among those of a process.
std::ptrdiff_t position(const Lines& lines, const std::string& what) {
  const auto found = std::find(lines.begin(), lines.end(), what);
  REQUIRE(found != lines.end());
  return found - lines.begin();
}

TEST_CASE("pin: the order is kept, whatever else is random") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomDecisions decisions(seed);
    TwoClients world(decisions);
    REQUIRE(world.run({world.pin('B', "GET"), world.pin('A', "GET"), world.pin('B', "SET"), world.pin('A', "SET")}) ==
            Simulation::End::quiet);
    CHECK_FALSE(world.test.simulation.pin_failure());
    const Lines lines = world.test.of("S");
    REQUIRE(position(lines, "BGET 1") < position(lines, "AGET 1"));
    REQUIRE(position(lines, "AGET 1") < position(lines, "BSET 2"));
    REQUIRE(position(lines, "BSET 2") < position(lines, "ASET 2"));
    CHECK(world.test.of("A") == Lines{"done"});
  }
}

/// Whether a line that ends like this comes before another one.
bool is_before(const Lines& lines, const std::string& a, const std::string& b) {
  const auto at = [&](const std::string& end) {
    return std::find_if(lines.begin(), lines.end(), [&](const std::string& line) { return line.ends_with(end); });
  };
  return at(a) < at(b);
}

TEST_CASE("pin: it orders across servers, or says that these delays do not allow it") {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomDecisions decisions(seed);
    TwoClients world(decisions, {1_ms, 20_ms});
    const auto end = world.run({world.pin('A', "SET", std::nullopt, 0), world.pin('B', "GET", std::nullopt, 1),
                                world.pin('A', "SET", std::nullopt, 1)});
    REQUIRE((end == Simulation::End::quiet) == !world.test.simulation.pin_failure());
    if (end != Simulation::End::quiet) continue;
    ++kept;
    REQUIRE(is_before(world.test.journal.lines(), "S ASET 2", "T BGET 1"));
    REQUIRE(is_before(world.test.journal.lines(), "T BGET 1", "T ASET 2"));
  }
  CHECK(kept > 10);
}

TEST_CASE("pin: an entry with a number means just that command of the client") {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomDecisions decisions(seed);
    TwoClients world(decisions, {1_ms, 20_ms});
    // The second GET of each goes to T.
    if (world.run({world.pin('A', "GET", 2), world.pin('B', "GET", 2)}) != Simulation::End::quiet) continue;
    ++kept;
    REQUIRE(is_before(world.test.journal.lines(), "T AGET 1", "T BGET 1"));
  }
  CHECK(kept > 10);
}

TEST_CASE("pin: commands between a client's entries are free") {
  DefaultDecisions decisions;
  TwoClients world(decisions);
  CHECK(world.run({world.pin('A', "GET"), world.pin('A', "GET")}) == Simulation::End::quiet);
  CHECK_FALSE(world.test.simulation.pin_failure());
  CHECK(world.test.of("A") == Lines{"done"});
}

TEST_CASE("pin: what the network cannot hold back is impossible, and named") {
  DefaultDecisions decisions;
  TwoClients world(decisions);
  // A's GET is there after 5 ms at the latest; B's second command needs at least 3 ms of latencies, its third 5.
  CHECK(world.run({world.pin('B', "SET", 2), world.pin('A', "GET")}) == Simulation::End::pin_impossible);
  const auto failure = world.test.simulation.pin_failure();
  REQUIRE(failure);
  CHECK(failure->entry == 1);
  CHECK(failure->reason.find("A.AGET reaches S at 5ms at the latest") != std::string::npos);
  CHECK(failure->reason.find("B.BSET") != std::string::npos);
}

TEST_CASE("pin: a command that never comes is named") {
  DefaultDecisions decisions;
  TwoClients world(decisions);
  CHECK(world.run({world.pin('A', "DEL")}) == Simulation::End::quiet);
  const auto failure = world.test.simulation.pin_failure();
  REQUIRE(failure);
  CHECK(failure->entry == 0);
  CHECK(failure->reason.find("A.ADEL never comes") != std::string::npos);
}

TEST_CASE("pin: a world in which everybody waits for a command that never comes has an impossible pin") {
  DefaultDecisions decisions;
  TwoClients world(decisions);
  CHECK(world.run({world.pin('A', "DEL"), world.pin('B', "GET"), world.pin('A', "GET", 1)}) ==
        Simulation::End::pin_impossible);
  CHECK(world.test.simulation.pin_failure());
}

TEST_CASE("pin: a held message holds back what follows on its connection") {
  TestWorld test;
  std::vector<ConnectionId> connections;
  test.add_client("A", [&](Client& self) -> Task<void> {
    self.world().send_request(connections[0], self.world().make<Note>("FIRST", 1));
    self.world().send_request(connections[0], self.world().make<Note>("SECOND", 2));
    co_return;
  });
  test.add_client("B", [&](Client& self) -> Task<void> {
    co_await self.sleep(20_ms);
    self.world().send_request(connections[1], self.world().make<Note>("GO", 3));
  });
  Server& server = test.add_server("S");
  server.is_silent = true;
  for (const Client& client : test.clients) connections.push_back(test.connect(client, server, {1_ms, 50_ms}));
  test.simulation.pin(
      {Pin{test.clients[1].id(), "GO", std::nullopt, {}}, Pin{test.clients[0].id(), "FIRST", std::nullopt, {}}});
  test.start();
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(test.of("S") == Lines{"GO 3", "FIRST 1", "SECOND 2"});
  CHECK(test.journal.lines()[1] == "21ms S FIRST 1");
}

TEST_CASE("pin: a frozen server may be reached in any order before it wakes") {
  DefaultDecisions decisions;
  TwoClients world(decisions);
  // A's GET arrives within 5 ms, B's not before 20: but S looks at neither before 100.
  PlannedFault slow;
  slow.kind = PlannedFault::Kind::delay;
  slow.process = world.test.clients[1].id();
  slow.step = "BGET";
  slow.length = 20_ms;
  world.test.world.plan(slow);
  world.test.world.plan(pause_at(world.test.servers[0], 0_ms, 100_ms));
  CHECK(world.run({world.pin('B', "GET", 1), world.pin('A', "GET", 1)}) == Simulation::End::quiet);
  const Lines lines = world.test.of("S");
  CHECK(position(lines, "BGET 1") < position(lines, "AGET 1"));
}

TEST_CASE("pin: starting over pins the same again") {
  DefaultDecisions decisions;
  TwoClients world(decisions);
  world.run({world.pin('B', "GET"), world.pin('A', "GET")});
  const std::uint64_t digest = world.test.world.digest();
  world.test.simulation.restart();
  world.test.start();
  CHECK(world.test.run() == Simulation::End::quiet);
  CHECK_FALSE(world.test.simulation.pin_failure());
  CHECK(world.test.world.digest() == digest);
}

}  // namespace
}  // namespace lockstep::sim::pins_test
