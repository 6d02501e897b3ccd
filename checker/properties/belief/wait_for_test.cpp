// Wants and holds, who waits for whom, and the circles: by hand and against brute force.

#include "checker/properties/belief/wait_for.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "checker/testing/forged_history.hpp"
#include "checker/testing/pairwise_beliefs.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::wait_for_test {
namespace {

using namespace sim::literals;
using sim::ProcessId;

class Story : public ForgedHistory {
 public:
  sim::OperationId attempt(ProcessId who, Phase phase, const std::string& object = "x") {
    const Duration invoked = next();
    return operation(who, "acquire", invoked, next(), phase, 0, object);
  }
  Duration next() { return Duration::milliseconds(++now_); }

 private:
  std::int64_t now_ = 0;
};

Duration end_of(const Want& want) {
  REQUIRE(want.until);
  return want.until->at.offset();
}

}  // namespace

TEST_CASE("wait-for: attempts in a row are one want, until the lock is there") {
  Story story;
  story.attempt(A, Phase::fail);    // 1 to 2
  story.attempt(B, Phase::ok);      // 3 to 4
  story.attempt(A, Phase::info);    // 5 to 6
  story.attempt(A, Phase::ok);      // 7 to 8
  story.attempt(A, Phase::invoke);  // 9: for ever
  const std::vector<Want> wants = collect_wants(story.history());
  REQUIRE(wants.size() == 3);
  CHECK(wants[0].process == A);
  CHECK(wants[0].from.offset() == 1_ms);
  CHECK(end_of(wants[0]) == 8_ms);
  CHECK(end_of(wants[1]) == 4_ms);
  CHECK(wants[2].from.offset() == 9_ms);
  CHECK_FALSE(wants[2].until);
}

TEST_CASE("wait-for: whatever else a process does shows that it had given up") {
  Story story;
  story.attempt(A, Phase::fail);  // 1 to 2
  SECTION("another lock") { story.attempt(A, Phase::fail, "y"); }
  SECTION("a release") { story.operation(A, "release", 3_ms, 4_ms, Phase::ok, 0, "y"); }
  SECTION("a read") { story.operation(A, "read", 3_ms, 4_ms, Phase::ok, 0, "resource"); }
  SECTION("nothing any more") {}
  SECTION("a crash, and then another attempt") {
    story.crash(A, 3_ms, 4_ms);
    story.attempt(A, Phase::fail);
  }
  CHECK(end_of(collect_wants(story.history()).front()) == 2_ms);
}

TEST_CASE("wait-for: a crash ends an attempt that is under way") {
  Story story;
  story.attempt(A, Phase::invoke);
  story.crash(B, 5_ms);
  story.crash(A, 7_ms);
  story.crash(A, 9_ms);
  CHECK(end_of(collect_wants(story.history()).front()) == 7_ms);
}

TEST_CASE("wait-for: an interval ends with the first of want, hold and deadline") {
  Story story;
  const sim::OperationId hold = story.attempt(A, Phase::ok);  // 1 to 2
  story.attempt(B, Phase::fail);                              // 3 to 4
  const auto interval = [&] {
    const Waits waits = collect_waits(story.history());
    const auto found = std::find_if(waits.possible.begin(), waits.possible.end(),
                                    [&](const Wait& wait) { return waits.waiter(wait) == B; });
    REQUIRE(found != waits.possible.end());
    return pairwise::interval_of(waits, *found);
  };
  CHECK(interval().from.offset() == 3_ms);
  CHECK(interval().to->offset() == 4_ms);
  story.attempt(B, Phase::fail);  // 5 to 6
  CHECK(interval().to->offset() == 6_ms);
  story.attempt(B, Phase::invoke);
  CHECK_FALSE(interval().to);
  story.release(A, hold, 20_ms);
  CHECK(interval().to->offset() == 20_ms);
  story.of(hold).valid_until = sim::Instant::at(10_ms);
  CHECK(interval().to->offset() == 10_ms);
  // Half-open; a length has room up to the end.
  CHECK(interval().lasts(sim::Instant::at(3_ms), 7_ms));
  CHECK_FALSE(interval().lasts(sim::Instant::at(3_ms), 8_ms));
  CHECK(interval().lasts(sim::Instant::at(9_ms), 0_ms));
  CHECK_FALSE(interval().lasts(sim::Instant::at(10_ms), 0_ms));
  CHECK_FALSE(interval().lasts(sim::Instant::at(2_ms), 1_ms));
}

