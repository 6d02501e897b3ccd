// The world: identities, calls, timers, starting over, and instants that nobody looks into.

#include "sim/worlds/world.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <catch2/catch.hpp>

#include "sim/testing/test_world.hpp"

namespace lockstep::sim::world_test {
namespace {

using namespace testing;

/// One client, one server, a call. The outcome with its time is in the journal.
Client::Program one_call(const ConnectionId& connection, std::optional<Duration> timeout = std::nullopt) {
  return [&connection, timeout](Client& self) -> Task<void> {
    const auto answer = co_await self.call(connection, "SET", 7, timeout);
    self.note("got " + outcome(answer));
  };
}

// --- Calls.

TEST_CASE("call: a reply comes after both latencies") {
  TestWorld test;
  ConnectionId connection;
  Client& a = test.add_client("A", one_call(connection));
  connection = test.connect(a, test.add_server("S"), {3_ms, 5_ms});
  test.start();
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(test.journal.lines() == Lines{"3ms S SET 7", "6ms A got 7"});
}

TEST_CASE("call: its timeout gives up, and the reply that comes too late finds nobody") {
  TestWorld test;
  ConnectionId connection;
  Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
    self.note("first " + outcome(co_await self.call(connection, "SET", 1, 4_ms)));
    // In flight when the reply of the first one arrives, and in the same slot: it must not take that reply for its own.
    self.note("second " + outcome(co_await self.call(connection, "SET", 2, 100_ms)));
  });
  connection = test.connect(a, test.add_server("S"), DurationRange::exactly(3_ms));
  test.start();
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(test.journal.lines() == Lines{"3ms S SET 1", "4ms A first unknown", "7ms S SET 2", "10ms A second 2"});
}

TEST_CASE("call: a reply in time cancels the timeout") {
  TestWorld test;
  ConnectionId connection;
  Client& a = test.add_client("A", one_call(connection, 10_s));
  connection = test.connect(a, test.add_server("S"), DurationRange::exactly(1_ms));
  test.start();
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(test.world.now().identical(Instant::at(2_ms)));
  CHECK(test.world.pending_count() == 0);
}

TEST_CASE("call: a server that never answers keeps a patient client waiting for ever") {
  TestWorld test;
  ConnectionId connection;
  Client& a = test.add_client("A", one_call(connection));
  Server& server = test.add_server("S");
  server.is_silent = true;
  connection = test.connect(a, server, DurationRange::exactly(1_ms));
  test.start();
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(test.of("A").empty());
}

// --- Timers.

/// Writes down when its timers fire.
class Alarm final : public Process {
 public:
  class Bell final : public TimerOwner {
   public:
    void timer_fired() override { ++rings; }
    int rings = 0;
  };
  void start() override {
    first = world().set_timer(id(), DurationRange::exactly(5_ms), TimerKind::sleep, bells[0]);
    second = world().set_timer(id(), DurationRange::exactly(6_ms), TimerKind::sleep, bells[1]);
    world().cancel_timer(first);
    world().cancel_timer(first);
    world().cancel_timer({});
    // Takes the slot of the one that was cancelled.
    third = world().set_timer(id(), DurationRange::exactly(7_ms), TimerKind::sleep, bells[2]);
    world().cancel_timer(first);
  }
  TimerRef first, second, third;
  Bell bells[3];
};

TEST_CASE("timer: a cancelled one is silent, and cancelling it again does not hit who has its slot now") {
  TestWorld test;
  Alarm alarm;
  test.world.add(alarm, "alarm", {});
  test.world.start(alarm.id(), DurationRange::exactly(0_ms));
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(alarm.first.slot == alarm.third.slot);
  CHECK(alarm.bells[0].rings == 0);
  CHECK(alarm.bells[1].rings == 1);
  CHECK(alarm.bells[2].rings == 1);
  test.world.cancel_timer(alarm.third);
  CHECK(test.world.events_executed() == 3);
}

// --- Identity.

