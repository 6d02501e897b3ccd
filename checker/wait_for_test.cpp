// Who waits for whom at rest, and the circles: by hand, against brute force, and in a world whose locks really block.

#include "checker/wait_for.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <set>

#include "checker/forged_history.hpp"
#include "sim/random.hpp"
#include "sim/test_world.hpp"

namespace lockstep::checker {
namespace {

using namespace sim::literals;
using sim::ProcessId;

class Story : public ForgedHistory {
 public:
  sim::OperationId hold(ProcessId who, const std::string& object) {
    return operation(who, "acquire", next(), next(), Phase::ok, 0, object);
  }
  sim::OperationId wait(ProcessId who, const std::string& object) {
    return operation(who, "acquire", next(), 0_ms, Phase::invoke, 0, object);
  }
  void end(ProcessId who, std::string_view function, sim::OperationId hold_id, Phase phase = Phase::ok) {
    const std::string object = of(hold_id).object;
    operation(who, function, next(), next(), phase, hold_id, object);
  }
  Duration next() { return Duration::milliseconds(++now_); }
  Finding verdict() const { return no_deadlock(history(), forged_names()); }
  std::vector<WaitCycle> cycles() const { return wait_for_cycles(wait_for_relation(history())).cycles; }

 private:
  std::int64_t now_ = 0;
};

/// A holds lock1, B holds lock2.
struct Crossing : Story {
  sim::OperationId a = hold(A, "lock1");
  sim::OperationId b = hold(B, "lock2");
};

}  // namespace

TEST_CASE("no-deadlock: two locks taken in opposite orders") {
  Crossing story;
  story.wait(A, "lock2");
  story.wait(B, "lock1");
  const Finding finding = story.verdict();
  CHECK(finding.property == "no-deadlock");
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{A, B});
  CHECK(finding.why == "A waits for lock2, which B holds; B waits for lock1, which A holds");
  REQUIRE(finding.at);
  CHECK(finding.at->offset() == 6_ms);  // when B's acquire closed the circle
  CHECK(finding.evidence == std::vector<sim::Step>{2, 4, 5, 6});
}

TEST_CASE("no-deadlock: whatever ends a hold, or a waiter, opens the circle") {
  Crossing story;
  SECTION("a release, even one that is still on its way") {
    story.end(A, "release", story.a, GENERATE(Phase::ok, Phase::invoke, Phase::info));
  }
  SECTION("a notice of loss") { story.end(A, "lost", story.a); }
  SECTION("its own deadline") { story.of(story.a).valid_until = sim::Instant::at(50_ms); }
  story.wait(A, "lock2");
  story.wait(B, "lock1");
  SECTION("a crash of the holder, who is the other's waiter") { story.crash(A, 60_ms); }
  CHECK(story.verdict().verdict == Verdict::holds);
  CHECK(story.cycles().empty());
}

TEST_CASE("no-deadlock: a crash before the hold, or a pause, changes nothing") {
  Story story;
  story.crash(A, 0_ms, 0_ms);
  story.hold(A, "lock1");
  story.hold(B, "lock2");
  story.pause(A, 3_ms, 4_ms);
  story.wait(A, "lock2");
  story.wait(B, "lock1");
  CHECK(story.verdict().verdict == Verdict::violated);
}

TEST_CASE("no-deadlock: who gave up does not wait") {
  Crossing story;
  story.wait(A, "lock2");
  const auto phase = GENERATE(Phase::fail, Phase::info);
  story.operation(B, "acquire", 10_ms, 11_ms, phase, 0, "lock1");
  CHECK(story.verdict().verdict == Verdict::holds);
  CHECK(story.verdict().why == "1 process waits, none of them in a circle");
}

TEST_CASE("no-deadlock: only acquires wait, and only for the same object") {
  Crossing story;
  story.wait(A, "lock2");
  story.operation(B, "read", 9_ms, 0_ms, Phase::invoke, 0, "lock1");
  story.wait(C, "lock3");
  CHECK(story.verdict().verdict == Verdict::holds);
  CHECK(story.verdict().why == "2 processes wait, none of them in a circle; C waits for what nobody holds");
}

