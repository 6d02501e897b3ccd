// The line of virtual time: order, ties, delays, limits, and the same bytes again.

#include "sim/schedules/simulation.hpp"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "sim/testing/test_world.hpp"

namespace lockstep::sim::simulation_test {
namespace {

using namespace testing;

/// Sends without waiting: `count` messages at once on each connection.
class Sprayer final : public Process {
 public:
  void start() override {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < connections.size(); ++c) {
        world().send_request(connections[c], world().make<Note>("N" + std::to_string(c), i));
      }
    }
  }
  std::vector<ConnectionId> connections;
  std::int64_t count = 10;
};

struct Spray {
  explicit Spray(Decisions& decisions, DurationRange latency, int connections) : test(decisions) {
    test.world.add(sprayer, "A", {});
    Server& server = test.add_server("S");
    server.is_silent = true;
    for (int i = 0; i < connections; ++i) sprayer.connections.push_back(test.connect(sprayer, server, latency));
    test.world.start(sprayer.id(), DurationRange::exactly(0_ms));
  }
  /// Numbers in order of arrival, on one connection.
  std::vector<std::string> on(int connection) const {
    Lines found;
    for (const std::string& line : test.of("S")) {
      if (line.starts_with("N" + std::to_string(connection))) found.push_back(line);
    }
    return found;
  }
  Sprayer sprayer;
  TestWorld test;
};

TEST_CASE("connection: it is first in, first out, whatever the delays and ties") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomDecisions decisions(seed);
    // Few microseconds for many messages: ties are frequent.
    Spray spray(decisions, {1_us, seed % 2 == 0 ? 4_us : 4_ms}, 3);
    spray.test.run();
    for (int c = 0; c < 3; ++c) {
      Lines expected;
      for (int i = 0; i < 10; ++i) expected.push_back("N" + std::to_string(c) + " " + std::to_string(i));
      REQUIRE(spray.on(c) == expected);
    }
  }
}

TEST_CASE("connection: messages on different ones overtake each other") {
  std::set<Lines> orders;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomDecisions decisions(seed);
    Spray spray(decisions, {1_ms, 5_ms}, 3);
    spray.sprayer.count = 1;
    spray.test.run();
    orders.insert(spray.test.of("S"));
  }
  CHECK(orders.size() == 6);
}

TEST_CASE("connection: a message that the one before it holds up arrives with it, not before") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomDecisions decisions(seed);
    Spray spray(decisions, {1_ms, 5_ms}, 1);
    spray.test.world.enable_trace();
    spray.test.run();
    for (const TraceRecord& record : spray.test.world.trace().records) {
      if (record.kind != EventKind::message) continue;
      const Duration delay = record.at.offset() - record.sent.offset();
      REQUIRE(delay >= 1_ms);
      REQUIRE(delay <= 5_ms);
    }
  }
}

TEST_CASE("tie: which of several simultaneous events comes first is a decision, and all orders occur") {
  std::set<Lines> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomDecisions random(seed);
    RecordingDecisions decisions(random);
    Spray spray(decisions, DurationRange::exactly(1_ms), 3);
    spray.sprayer.count = 1;
    spray.test.run();
    orders.insert(spray.test.of("S"));
    // Three ways for the first, two for the second, and no question about the last.
    REQUIRE(decisions.record().size() == 2);
    CHECK(decisions.record()[0].choice == Choice::order);
    CHECK(decisions.record()[0].options == 3);
    CHECK(decisions.record()[1].options == 2);
  }
  CHECK(orders.size() == 6);
}

TEST_CASE("tie: by default what was emitted first comes first") {
  DefaultDecisions decisions;
  Spray spray(decisions, DurationRange::exactly(1_ms), 3);
  spray.sprayer.count = 2;
  spray.test.run();
  CHECK(spray.test.of("S") == Lines{"N0 0", "N1 0", "N2 0", "N0 1", "N1 1", "N2 1"});
}

TEST_CASE("delay: every length of a range can come, its ends included, and an exact one is no question") {
  std::set<std::string> delays;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomDecisions random(seed);
    RecordingDecisions decisions(random);
    Spray spray(decisions, {1_ms, 1_ms + 2500_ns}, 1);
    spray.sprayer.count = 1;
    spray.test.run();
    delays.insert(to_string(spray.test.world.now().offset()));
    REQUIRE(decisions.record().size() == 1);
    CHECK(decisions.record()[0].options == 4);
  }
  CHECK(delays == std::set<std::string>{"1ms", "1.001ms", "1.002ms", "1.0025ms"});

  RandomDecisions random(1);
  RecordingDecisions decisions(random);
  Spray spray(decisions, DurationRange::exactly(1_ms), 1);
  spray.test.run();
  CHECK(decisions.record().empty());
}