/// "name of event" -> identity, for all messages of one client.
std::map<std::string, std::uint64_t> identities(std::uint64_t seed, bool with_stranger) {
  RandomDecisions decisions(seed);
  TestWorld test(decisions);
  test.world.enable_trace();
  ConnectionId to_first, to_second, of_stranger;
  Client& a = test.add_client("A", [&](Client& self) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      co_await self.call(to_first, "X", i);
      co_await Wait(self, {1_ms, 9_ms}, TimerKind::sleep);
      co_await self.call(to_second, "Y", i);
    }
  });
  Client& b = test.add_client("B", [&](Client& self) -> Task<void> {
    if (!with_stranger) co_return;
    for (int i = 0; i < 20; ++i) co_await self.call(of_stranger, "Z", i);
  });
  Server& s = test.add_server("S");
  Server& t = test.add_server("T");
  to_first = test.connect(a, s, {1_ms, 5_ms});
  to_second = test.connect(a, t, {1_ms, 5_ms});
  of_stranger = test.connect(b, s, {1_ms, 2_ms});
  test.start();
  test.run();
  std::map<std::string, std::uint64_t> found;
  for (const TraceRecord& record : test.world.trace().records) {
    if (record.kind != EventKind::message || record.text.starts_with('Z')) continue;
    found[record.text + (record.is_reply ? " reply" : "")] = record.id.value;
  }
  return found;
}

TEST_CASE("identity: it is the same whatever the delays, and whatever unrelated processes do") {
  const auto reference = identities(1, false);
  CHECK(reference.size() == 12);
  for (std::uint64_t seed = 2; seed < 50; ++seed) {
    CHECK(identities(seed, false) == reference);
    CHECK(identities(seed, true) == reference);
  }
}

