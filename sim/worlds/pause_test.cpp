// Pauses: what is frozen with a process, what is not, and what happens when it wakes.

#include <set>

#include <catch2/catch.hpp>

#include "sim/testing/test_world.hpp"

namespace lockstep::sim::pause_test {
namespace {

using namespace testing;

/// A calls S twice, one millisecond each way: "SET" and then "GET".
struct TwoCalls {
  explicit TwoCalls(std::optional<Duration> timeout = std::nullopt) {
    test.add_client("A", [this, timeout](Client& self) -> Task<void> {
      self.note("set " + outcome(co_await self.call(connection, "SET", 1, timeout)));
      self.note("get " + outcome(co_await self.call(connection, "GET", 2, timeout)));
    });
    connection = test.connect(a(), test.add_server("S"), DurationRange::exactly(1_ms));
  }
  Client& a() { return test.clients[0]; }
  Server& s() { return test.servers[0]; }
  Lines lines() {
    test.start();
    CHECK(test.run() == Simulation::End::quiet);
    return test.journal.lines();
  }
  TestWorld test;
  ConnectionId connection;
};

TEST_CASE("pause before a step: the request stays behind, and its timeout runs only from when it leaves") {
  TwoCalls calls(5_ms);
  calls.test.world.plan(pause_in_step(calls.a(), Moment::before, "GET", 100_ms));
  CHECK(calls.lines() == Lines{"1ms S SET 1", "2ms A set 1", "103ms S GET 2", "104ms A get 2"});
}

TEST_CASE("pause when sent: the request is on its way, and the reply is handled late") {
  TwoCalls calls;
  calls.test.world.plan(pause_in_step(calls.a(), Moment::sent, "SET", 100_ms));
  CHECK(calls.lines() == Lines{"1ms S SET 1", "100ms A set 1", "101ms S GET 2", "102ms A get 2"});
}

TEST_CASE("pause after a step: the code behind the reply has run, but what it sends stays behind") {
  TwoCalls calls;
  calls.test.world.plan(pause_in_step(calls.a(), Moment::after, "SET", 100_ms));
  CHECK(calls.lines() == Lines{"1ms S SET 1", "2ms A set 1", "103ms S GET 2", "104ms A get 2"});
}

TEST_CASE("pause: its occurrence counts the steps of that name") {
  TestWorld test;
  ConnectionId connection;
  Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
    for (int i = 1; i <= 3; ++i) self.note("set " + outcome(co_await self.call(connection, "SET", i)));
  });
  connection = test.connect(a, test.add_server("S"), DurationRange::exactly(1_ms));
  PlannedFault fault = pause_in_step(a, Moment::sent, "SET", 50_ms);
  fault.occurrence = 2;
  test.world.plan(fault);
  test.start();
  test.run();
  CHECK(test.of("A") == Lines{"set 1", "set 2", "set 3"});
  CHECK(test.journal.lines()[3] == "52ms A set 2");
  CHECK(test.world.faults_that_never_struck().empty());
}

TEST_CASE("pause after a step: a reply that came too late was never handled, so nothing strikes") {
  TwoCalls calls(1500_us);  // each reply takes 2 ms
  calls.test.world.plan(pause_in_step(calls.a(), Moment::after, "SET", 100_ms));
  CHECK(calls.lines() == Lines{"1ms S SET 1", "1.5ms A set unknown", "2.5ms S GET 2", "3ms A get unknown"});
}

TEST_CASE("pause: it lengthens work by what it interrupts, and moves no sleep that outlasts it") {
  for (const bool is_work : {true, false}) {
    TestWorld test;
    Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
      if (is_work) {
        co_await self.work(30_ms);
      } else {
        co_await self.sleep(30_ms);
      }
      self.note("done");
    });
    test.world.plan(pause_at(a, 10_ms, 15_ms));
    test.start();
    test.run();
    CHECK(test.journal.lines() == Lines{is_work ? "45ms A done" : "30ms A done"});
  }
}

TEST_CASE("pause: a sleep that ends meanwhile is noticed at its end, work goes on from there") {
  for (const bool is_work : {true, false}) {
    TestWorld test;
    Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
      if (is_work) {
        co_await self.work(30_ms);
      } else {
        co_await self.sleep(30_ms);
      }
      self.note("done");
    });
    test.world.plan(pause_at(a, 20_ms, 200_ms));
    test.start();
    test.run();
    CHECK(test.journal.lines() == Lines{is_work ? "230ms A done" : "220ms A done"});
  }
}

TEST_CASE("pause: two that overlap are one longer pause, one inside another changes nothing") {
  for (const auto& [second_at, second_length, sleep_ends, work_ends] :
       {std::tuple{15_ms, 20_ms, 35_ms, 55_ms}, std::tuple{12_ms, 3_ms, 30_ms, 50_ms},
        std::tuple{30_ms, 5_ms, 30_ms, 55_ms}, std::tuple{15_ms, 15_ms, 30_ms, 50_ms}}) {
    for (const bool is_work : {true, false}) {
      TestWorld test;
      Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
        if (is_work) {
          co_await self.work(30_ms);
        } else {
          co_await self.sleep(20_ms);
        }
        self.note("done");
      });
      test.world.plan(pause_at(a, 10_ms, 20_ms));
      test.world.plan(pause_at(a, second_at, second_length));
      test.start();
      test.run();
      CAPTURE(to_string(second_at), is_work);
      CHECK(test.journal.lines() == Lines{to_string(is_work ? work_ends : sleep_ends) + " A done"});
    }
  }
}