TEST_CASE("limit: what is due at the limit still happens, what is due later does not") {
  TestWorld test;
  test.add_client("A", [](Client& self) -> Task<void> {
    for (int i = 0; i < 5; ++i) {
      co_await self.sleep(10_ms);
      self.note("awake");
    }
  });
  test.start();
  CHECK(test.run(20_ms) == Simulation::End::time_is_up);
  CHECK(test.journal.lines() == Lines{"10ms A awake", "20ms A awake"});
  REQUIRE(test.simulation.next_due());
  CHECK(test.simulation.next_due()->identical(Instant::at(30_ms)));
  CHECK(test.simulation.run(Instant::at(1_s), 2) == Simulation::End::too_many_events);
  CHECK(test.journal.lines().size() == 4);
  CHECK(test.run(1_s) == Simulation::End::quiet);
  CHECK(test.journal.lines().size() == 5);
  CHECK_FALSE(test.simulation.next_due());
}

TEST_CASE("limit: what a pause puts off until after the limit does not happen before it") {
  TestWorld test;
  Client& a = test.add_client("A", [](Client& self) -> Task<void> {
    co_await self.sleep(10_ms);
    self.note("awake");
  });
  test.world.plan(pause_at(a, 5_ms, 400_ms));
  test.start();
  CHECK(test.run(100_ms) == Simulation::End::time_is_up);
  CHECK(test.journal.lines().empty());
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(test.journal.lines() == Lines{"405ms A awake"});
}

/// A busy small world: calls, timeouts, work, a pause and a crash.
struct Busy {
  explicit Busy(Decisions& decisions) : test(decisions) {
    for (const char* name : {"A", "B", "C"}) {
      test.add_client(name, [this](Client& self) -> Task<void> {
        for (int i = 0; i < 10; ++i) {
          co_await self.call(connections[self.id().index], "SET", i, 6_ms);
          co_await Wait(self, {1_ms, 3_ms}, TimerKind::work);
          co_await Wait(self, {0_ms, 3_ms}, TimerKind::sleep);
        }
      });
    }
    Server& server = test.add_server("S");
    for (const Client& client : test.clients) connections.push_back(test.connect(client, server, {1_ms, 4_ms}));
    test.world.plan(pause_at(test.clients[0], 20_ms, 15_ms));
    test.world.plan(crash_at(server, 40_ms, 10_ms));
    test.world.plan(crash_at(test.clients[1], 45_ms, 10_ms));
  }
  std::uint64_t digest() {
    test.start();
    test.run();
    return test.world.digest();
  }
  std::vector<ConnectionId> connections;
  TestWorld test;
};

TEST_CASE("digest: the same seed gives the same, another seed another") {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomDecisions first(seed);
    RandomDecisions second(seed);
    const std::uint64_t digest = Busy(first).digest();
    CHECK(digest == Busy(second).digest());
    digests.insert(digest);
  }
  CHECK(digests.size() == 50);
}

TEST_CASE("digest: it is pinned, so that a build or a machine that differs is found") {
  RandomDecisions decisions(2026);
  Busy busy(decisions);
  CHECK(busy.digest() == 0x4b0c6c5a002bcd68ULL);
  CHECK(busy.test.world.events_executed() == 156);
}

TEST_CASE("digest: it sees what messages say") {
  std::set<std::uint64_t> digests;
  for (const std::int64_t number : {1, 2}) {
    TestWorld test;
    ConnectionId connection;
    Client& a =
        test.add_client("A", [&](Client& self) -> Task<void> { co_await self.call(connection, "SET", number); });
    connection = test.connect(a, test.add_server("S"), DurationRange::exactly(1_ms));
    test.start();
    test.run();
    digests.insert(test.world.digest());
  }
  CHECK(digests.size() == 2);
}

TEST_CASE("digest: defaults are the same whether or not somebody writes them down") {
  DefaultDecisions defaults;
  RecordingDecisions recording(defaults);
  const std::uint64_t digest = Busy(recording).digest();
  DefaultDecisions plain;
  CHECK(digest == Busy(plain).digest());
  RecordedDecisions recorded(recording.record());
  CHECK(digest == Busy(recorded).digest());
  CHECK_FALSE(recorded.diverged());
  CHECK(recorded.is_used_up());
}

TEST_CASE("restart: a world that starts over is as good as a new one") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    RandomDecisions fresh(seed);
    const std::uint64_t expected = Busy(fresh).digest();
    RandomDecisions other(seed + 1'000);
    RandomDecisions again(seed);
    struct Switch final : Decisions {
      std::uint64_t choose(Choice c, std::uint64_t options, EventId id) override { return now->choose(c, options, id); }
      Decisions* now = nullptr;
    } source;
    source.now = &other;
    Busy busy(source);
    busy.test.start();
    busy.test.run(Duration::milliseconds(static_cast<std::int64_t>(seed) * 3));
    busy.test.simulation.restart();
    source.now = &again;
    CHECK(busy.digest() == expected);
  }
}

TEST_CASE("restart: running the same world again asks the system for nothing") {
  RandomDecisions decisions(5);
  Busy busy(decisions);
  std::uint64_t asked = 0;
  for (int i = 0; i < 40; ++i) {
    busy.digest();
    if (i == 19) asked = busy.test.world.arena().system_allocations();
    busy.test.simulation.restart();
  }
  CHECK(busy.test.world.arena().system_allocations() == asked);
}

}  // namespace
}  // namespace lockstep::sim::simulation_test
