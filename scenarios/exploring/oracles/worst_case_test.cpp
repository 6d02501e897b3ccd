// How long several hold a lock at once, at worst: worked out on paper first.

#include <catch2/catch.hpp>
#include <string>

#include "checker/testing/forged_history.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/exploring/judging/how_long.hpp"
#include "scenarios/testing/broken_search.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::worst_case_test {
namespace {

using checker::JudgingMutant;
using checker::Verdict;
using sim::Duration;
using namespace sim::literals;
using testing::catalogue;
using testing::parsed;

/// Redisson with a lease of 10s, without a watchdog: a holder does not look whether its lease is over.
std::string redisson(const std::string& latency, const std::string& holds, const std::string& more) {
  return "[lock]\nalgorithm = \"redisson-lock\"\nlease = \"10s\"\nwait = \"0s\"\n[network]\nlatency = " + latency +
         "\n[[client]]\nname = \"A\"\nacquire_at = [\"0s\", \"10s\"]\nhold = " + holds +
         "\n[[client]]\nname = \"B\"\nacquire_at = [\"10s\", \"20s\"]\nhold = [\"2s\", \"15s\"]\n" + more;
}

ExploredProperty exclusion_of(const std::string& story, JudgingMutant mutant = JudgingMutant::none) {
  CheckOptions options;
  options.exploration.alter_search = testing::broken(mutant);
  auto result = check(parsed(story), catalogue(), options);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  ExploredProperty property = std::get<Exploration>(result).property("mutual-exclusion");
  CHECK(property.verdict == Verdict::violated);
  REQUIRE(property.worst);
  return property;
}

WorstCase worst_of(const std::string& story) {
  const ExploredProperty property = exclusion_of(story);
  CHECK_FALSE(property.is_disputed);
  CHECK(property.worst->is_exact);
  CHECK(property.worst->shown <= property.worst->longest);
  CHECK(property.worst->shown >= property.worst->longest - 1_us);
  return *property.worst;
}

/// Three that take turns, each as its lease of 10s is over.
const std::string kThree =
    "[lock]\nalgorithm = \"redisson-lock\"\nlease = \"10s\"\nwait = \"0s\"\n[network]\nlatency = \"1ms\"\n"
    "[[client]]\nname = \"A\"\nhold = \"11s\"\n[[client]]\nname = \"B\"\nacquire_at = [\"10s\", \"10100ms\"]\n"
    "hold = \"18s\"\n[[client]]\nname = \"C\"\nacquire_at = [\"20s\", \"20200ms\"]\nhold = \"18s\"\n";

}  // namespace

// Whoever holds it second is granted it at s + 10s at the earliest, when the first was at s: it knows after d4. The
// first knew it at s + d2, and works for its 15s: 15s + d2 - (10s + d4), with latencies of 1ms to 5ms 5s and 4ms.
TEST_CASE("worst case: a job that outlives its lease overlaps the next one by what it takes longer") {
  CHECK(worst_of(redisson("[\"1ms\", \"5ms\"]", "[\"2s\", \"15s\"]", "")).longest == 5004_ms);
  CHECK(worst_of(redisson("\"1ms\"", "\"12s\"", "")).longest == 2_s);
}

// A pause of 5s prolongs the work of the first by as much; that of the second changes nothing, since the first ends
// before it. Where the second works for 3s, it is the other way round: the first outlives its lease by 5s, and the
// second is there for 3s or, if it is paused, for 8s.
TEST_CASE("worst case: a pause prolongs it, of whom it prolongs most") {
  const std::string pause = "[[may]]\nkind = \"pause\"\nlength = [\"0s\", \"5s\"]\n";
  CHECK(worst_of(redisson("[\"1ms\", \"5ms\"]", "[\"2s\", \"15s\"]", pause)).longest == 10'004_ms);
  std::string short_second = redisson("\"1ms\"", "\"15s\"", pause);
  short_second.replace(short_second.rfind("[\"2s\", \"15s\"]"), 13, "\"3s\"");
  CHECK(worst_of(short_second).longest == 5_s);
}

// A's 11s are 1s longer than its lease, B's 18s are 8s longer: that pair is not the first of its trace.
TEST_CASE("worst case: of several pairs the one that lasts longest counts, and runs say so") {
  CHECK(worst_of(kThree).longest == 8_s);
  CHECK(exclusion_of(kThree, JudgingMutant::first_way).is_disputed);
}

TEST_CASE("worst case: of a run, several hold it from the last of their beginnings to the first of their ends") {
  using checker::A, checker::B, checker::C, checker::D;
  checker::ForgedHistory history;
  const auto a = history.acquire(A, 10_ms);
  const auto b = history.acquire(B, 20_ms);
  const auto c = history.acquire(C, 25_ms);
  history.release(A, a, 30_ms);
  history.release(C, c, 40_ms);
  CHECK(longest_together(history.history(), 2, D) == 15_ms);  // B and C
  CHECK(longest_together(history.history(), 3, D) == 5_ms);
  CHECK(longest_together(history.history(), 4, D) == 0_ms);
  CHECK(longest_together(history.history(), 2, C) == 10_ms);  // what comes after the story does not count
  history.acquire(D, 50_ms);
  CHECK(longest_together(history.history(), 2, C) == Duration::forever());  // B and D
  history.release(B, b, 60_ms);
  CHECK(longest_together(history.history(), 2, C) == 10_ms);
}

}  // namespace lockstep::scenarios::worst_case_test
