// Formulas: those of another tool, those of arithmetic on paper, and that none is told beyond what was shown.

#include "scenarios/checking/formula.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "scenarios/checking/lengths.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::scenarios::formula_test {
namespace {

using namespace sim::literals;
using testing::catalogue;
using testing::parsed;

Formulas formulas_in(const std::string& text, std::string_view property = "mutual-exclusion") {
  return formulas_of(parsed(text), catalogue(), property, {});
}

/// Of the only formula.
std::string formula_in(const std::string& text, std::string_view property = "mutual-exclusion") {
  const Formulas found = formulas_in(text, property);
  if (found.all.empty()) return "none: " + found.why;
  std::string all;
  for (const Formula& formula : found.all) all += (all.empty() ? "" : "; ") + to_string(formula);
  return all;
}

/// The world of ../shared/peers/parametric, which IMITATOR was asked about.
std::string peer_world(const std::string& may, const std::string& ttl = "100ms") {
  return "[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"" + ttl +
         "\"\n[network]\nlatency = [\"1ms\", \"10ms\"]\n[[client]]\nname = [\"A\", \"B\"]\n"
         "acquire_at = [\"0ms\", \"1s\"]\nhold = \"20ms\"\nattempts = 1\n" +
         may;
}

const std::string kPause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";
const std::string kTwoPauses = "[[may]]\nkind = \"pause\"\ntimes = 2\nlength = [\"0ms\", \"10s\"]\n";
const std::string kJump = "[[may]]\nkind = \"jump\"\nby = [\"0ms\", \"10s\"]\n";

}  // namespace

// a1 to a5: P ≤ 71 for T = 100, H = 20, l = 1, L = 10; with T, T ≥ 29 + P; with H, T ≥ 9 + P + H; with all of them
// T + l ≥ P + H + L.
TEST_CASE("formula: pause, ttl, work and latencies, as IMITATOR has it") {
  const Formulas found = formulas_in(peer_world(kPause));
  REQUIRE(found.all.size() == 1);
  CHECK(to_string(found.all.front()) == "safe while ttl + least latency ≥ pause + greatest latency + hold");
  CHECK(found.all.front().corners >= 8);
  REQUIRE_FALSE(found.borders.empty());
  CHECK(found.borders.front().at == checker::Extent{71_ms, false});
}

// pj: P + J ≤ 71; pjt: T ≥ 29 + P + J.
TEST_CASE("formula: a pause and a jump of the server's clock, as IMITATOR has it") {
  CHECK(formula_in(peer_world(kPause + kJump)) ==
        "safe while ttl + least latency ≥ pause + greatest latency + hold + jump");
}

// b1: 2P ≤ 71.
TEST_CASE("formula: two pauses, as IMITATOR has it") {
  CHECK(formula_in(peer_world(kTwoPauses)) == "safe while ttl + least latency ≥ 2 pause + greatest latency + hold");
}

// Without faults: the lease begins when the server carries out the SET, its holder believes as late as the answer takes,
// and the next one knows as early as its own does.
TEST_CASE("formula: a lease and no fault, by hand") {
  CHECK(formula_in(peer_world("")) == "safe while ttl + least latency ≥ hold + greatest latency");
}

// Redisson's lock with a lease: the same inequality, under its names; clients that wait do not change it. The audit's
// engineer has jobs that outlive the lease: then it is shown for the shortest that the file allows.
TEST_CASE("formula: Redisson's lock with a lease, as an engineer has it") {
  const std::string text =
      "[lock]\nalgorithm = \"redisson-lock\"\nwait = \"5s\"\nlease = \"10s\"\n[network]\nlatency = [\"1ms\", \"5ms\"]\n"
      "timeout = \"3s\"\n[[client]]\nname = [\"svc1\", \"svc2\"]\nacquire_at = [\"0s\", \"10s\"]\n"
      "hold = [\"2s\", \"15s\"]\n[[may]]\nkind = \"pause\"\nlength = [\"0s\", \"5s\"]\n";
  const Formulas found = formulas_in(text);
  REQUIRE(found.all.size() == 1);
  CHECK(to_string(found.all.front()) == "safe while lease + least latency ≥ pause + greatest latency + greatest hold");
  // 10s + 1ms - 5ms, and less by the shortest job.
  REQUIRE(found.borders.size() == 2);
  CHECK(found.borders[0].length == "pause");
  CHECK(found.borders[0].works_less);
  CHECK(found.borders[0].at == checker::Extent{7996_ms, false});
  CHECK(found.borders[1].length == "greatest hold");
  CHECK(found.borders[1].at == checker::Extent{9996_ms, false});
}

TEST_CASE("formula: none is told where nothing of the kind decides it") {
  // It is broken as soon as two compete, however long they work.
  const Formulas broken = formulas_in(
      "[lock]\nalgorithm = \"lua-reentrant-hash\"\n[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0ms\", "
      "\"20ms\"]\n"
      "hold = \"5ms\"\n");
  CHECK(broken.all.empty());
  CHECK_FALSE(broken.why.empty());
  // One client alone breaks nothing.
  CHECK(formulas_in("[lock]\nalgorithm = \"set-nx-px-lua\"\n[[client]]\nname = \"A\"\nhold = \"5ms\"\n").all.empty());
}

// Each formula says at random figures within its box what a search says there: a search of its own, with other figures
// than those by which it was found.
TEST_CASE("formula: within its box it says what check says of other figures") {
  const Scenario story = parsed(peer_world(kPause));
  const Formulas found = formulas_of(story, catalogue(), "mutual-exclusion", {});
  REQUIRE(found.all.size() == 1);
  const Formula& formula = found.all.front();
  sim::Random random(7);
  for (int i = 0; i < 20; ++i) {
    Scenario other = story;
    std::int64_t sum = formula.constant;
    for (const StoryLength& length : lengths_of(story, catalogue())) {
      for (const FormulaTerm& term : formula.terms) {
        if (term.length != length.name || &term == &formula.terms.front()) continue;
        const std::int64_t us = random.between(term.box.lo.count_ns() / 1'000, term.box.hi.count_ns() / 1'000);
        const std::int64_t ns = length.is_setting ? us / 1'000 * 1'000'000 : us * 1'000;
        length.set(other, sim::Duration::nanoseconds(ns));
        sum += term.coefficient * ns;
      }
    }
    REQUIRE(sum > 0);
    const auto explored = explore(other, catalogue(), {});
    const ExploredProperty& property = std::get<Exploration>(explored).property("mutual-exclusion");
    REQUIRE(property.thresholds.size() == 1);
    CHECK(property.thresholds.front().infimum == checker::Extent{sim::Duration::nanoseconds(sum), false});
  }
}

}  // namespace lockstep::scenarios::formula_test
