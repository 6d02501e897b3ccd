// Crashes, restarts, jumps, lost and late messages, partitions.

#include <algorithm>
#include <array>

#include <catch2/catch.hpp>

#include "sim/testing/test_world.hpp"

namespace lockstep::sim::faults_test {
namespace {

using namespace testing;

PlannedFault message_fault(const Process& process, PlannedFault::Kind kind, std::string step, bool of_reply,
                           Duration length = Duration::zero()) {
  PlannedFault fault;
  fault.kind = kind;
  fault.process = process.id();
  fault.step = std::move(step);
  fault.of_reply = of_reply;
  fault.length = length;
  return fault;
}

/// A calls S three times, one millisecond each way, with a timeout of ten.
struct ThreeCalls {
  explicit ThreeCalls(std::optional<Duration> timeout = 10_ms) {
    test.add_client("A", [this, timeout](Client& self) -> Task<void> {
      for (int i = 1; i <= 3; ++i) {
        const auto answer = co_await self.call(connection, "SET", i, timeout);
        self.note(std::to_string(i) + " " + outcome(answer));
      }
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

// --- Crashes.

TEST_CASE("crash: a dead server resets the connection, and the outcome is unknown") {
  ThreeCalls calls(std::nullopt);
  calls.test.world.plan(crash_at(calls.s(), 500_us));
  CHECK(calls.lines() == Lines{"0.5ms S crashes", "2ms A 1 unknown", "4ms A 2 unknown", "6ms A 3 unknown"});
}

TEST_CASE("crash: a request that was under way meets no memory of its connection after a restart") {
  ThreeCalls calls(std::nullopt);
  calls.test.world.plan(crash_at(calls.s(), 500_us, 200_us));
  CHECK(calls.lines() == Lines{"0.5ms S crashes", "0.7ms S starts", "2ms A 1 unknown", "3ms S SET 2", "4ms A 2 2",
                               "5ms S SET 3", "6ms A 3 3"});
}

TEST_CASE("crash: a reply that has left arrives") {
  ThreeCalls calls;
  calls.test.world.plan(crash_at(calls.s(), 1500_us));
  const Lines lines = calls.lines();
  CHECK(lines[2] == "2ms A 1 1");
  CHECK(lines[3] == "4ms A 2 unknown");
}

TEST_CASE("crash: of a client destroys its program, and a restart begins it anew") {
  int alive = 0;
  ConnectionId connection;
  TestWorld test;
  struct Token {
    explicit Token(int& n) : alive(n) { ++alive; }
    ~Token() { --alive; }
    int& alive;
  };
  Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
    const Token token(alive);
    self.note("begins");
    self.note(outcome(co_await self.call(connection, "SET", 1)));
    co_await self.sleep(1_s);
  });
  connection = test.connect(a, test.add_server("S"), DurationRange::exactly(2_ms));
  test.world.plan(crash_at(a, 3_ms, 7_ms));
  test.start();
  test.run(9_ms);
  CHECK(alive == 0);
  // The reply to the call of the first life came at 4 ms, to nobody.
  CHECK(test.journal.lines() == Lines{"0ms A begins", "2ms S SET 1"});
  test.run(500_ms);
  CHECK(alive == 1);
  CHECK(test.of("A") == Lines{"begins", "begins", "1"});
  REQUIRE(test.world.history().interruptions.size() == 1);
  CHECK(test.world.history().interruptions[0].until->identical(Instant::at(10_ms)));
}

/// A listens at S from 2 ms on, dies at 10 ms, and may come back, to no more than ask; B says something at three times.
struct Listening {
  explicit Listening(std::optional<Duration> restart_after = std::nullopt) {
    Client& a = test.add_client("A", [this](Client& self) -> Task<void> {
      const bool is_first = ++lives == 1;
      co_await self.call(connections[0], is_first ? "LISTEN" : "ASK", 1);
    });
    Client& b = test.add_client("B", [this](Client& self) -> Task<void> {
      for (std::int64_t i = 1; i <= 3; ++i) {
        co_await self.sleep(2_ms);
        co_await self.call(connections[1], "SAY", i);
      }
    });
    Server& s = test.add_server("S");
    connections[0] = test.connect(a, s, DurationRange::exactly(2_ms));
    connections[1] = test.connect(b, s, DurationRange::exactly(1_ms));
    test.world.plan(crash_at(a, 10_ms, restart_after));
  }
  Lines lines() {
    test.start();
    test.run();
    return test.journal.lines();
  }

  TestWorld test;
  std::array<ConnectionId, 2> connections;
  int lives = 0;
};

TEST_CASE("crash: a server hears of its client's death when the FIN arrives, and says no more on that connection") {
  CHECK(Listening().lines() == Lines{"2ms S LISTEN 1", "3ms S SAY 1", "5ms A hears said 1", "7ms S SAY 2",
                                     "9ms A hears said 2", "11ms S SAY 3", "12ms S is left"});
}

TEST_CASE("crash: who comes back does not hear what was for the life before") {
  // What was said at 11 ms arrives at 13 ms, where somebody lives again.
  CHECK(Listening(1_ms).lines() == Lines{"2ms S LISTEN 1", "3ms S SAY 1", "5ms A hears said 1", "7ms S SAY 2",
                                         "9ms A hears said 2", "11ms S SAY 3", "12ms S is left", "13ms S ASK 1"});
}

TEST_CASE(
    "crash: of a dead client its dead server hears nothing, and one that a partition separates when it has healed") {
  Listening dead;
  dead.test.world.plan(crash_at(dead.test.servers[0], 11500_us, 0_ms));
  CHECK(dead.lines().back() == "11.5ms S starts");
  for (const bool heals : {true, false}) {
    Listening separated;
    Partition partition{
        {{separated.test.clients[0].id()}, {separated.test.servers[0].id()}}, Instant::at(9500_us), std::nullopt};
    if (heals) partition.until = Instant::at(20_ms);
    separated.test.world.plan(std::move(partition));
    CHECK(separated.lines().back() == (heals ? "22ms S is left" : "11ms S SAY 3"));
  }
}

TEST_CASE("crash: where nothing but requests and replies was, nobody is told") {
  ThreeCalls calls;
  calls.test.world.plan(crash_at(calls.a(), 2500_us));
  for (const std::string& line : calls.lines()) CHECK(line.find("is left") == std::string::npos);
}

TEST_CASE("crash: at a moment of a step") {
  for (const Moment moment : {Moment::before, Moment::sent, Moment::after}) {
    ThreeCalls calls;
    PlannedFault fault = crash_at(calls.a(), 0_ms);
    fault.at.reset();
    fault.step = "SET";
    fault.moment = moment;
    fault.occurrence = 2;
    calls.test.world.plan(fault);
    const Lines lines = calls.lines();
    switch (moment) {
      case Moment::before: CHECK(lines == Lines{"1ms S SET 1", "2ms A 1 1"}); break;
      case Moment::sent: CHECK(lines == Lines{"1ms S SET 1", "2ms A 1 1", "3ms S SET 2"}); break;
      // The code behind the reply has run, but its request never left.
      case Moment::after: CHECK(lines == Lines{"1ms S SET 1", "2ms A 1 1", "3ms S SET 2", "4ms A 2 2"}); break;
    }
  }
}

TEST_CASE("crash: what a pause kept from leaving never leaves") {
  ThreeCalls calls;
  calls.test.world.plan(pause_in_step(calls.a(), Moment::after, "SET", 100_ms));
  calls.test.world.plan(crash_at(calls.a(), 50_ms));
  CHECK(calls.lines() == Lines{"1ms S SET 1", "2ms A 1 1"});
}

/// A planned fault can strike while it handles its first request: what it answers then stays behind.
class Fragile final : public Process {
 public:
  void receive(Message& request, ConnectionId connection) override {
    world().reach(id(), "handling", Moment::before);
    world().send_reply(connection, request, world().make<Note>(request.name(), static_cast<Note&>(request).content));
  }
};

TEST_CASE("crash: what never leaves holds nobody up") {
  TestWorld test;
  ConnectionId connection;
  Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
    for (int i = 1; i <= 3; ++i) self.note(outcome(co_await self.call(connection, "SET", i, 10_ms)));
  });
  Fragile fragile;
  test.world.add(fragile, "S", {});
  connection = test.connect(a, fragile, DurationRange::exactly(1_ms));
  // It answers in a pause, so its answer would leave after a second. It dies; after its restart it answers at once.
  test.world.plan(pause_in_step(fragile, Moment::before, "handling", 1_s));
  test.world.plan(crash_at(fragile, 5_ms, 1_ms));
  test.start();
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(test.journal.lines() == Lines{"10ms A unknown", "12ms A 2", "14ms A 3"});
}

TEST_CASE("crash: data that survive are told so, a second crash of the dead changes nothing") {
  ThreeCalls calls;
  PlannedFault fault = crash_at(calls.s(), 500_us, 10_ms);
  fault.keep = true;
  calls.test.world.plan(fault);
  calls.test.world.plan(crash_at(calls.s(), 5_ms, 1_ms));
  CHECK(calls.test.world.history().interruptions.empty());
  const Lines lines = calls.lines();
  CHECK(calls.test.of("S").front() == "crashes, data kept");
  CHECK(calls.test.world.history().interruptions.size() == 1);
  CHECK(std::count(lines.begin(), lines.end(), "10.5ms S starts") == 1);
}

TEST_CASE("crash: before its start, a process never starts") {
  TestWorld test;
  Client& a = test.add_client("A", [](Client& self) -> Task<void> {
    self.note("starts");
    co_return;
  });
  test.world.start(a.id(), DurationRange::exactly(10_ms));
  test.world.plan(crash_at(a, 5_ms));
  test.world.arm_faults();
  test.run();
  CHECK(test.journal.lines().empty());
}

TEST_CASE("crash: it ends a pause; the restarted process is not frozen") {
  TestWorld test;
  Client& a = test.add_client("A", [](Client& self) -> Task<void> {
    co_await self.sleep(10_ms);
    self.note("awake");
  });
  test.world.plan(pause_at(a, 5_ms, 10_s));
  test.world.plan(crash_at(a, 20_ms, 5_ms));
  test.start();
  test.run();
  CHECK(test.journal.lines() == Lines{"35ms A awake"});
}

// --- Messages.

TEST_CASE("lose: a lost request is never handled, a lost reply was") {
  for (const bool of_reply : {false, true}) {
    ThreeCalls calls;
    PlannedFault fault = message_fault(calls.a(), PlannedFault::Kind::lose, "SET", of_reply);
    fault.occurrence = 2;
    calls.test.world.plan(fault);
    const Lines lines = calls.lines();
    CHECK(calls.test.of("A") == Lines{"1 1", "2 unknown", "3 3"});
    CHECK(calls.test.of("S") == (of_reply ? Lines{"SET 1", "SET 2", "SET 3"} : Lines{"SET 1", "SET 3"}));
    CHECK(lines[of_reply ? 3 : 2] == "12ms A 2 unknown");
  }
}

TEST_CASE("lose: the trace shows what never arrived") {
  ThreeCalls calls;
  calls.test.world.enable_trace();
  calls.test.world.plan(message_fault(calls.a(), PlannedFault::Kind::lose, "SET", false));
  calls.lines();
  const auto& records = calls.test.world.trace().records;
  CHECK(std::count_if(records.begin(), records.end(),
                      [](const TraceRecord& r) { return r.lost && r.text == "SET 1"; }) == 1);
}

TEST_CASE("delay: one message comes that much later, and what is behind it on its connection waits") {
  TestWorld test;
  ConnectionId connection;
  ConnectionId other;
  Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
    for (int i = 1; i <= 2; ++i) self.world().send_request(connection, self.world().make<Note>("SET", i));
    self.world().send_request(other, self.world().make<Note>("PING", 3));
    co_return;
  });
  Server& server = test.add_server("S");
  server.is_silent = true;
  connection = test.connect(a, server, DurationRange::exactly(1_ms));
  other = test.connect(a, server, DurationRange::exactly(1_ms));
  test.world.plan(message_fault(a, PlannedFault::Kind::delay, "SET", false, 30_ms));
  test.start();
  test.run();
  CHECK(test.journal.lines() == Lines{"1ms S PING 3", "31ms S SET 1", "31ms S SET 2"});
}