TEST_CASE("no-deadlock: nobody waits") {
  Crossing story;
  CHECK(story.verdict().verdict == Verdict::holds);
  CHECK(story.verdict().why == "nobody waits");
}

TEST_CASE("no-deadlock: a lock that is taken twice by one process waits for itself") {
  Story story;
  story.hold(B, "lock1");
  story.wait(B, "lock1");
  CHECK(story.cycles() == std::vector<WaitCycle>{{B}});
  CHECK(story.verdict().why == "B waits for lock1, which it holds itself");
}

TEST_CASE("no-deadlock: the shortest circle is told, the others are counted") {
  Story story;
  story.hold(C, "lock3");
  story.hold(B, "lock2");
  story.hold(D, "lock2");  // shared
  story.hold(A, "lock1");
  story.wait(A, "lock2");
  story.wait(B, "lock3");
  story.wait(C, "lock1");
  story.wait(D, "lock1");
  CHECK(story.cycles() == std::vector<WaitCycle>{{A, D}, {A, B, C}});
  CHECK(story.verdict().by == std::vector{A, D});
  CHECK(story.verdict().why ==
        "A waits for lock2, which D holds; D waits for lock1, which A holds; and 1 other circle");
}

TEST_CASE("no-deadlock: symbolic instants are not compared, and give no moment") {
  Crossing story;
  story.of(story.a).completed = sim::Instant(7, 1_ms);
  story.wait(A, "lock2");
  story.of(story.wait(B, "lock1")).invoked = sim::Instant(9, 0_ms);
  CHECK(story.verdict().verdict == Verdict::violated);
  CHECK_FALSE(story.verdict().at);
}

TEST_CASE("no-deadlock: readers that all want to write are more circles than anybody lists") {
  Story story;
  constexpr std::uint16_t readers = 12;
  for (std::uint16_t i = 0; i < readers; ++i) story.hold(ProcessId{i}, "lock");
  for (std::uint16_t i = 0; i < readers; ++i) story.wait(ProcessId{i}, "lock");
  const WaitCycles cycles = wait_for_cycles(wait_for_relation(story.history()));
  CHECK_FALSE(cycles.all);
  CHECK(cycles.cycles.size() == 1'000);
  CHECK(story.verdict().by == std::vector{A});
  CHECK(story.verdict().why == "A waits for lock, which it holds itself; and more than 999 other circles");
}

TEST_CASE("no-deadlock: the wait-for graph as DOT, circles in red") {
  Crossing story;
  story.wait(A, "lock2");
  story.wait(B, "lock1");
  story.wait(C, "lock \"1\"");
  story.wait(D, "lock1");
  CHECK(wait_for_dot(story.history(), forged_names()) == R"(digraph wait_for {
  node [shape=box, fontname="sans-serif"];
  edge [fontname="sans-serif"];
  0 [label="A", color=red, fontcolor=red];
  1 [label="B", color=red, fontcolor=red];
  2 [label="D"];
  0 -> 1 [label="lock2", color=red, fontcolor=red];
  1 -> 0 [label="lock1", color=red, fontcolor=red];
  2 -> 0 [label="lock1"];
}
)");
}

// --- Against brute force.