TEST_CASE("wait-for: the graph as DOT, circles in red") {
  const std::vector<WaitFor> edges{{A, B, "y"}, {B, A, "x \"1\""}, {D, A, "x"}};
  CHECK(wait_for_dot(edges, forged_names()) == R"(digraph wait_for {
  node [shape=box, fontname="sans-serif"];
  edge [fontname="sans-serif"];
  0 [label="A", color=red, fontcolor=red];
  1 [label="B", color=red, fontcolor=red];
  2 [label="D"];
  0 -> 1 [label="y", color=red, fontcolor=red];
  1 -> 0 [label="x \"1\"", color=red, fontcolor=red];
  2 -> 0 [label="x"];
}
)");
  CHECK(sentence_of(edges[0], forged_names()) == "A waits for y, which B holds");
  CHECK(sentence_of({A, A, "x"}, forged_names()) == "A waits for x, which it holds itself");
}

TEST_CASE("wait-for: readers that all want to write are more circles than anybody lists") {
  std::vector<WaitFor> edges;
  constexpr std::uint16_t readers = 12;
  for (std::uint16_t i = 0; i < readers; ++i) {
    for (std::uint16_t j = 0; j < readers; ++j) edges.push_back({ProcessId{i}, ProcessId{j}, "lock"});
  }
  const WaitCycles cycles = wait_for_cycles(edges);
  CHECK_FALSE(cycles.all);
  CHECK(cycles.cycles.size() == 1'000);
}

// --- Against brute force.

namespace {

/// Every walk without repetition that comes back to where it began, begun at its smallest process.
void walk(const std::vector<WaitFor>& edges, WaitCycle& path, std::set<WaitCycle>& found) {
  for (const WaitFor& edge : edges) {
    if (edge.waiter != path.back()) continue;
    if (edge.holder == path.front()) found.insert(path);
    if (edge.holder <= path.front() || std::find(path.begin(), path.end(), edge.holder) != path.end()) continue;
    path.push_back(edge.holder);
    walk(edges, path, found);
    path.pop_back();
  }
}

}  // namespace

TEST_CASE("wait-for: random graphs have the circles that brute force finds") {
  std::size_t largest = 0;
  std::size_t without = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    sim::Random random(sim::combine64(0x776169, seed));
    const std::uint64_t processes = 1 + random.below(6);
    std::vector<WaitFor> edges;
    for (std::uint64_t n = random.below(10); n > 0; --n) {
      edges.push_back({ProcessId{static_cast<std::uint16_t>(random.below(processes))},
                       ProcessId{static_cast<std::uint16_t>(random.below(processes))},
                       std::string(1, static_cast<char>('x' + random.below(2)))});
    }
    std::set<WaitCycle> expected;
    for (std::uint16_t p = 0; p < processes; ++p) {
      WaitCycle path{ProcessId{p}};
      walk(edges, path, expected);
    }
    INFO("seed " << seed);
    const WaitCycles found = wait_for_cycles(edges);
    REQUIRE(found.all);
    REQUIRE(std::set<WaitCycle>(found.cycles.begin(), found.cycles.end()) == expected);
    REQUIRE(found.cycles.size() == expected.size());
    without += expected.empty() ? 1 : 0;
    for (const WaitCycle& cycle : found.cycles) largest = std::max(largest, cycle.size());
  }
  CHECK(without > 200);
  CHECK(without < 1'800);
  CHECK(largest >= 4);
}

}  // namespace lockstep::checker::wait_for_test