// --- Partitions.

/// A sends message i at i milliseconds, one millisecond away from S, which is silent.
struct Ticks {
  Ticks() {
    test.add_client("A", [this](Client& self) -> Task<void> {
      for (int i = 0; i < 60; ++i) {
        self.world().send_request(connection, self.world().make<Note>("T", i));
        co_await self.sleep(1_ms);
      }
    });
    Server& server = test.add_server("S");
    server.is_silent = true;
    connection = test.connect(test.clients[0], server, DurationRange::exactly(500_us));
  }
  void cut(Duration from, std::optional<Duration> until, bool swapped = false) {
    Partition partition{{{test.clients[0].id()}, {test.servers[0].id()}}, Instant::at(from), std::nullopt};
    if (until) partition.until = Instant::at(*until);
    if (swapped) std::swap(partition.sides.left, partition.sides.right);
    test.world.plan(std::move(partition));
  }
  /// When message i arrived.
  std::string arrival(int i) {
    if (test.journal.lines().empty()) {
      test.start();
      test.run();
    }
    const std::string end = " S T " + std::to_string(i);
    for (const std::string& line : test.journal.lines()) {
      if (line.ends_with(end)) return line.substr(0, line.size() - end.size());
    }
    return "never";
  }
  TestWorld test;
  ConnectionId connection;
};