TEST_CASE("identity: no two events of a run have the same") {
  RandomDecisions decisions(3);
  TestWorld test(decisions);
  test.world.enable_trace();
  std::vector<ConnectionId> connections;
  for (int i = 0; i < 5; ++i) {
    test.add_client("C" + std::to_string(i), [&](Client& self) -> Task<void> {
      for (int round = 0; round < 100; ++round) co_await self.call(connections[self.id().index], "SET", round, 4_ms);
    });
  }
  Server& server = test.add_server("S");
  for (const Client& client : test.clients) connections.push_back(test.connect(client, server, {1_ms, 5_ms}));
  test.start();
  test.run();
  std::vector<std::uint64_t> ids;
  for (const TraceRecord& record : test.world.trace().records) ids.push_back(record.id.value);
  CHECK(ids.size() > 1'000);
  std::sort(ids.begin(), ids.end());
  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
}

TEST_CASE("identity: the cause of an event is the step that emitted it") {
  TestWorld test;
  test.world.enable_trace();
  ConnectionId connection;
  Client& a = test.add_client("A", one_call(connection));
  connection = test.connect(a, test.add_server("S"), DurationRange::exactly(1_ms));
  test.start();
  test.run();
  const auto& records = test.world.trace().records;
  REQUIRE(records.size() == 3);
  CHECK(records[0].cause == 0);
  CHECK(records[1].cause == records[0].step);
  CHECK(records[2].cause == records[1].step);
}

// --- Lifetimes.

TEST_CASE("world: it may die in the middle of anything, before or after its processes and its scheduler") {
  const auto program = [](Client& self) -> Task<void> { co_await self.sleep(1_s); };
  Journal journal;
  DefaultDecisions decisions;
  SECTION("processes last") {
    Client client(journal, program);
    World world(decisions);
    Simulation simulation(world);
    world.add(client, "A", {});
    world.start(client.id(), DurationRange::exactly(0_ms));
    simulation.step();
  }
  SECTION("processes first") {
    World world(decisions);
    Simulation simulation(world);
    Client client(journal, program);
    world.add(client, "A", {});
    world.start(client.id(), DurationRange::exactly(0_ms));
    simulation.step();
  }
  SECTION("the scheduler first of all") {
    World world(decisions);
    Client client(journal, program);
    Simulation simulation(world);
    world.add(client, "A", {});
    world.start(client.id(), DurationRange::exactly(0_ms));
    simulation.step();
  }
}

/// Keeps every request for later.
class Hoarder final : public Process {
 public:
  void receive(Message& request, ConnectionId) override { requests.push_back(world().make<Note>(request.name(), 1)); }
  void reset() override { requests.clear(); }
  std::vector<MessagePtr> requests;
};

TEST_CASE("world: a process that holds messages may do so until the world starts over or ends") {
  Hoarder hoarder;
  {
    TestWorld test;
    ConnectionId connection;
    Client& a = test.add_client("A", one_call(connection));
    test.world.add(hoarder, "H", {});
    connection = test.connect(a, hoarder, DurationRange::exactly(1_ms));
    for (int i = 0; i < 3; ++i) {
      test.start();
      test.run();
      CHECK(hoarder.requests.size() == 1);
      if (i < 2) test.simulation.restart();
    }
  }
  CHECK(hoarder.requests.empty());
}

// --- Symbolic instants.

/// Anchors every event at itself, as an explorer would: no two instants can be compared without asking.
class SymbolicScheduler final : public Scheduler {
 public:
  explicit SymbolicScheduler(World& world) : world_(world) { world.set_scheduler(*this); }
  void emitted(std::uint32_t slot) override { pending_.push_back(slot); }
  void cancelled(std::uint32_t slot) override { std::erase(pending_, slot); }
  void postponed(std::uint32_t, Duration) override {}
  bool is_at_or_after(Instant a, Instant b) override {
    ++questions;
    return value_of(a) >= value_of(b);
  }
  Instant later_of(Instant a, Instant b) override { return value_of(a) >= value_of(b) ? a : b; }

  void run() {
    while (!pending_.empty()) {
      const std::uint32_t slot = pending_.front();
      pending_.erase(pending_.begin());
      // An event's time: that of its base, plus the shortest delay; kept here, where nobody else can see it.
      times_.push_back(value_of(world_.event(slot).base) + world_.event(slot).delay.lo);
      world_.execute(slot, Instant(static_cast<std::uint32_t>(times_.size()), Duration::zero()));
    }
  }
  int questions = 0;

 private:
  Duration value_of(Instant i) const { return (i.anchor() == 0 ? 0_ms : times_[i.anchor() - 1]) + i.offset(); }

  World& world_;
  std::vector<std::uint32_t> pending_;
  std::vector<Duration> times_;
};

TEST_CASE("instant: whoever compares two of different events asks the scheduler, and never looks at the offsets") {
  DefaultDecisions decisions;
  World world(decisions);
  SymbolicScheduler scheduler(world);
  Journal journal;
  Server server(journal);
  ConnectionId connection;
  std::vector<bool> answers;
  int questions_for_same_event = -1;
  Client client(journal, [&](Client& self) -> Task<void> {
    const Instant deadline = self.clock().now() + 5_ms;
    const int before = scheduler.questions;
    answers.push_back(self.clock().has_reached(deadline));  // the same event: the offsets say it
    questions_for_same_event = scheduler.questions - before;
    co_await self.call(connection, "GET", 1);  // 4 ms
    answers.push_back(self.clock().has_reached(deadline));
    answers.push_back(self.clock().has_passed(deadline - 3_ms));
    co_await self.sleep(1_ms);
    answers.push_back(self.clock().has_reached(deadline));
    answers.push_back(self.clock().has_passed(deadline));
    answers.push_back(self.world().is_at_or_after(self.world().now(), Instant::at(5_ms)));
  });
  world.add(client, "A", {.offset = 100_ms, .drift_ppb = 0, .uptime = 0_ms});
  world.add(server, "S", {});
  connection = world.connect(client.id(), server.id(), DurationRange::exactly(2_ms));
  world.start(client.id(), DurationRange::exactly(0_ms));
  scheduler.run();
  CHECK(answers == std::vector<bool>{false, false, true, true, false, true});
  CHECK(questions_for_same_event == 0);
  CHECK(scheduler.questions == 5);
}

}  // namespace
}  // namespace lockstep::sim::world_test