namespace {

using Edges = std::set<std::pair<std::uint16_t, std::uint16_t>>;

/// A random story, and beside it, kept by plain book-keeping while it is written, who waits for whom.
struct RandomStory : Story {
  explicit RandomStory(std::uint64_t seed) {
    sim::Random random(sim::combine64(0x776169, seed));
    struct Held {
      std::uint16_t who;
      std::string object;
      sim::OperationId id;
    };
    std::vector<Held> held;
    std::vector<std::optional<std::string>> waits(2 + random.below(5));
    const std::uint64_t objects = 1 + random.below(4);
    const std::uint64_t length = 4 + random.below(24);
    for (std::uint64_t i = 0; i < length; ++i) {
      const auto p = static_cast<std::uint16_t>(random.below(waits.size()));
      const std::string object = "lock" + std::to_string(random.below(objects));
      if (random.one_in(12)) {
        crash(ProcessId{p}, next());
        std::erase_if(held, [&](const Held& h) { return h.who == p; });
        waits[p].reset();
        continue;
      }
      if (waits[p]) continue;
      const auto mine = std::find_if(held.begin(), held.end(), [&](const Held& h) { return h.who == p; });
      switch (random.below(6)) {
        case 0:
        case 1: held.push_back({p, object, hold(ProcessId{p}, object)}); break;
        case 2:
        case 3:
          wait(ProcessId{p}, object);
          waits[p] = object;
          break;
        case 4: operation(ProcessId{p}, "acquire", next(), next(), Phase::fail, 0, object); break;
        case 5:
          if (mine == held.end()) break;
          end(ProcessId{p}, random.one_in(2) ? "release" : "lost", mine->id);
          held.erase(mine);
          break;
      }
    }
    for (std::uint16_t p = 0; p < waits.size(); ++p) {
      for (const Held& h : held) {
        if (waits[p] == h.object) edges.insert({p, h.who});
      }
    }
    processes = static_cast<std::uint16_t>(waits.size());
  }
  Edges edges;
  std::uint16_t processes = 0;
};

/// Every walk without repetition that comes back to where it began, begun at its smallest process.
void walk(const Edges& edges, WaitCycle& path, std::set<WaitCycle>& found) {
  for (const auto& [from, to] : edges) {
    if (from != path.back().index) continue;
    if (to == path.front().index) found.insert(path);
    if (to <= path.front().index || std::find(path.begin(), path.end(), ProcessId{to}) != path.end()) continue;
    path.push_back(ProcessId{to});
    walk(edges, path, found);
    path.pop_back();
  }
}

/// Takes away whoever waits for nobody, until none is left or all that are left wait.
bool has_topological_order(Edges edges, std::uint16_t processes) {
  std::set<std::uint16_t> left;
  for (std::uint16_t p = 0; p < processes; ++p) left.insert(p);
  while (!left.empty()) {
    const auto idle = std::find_if(left.begin(), left.end(), [&](std::uint16_t p) {
      return std::none_of(edges.begin(), edges.end(), [&](const auto& edge) { return edge.first == p; });
    });
    if (idle == left.end()) return false;
    std::erase_if(edges, [&](const auto& edge) { return edge.second == *idle; });
    left.erase(idle);
  }
  return true;
}

}  // namespace

TEST_CASE("no-deadlock: random stories have the relation, the circles and the verdict that brute force has") {
  int deadlocks = 0;
  std::size_t largest = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    const RandomStory story(seed);
    INFO("seed " << seed);
    const std::vector<WaitFor> relation = wait_for_relation(story.history());
    Edges edges;
    for (const WaitFor& wait : relation) edges.insert({wait.waiter.index, wait.holder.index});
    REQUIRE(edges == story.edges);

    std::set<WaitCycle> expected;
    for (std::uint16_t p = 0; p < story.processes; ++p) {
      WaitCycle path{ProcessId{p}};
      walk(story.edges, path, expected);
    }
    const WaitCycles found = wait_for_cycles(relation);
    REQUIRE(found.all);
    REQUIRE(std::set<WaitCycle>(found.cycles.begin(), found.cycles.end()) == expected);
    REQUIRE(found.cycles.size() == expected.size());
    const bool is_acyclic = has_topological_order(story.edges, story.processes);
    REQUIRE((story.verdict().verdict == Verdict::holds) == is_acyclic);
    deadlocks += is_acyclic ? 0 : 1;
    for (const WaitCycle& cycle : found.cycles) largest = std::max(largest, cycle.size());
  }
  CHECK(deadlocks > 300);
  CHECK(deadlocks < 2'700);
  CHECK(largest >= 4);
}