TEST_CASE("partition: what is sent in it arrives when it has healed") {
  for (const bool swapped : {false, true}) {
    Ticks ticks;
    ticks.cut(10_ms, 20_ms, swapped);
    CHECK(ticks.arrival(9) == "9.5ms");
    CHECK(ticks.arrival(10) == "20.5ms");
    CHECK(ticks.arrival(19) == "20.5ms");
    CHECK(ticks.arrival(20) == "20.5ms");
    CHECK(ticks.arrival(21) == "21.5ms");
  }
}

TEST_CASE("partition: without an end it loses") {
  Ticks ticks;
  ticks.cut(10_ms, std::nullopt);
  CHECK(ticks.arrival(9) == "9.5ms");
  CHECK(ticks.arrival(10) == "never");
  CHECK(ticks.arrival(59) == "never");
}

TEST_CASE("partition: several in a row, in whatever order they were planned") {
  for (const bool late_one_first : {false, true}) {
    Ticks ticks;
    if (late_one_first) ticks.cut(30_ms, 40_ms);
    ticks.cut(10_ms, 20_ms);
    if (!late_one_first) ticks.cut(30_ms, 40_ms);
    CHECK(ticks.arrival(15) == "20.5ms");
    CHECK(ticks.arrival(25) == "25.5ms");
    CHECK(ticks.arrival(35) == "40.5ms");
    CHECK(ticks.arrival(45) == "45.5ms");
  }
}