TEST_CASE("pause: what it keeps from leaving waits for a second one that overlaps it, too") {
  TwoCalls calls(5_ms);
  calls.test.world.plan(pause_in_step(calls.a(), Moment::after, "SET", 100_ms));  // 2 ms to 102 ms
  calls.test.world.plan(pause_at(calls.a(), 50_ms, 100_ms));                      // to 150 ms
  CHECK(calls.lines() == Lines{"1ms S SET 1", "2ms A set 1", "151ms S GET 2", "152ms A get 2"});
}

TEST_CASE("pause: sleep and work that were begun in it start when it, and what overlaps it, is over") {
  for (const bool is_work : {true, false}) {
    TestWorld test;
    ConnectionId connection;
    Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
      co_await self.call(connection, "SET", 1);
      if (is_work) {
        co_await self.work(10_ms);
      } else {
        co_await self.sleep(10_ms);
      }
      self.note("done");
    });
    connection = test.connect(a, test.add_server("S"), DurationRange::exactly(1_ms));
    test.world.plan(pause_in_step(a, Moment::after, "SET", 100_ms));
    test.world.plan(pause_at(a, 50_ms, 100_ms));
    test.start();
    test.run();
    CHECK(test.journal.lines().back() == "160ms A done");
  }
}

TEST_CASE("pause: what is kept from leaving keeps its order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomDecisions decisions(seed);
    TestWorld test(decisions);
    ConnectionId connection;
    Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
      co_await self.call(connection, "SET", 0);
      for (int i = 1; i < 6; ++i) self.world().send_request(connection, self.world().make<Note>("SET", i));
    });
    Server& server = test.add_server("S");
    connection = test.connect(a, server, {1_ms, 5_ms});
    test.world.plan(pause_in_step(a, Moment::after, "SET", 100_ms));
    test.world.plan(pause_at(a, 50_ms, 100_ms));
    test.start();
    test.run();
    REQUIRE(test.of("S") == Lines{"SET 0", "SET 1", "SET 2", "SET 3", "SET 4", "SET 5"});
  }
}

TEST_CASE("pause of a server: requests wait and are answered when it is over") {
  TwoCalls calls;
  calls.test.world.plan(pause_at(calls.s(), 500_us, 40_ms));
  CHECK(calls.lines() == Lines{"40.5ms S SET 1", "41.5ms A set 1", "42.5ms S GET 2", "43.5ms A get 2"});
}

TEST_CASE("pause of a server: it begins after a request of that moment was handled, so its reply has left") {
  TwoCalls calls;
  calls.test.world.plan(pause_at(calls.s(), 1_ms, 40_ms));
  const Lines lines = calls.lines();
  // Both are due at 1 ms, and the fault was emitted first: the request waits.
  CHECK(lines.front() == "41ms S SET 1");
}

TEST_CASE("pause of a server: what arrived meanwhile is handled in the order of arrival, whoever decides") {
  std::set<Lines> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomDecisions decisions(seed);
    TestWorld test(decisions);
    std::vector<ConnectionId> connections;
    Lines by_arrival;
    std::vector<std::pair<Duration, std::string>> sent;
    for (int i = 0; i < 4; ++i) {
      test.add_client("C" + std::to_string(i), [&, i](Client& self) -> Task<void> {
        co_await Wait(self, {1_ms, 10_ms}, TimerKind::sleep);
        sent.emplace_back(self.world().now().offset(), "SET " + std::to_string(i));
        co_await self.call(connections[self.id().index], "SET", i);
      });
    }
    Server& server = test.add_server("S");
    for (const Client& client : test.clients)
      connections.push_back(test.connect(client, server, DurationRange::exactly(1_ms)));
    test.world.plan(pause_at(server, 500_us, 50_ms));
    test.start();
    test.run();
    for (std::size_t i = 0; i + 1 < sent.size(); ++i) REQUIRE(sent[i].first <= sent[i + 1].first);
    bool has_tie = false;
    for (std::size_t i = 0; i + 1 < sent.size(); ++i) has_tie = has_tie || sent[i].first == sent[i + 1].first;
    for (const auto& [at, what] : sent) by_arrival.push_back(what);
    if (!has_tie) REQUIRE(test.of("S") == by_arrival);
    orders.insert(test.of("S"));
  }
  CHECK(orders.size() > 10);
}

TEST_CASE("pause: a frozen client still starts only when it wakes") {
  TestWorld test;
  Client& a = test.add_client("A", [](Client& self) -> Task<void> {
    self.note("starts");
    co_return;
  });
  test.world.start(a.id(), DurationRange::exactly(10_ms));
  test.world.plan(pause_at(a, 5_ms, 20_ms));
  test.world.arm_faults();
  test.run();
  CHECK(test.journal.lines() == Lines{"25ms A starts"});
}

TEST_CASE("pause: the history says from when to when") {
  TwoCalls calls;
  calls.test.world.plan(pause_in_step(calls.a(), Moment::after, "SET", 100_ms));
  calls.lines();
  const auto& interruptions = calls.test.world.history().interruptions;
  REQUIRE(interruptions.size() == 1);
  CHECK(interruptions[0].kind == Interruption::Kind::pause);
  CHECK(interruptions[0].process == calls.a().id());
  CHECK(interruptions[0].from.identical(Instant::at(2_ms)));
  CHECK(interruptions[0].until->identical(Instant::at(102_ms)));
}

}  // namespace
}  // namespace lockstep::sim::pause_test