// --- A world whose locks block.

namespace {

using sim::testing::Note;
using sim::testing::TestWorld;

/// Grants a lock when it is free, and keeps the requests for it in a queue until then.
class BlockingLock final : public sim::Process {
 public:
  void receive(sim::Message& message, sim::ConnectionId connection) override {
    auto& note = static_cast<Note&>(message);
    const Request request{connection, note.call};
    if (note.name() == "LOCK") {
      queue_.push_back(request);
      if (queue_.size() == 1) grant();
    } else {
      queue_.pop_front();
      world().send_reply(connection, message, world().make<Note>("UNLOCK", 0));
      if (!queue_.empty()) grant();
    }
  }
  void reset() override { queue_.clear(); }

 private:
  struct Request {
    sim::ConnectionId connection;
    sim::CallRef call;
  };
  void grant() {
    Note request("LOCK", 0);
    request.call = queue_.front().call;
    world().send_reply(queue_.front().connection, request, world().make<Note>("LOCK", 1));
  }
  std::deque<Request> queue_;  ///< the first has the lock
};

/// Takes two locks, one after the other, works, and gives them back.
sim::Task<void> take_both(sim::testing::Client& self, const std::vector<sim::ConnectionId>& locks,
                          const std::vector<std::string>& names) {
  sim::World& world = self.world();
  std::vector<sim::OperationId> holds;
  for (std::size_t i = 0; i < 2; ++i) {
    const sim::OperationId id = world.invoke(self.id(), "acquire", names[i]);
    const auto granted = co_await self.call(locks[i], "LOCK", 0);
    world.complete(id, granted ? Phase::ok : Phase::info);
    holds.push_back(id);
    co_await self.sleep(5_ms);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const sim::OperationId id = world.invoke(self.id(), "release", names[i]);
    world.operation(id).of = holds[i];
    const auto released = co_await self.call(locks[i], "UNLOCK", 0);
    world.complete(id, released ? Phase::ok : Phase::info);
  }
}

Finding two_clients(bool opposite_orders) {
  TestWorld t;
  std::vector<sim::ConnectionId> of_a;
  std::vector<sim::ConnectionId> of_b;
  const std::vector<std::string> order_of_a{"lock1", "lock2"};
  std::vector<std::string> order_of_b = order_of_a;
  auto& a = t.add_client("A", [&](sim::testing::Client& c) { return take_both(c, of_a, order_of_a); });
  auto& b = t.add_client("B", [&](sim::testing::Client& c) { return take_both(c, of_b, order_of_b); });
  BlockingLock lock1;
  BlockingLock lock2;
  t.world.add(lock1, "lock1", {});
  t.world.add(lock2, "lock2", {});
  for (BlockingLock* lock : {&lock1, &lock2}) {
    of_a.push_back(t.connect(a, *lock, sim::DurationRange::exactly(1_ms)));
    of_b.push_back(t.connect(b, *lock, sim::DurationRange::exactly(1_ms)));
  }
  if (opposite_orders) {
    std::swap(of_b[0], of_b[1]);
    std::swap(order_of_b[0], order_of_b[1]);
  }
  t.start();
  REQUIRE(t.run() == sim::Simulation::End::quiet);
  return no_deadlock(t.world.history(), {"A", "B", "lock1", "lock2"});
}

}  // namespace

TEST_CASE("no-deadlock: two clients of two blocking locks, in opposite orders, never come to an end") {
  const Finding finding = two_clients(true);
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.why == "A waits for lock2, which B holds; B waits for lock1, which A holds");
  REQUIRE(finding.at);
  CHECK(finding.at->offset() == 7_ms);  // a round trip of 2ms, and 5ms of sleep
}

TEST_CASE("no-deadlock: in the same order both come to an end") {
  const Finding finding = two_clients(false);
  CHECK(finding.verdict == Verdict::holds);
  CHECK(finding.why == "nobody waits");
}

}  // namespace lockstep::checker