TEST_CASE("partition: who waited for one to heal may meet the next") {
  for (const bool late_one_first : {false, true}) {
    Ticks ticks;
    if (late_one_first) ticks.cut(20_ms, 30_ms);
    ticks.cut(10_ms, 20_ms);
    if (!late_one_first) ticks.cut(20_ms, 30_ms);
    CHECK(ticks.arrival(15) == "30.5ms");
    CHECK(ticks.arrival(25) == "30.5ms");
  }
  Ticks ticks;
  ticks.cut(10_ms, 20_ms);
  ticks.cut(15_ms, std::nullopt);
  CHECK(ticks.arrival(12) == "never");
}

TEST_CASE("partition: in the middle of a run it holds up what another still keeps from leaving") {
  Ticks ticks;
  ticks.cut(5_ms, 10_ms);
  ticks.test.start();
  ticks.test.run(8_ms);
  ticks.cut(10_ms, 20_ms);
  ticks.test.run();
  CHECK(ticks.arrival(4) == "4.5ms");
  CHECK(ticks.arrival(5) == "20.5ms");
  CHECK(ticks.arrival(8) == "20.5ms");
}

TEST_CASE("partition: what it holds up once more need not wait anew for a late message before it") {
  Ticks ticks;
  const Client& a = ticks.test.clients[0];
  ticks.test.world.plan(message_fault(a, PlannedFault::Kind::delay, "T", false, 30_ms));
  ticks.cut(5_ms, 10_ms);
  ticks.test.start();
  ticks.test.run(8_ms);
  ticks.cut(10_ms, 20_ms);
  ticks.test.run();
  CHECK(ticks.arrival(0) == "30.5ms");
  CHECK(ticks.arrival(5) == "30.5ms");
  CHECK(ticks.arrival(31) == "31.5ms");
}

TEST_CASE("partition: it cuts only between its sides") {
  ThreeCalls calls;
  Partition partition{{{calls.a().id()}, {calls.a().id()}}, Instant::origin(), std::nullopt};
  calls.test.world.plan(std::move(partition));
  CHECK(calls.lines().size() == 6);
}

TEST_CASE("partition: a reset by a dead server does not pass it either") {
  ThreeCalls calls(std::nullopt);
  calls.test.world.plan(crash_at(calls.s(), 100_us));
  calls.test.world.plan(Partition{{{calls.a().id()}, {calls.s().id()}}, Instant::at(500_us), Instant::at(50_ms)});
  CHECK(calls.lines()[1] == "51ms A 1 unknown");
}

}  // namespace
}  // namespace lockstep::sim::faults_test
