// Brute force on a grid, against the explorer: whatever breaks at concrete times, the explorer finds; and where it says that
// the margin is, no grid finds a smaller one.

#include "scenarios/exploring/oracles/grid.hpp"

#include <catch2/catch.hpp>

#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::grid_test {
namespace {

using testing::catalogue;

using sim::Duration;
using sim::DurationRange;
using namespace sim::literals;

Scenario story(const std::string& ttl, const std::string& more) {
  auto scenario = parse(R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "set-nx-px-lua"
ttl = ")" + ttl + R"("
[[client]]
name = "A"
hold = "4ms"
attempts = 1
[[client]]
name = "B"
acquire_at = ["0ms", "12ms"]
hold = "4ms"
attempts = 1
)" + more,
                        "story.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&scenario)) FAIL(problem->to_string());
  return std::get<Scenario>(scenario);
}

Exploration on_a_grid(const Scenario& scenario, Duration tick, const ExplorationOptions& options = {}) {
  auto result = explore_grid(scenario, catalogue(), tick, options);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Exploration>(result);
}

const ExploredProperty& exclusion(const Exploration& exploration) { return exploration.property("mutual-exclusion"); }

/// Two clients and a server, all times in whole milliseconds, and at most one pause of one of the clients.
Scenario random_tiny(std::uint64_t seed) {
  sim::Random random(sim::combine64(0x67726964, seed));
  const auto ms = [&](std::int64_t lo, std::int64_t hi) { return Duration::milliseconds(random.between(lo, hi)); };
  Scenario scenario;
  scenario.file = scenario.id = "tiny-" + std::to_string(seed);
  constexpr std::array kLocks{"set-nx-px-lua", "set-nx-px-lua", "setnx-ts-del-setnx", "getset-java"};
  scenario.lock.algorithm = kLocks[random.below(kLocks.size())];
  scenario.lock.parameters.emplace("ttl", ms(2, 5));
  scenario.network.latency = DurationRange::exactly(1_ms);
  if (random.one_in(2)) scenario.network.latency.hi = 2_ms;
  scenario.servers.push_back({.name = "redis", .clock = {}, .latency = {}});
  for (const char* name : {"A", "B"}) {
    ClientSpec client;
    client.name = name;
    client.acquire_at = DurationRange::exactly(client.name == "A" ? ms(0, 2) : ms(0, 8));
    if (random.one_in(2)) client.acquire_at.hi += ms(1, 2);
    client.hold = DurationRange::exactly(ms(0, 3));
    client.attempts = 1;
    scenario.clients.push_back(client);
  }
  MaySpec pause;
  pause.length = {0_ms, ms(2, 7)};
  pause.who = {random.one_in(3) ? "B" : "A"};
  scenario.may.push_back(pause);
  return scenario;
}

const std::uint64_t kStories = sim::cases<std::uint64_t>(200, 12);

}  // namespace

TEST_CASE("grid: every delay within its range is tried, and its ends") {
  // Without faults, two clients that never meet: the runs are the products of the ranges' grid points.
  Scenario scenario = story("100ms", "");
  scenario.clients[1].acquire_at = {60_ms, 64_ms};
  CHECK(on_a_grid(scenario, 1_ms).counts.traces == 5);
  CHECK(on_a_grid(scenario, 3_ms).counts.traces == 3);  // 60, 63, 64
  CHECK(on_a_grid(scenario, 10_ms).counts.traces == 2);
  scenario.clients[1].hold = {2_ms, 3_ms};
  CHECK(on_a_grid(scenario, 1_ms).counts.traces == 10);
}

TEST_CASE("grid: a lease that is longer than the work holds on the grid, and a shorter one does not") {
  const Exploration calm = on_a_grid(story("8ms", ""), 1_ms);
  CHECK(calm.counts.complete);
  CHECK(exclusion(calm).verdict == checker::Verdict::holds);
  CHECK(exclusion(calm).why == "in each of " + std::to_string(calm.counts.traces) + " runs on a grid of 1ms");

  const Exploration broken = on_a_grid(story("3ms", ""), 1_ms);
  CHECK(broken.counts.complete);
  CHECK(exclusion(broken).verdict == checker::Verdict::violated);
  CHECK(exclusion(broken).by == std::vector<std::string>{"A", "B"});
  CHECK(exclusion(broken).violating_traces < broken.counts.traces);
  CHECK(exclusion(broken).thresholds.empty());
}

TEST_CASE("grid: the least pause that breaks the lock is the first tick beyond the margin") {
  // The key lives from 1ms to 9ms, A knows of it from 2ms on and works 4ms; B has it at 10ms at the earliest: 2 + 4 + P > 10.
  const Scenario scenario = story("8ms", "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"10ms\"]\n");
  const Exploration result = on_a_grid(scenario, 1_ms);
  CHECK(result.counts.complete);
  REQUIRE(exclusion(result).thresholds.size() == 1);
  CHECK(exclusion(result).thresholds[0].parameter == "pause");
  CHECK(exclusion(result).thresholds[0].infimum == checker::Extent{5_ms, true});
  const Exploration halves = on_a_grid(scenario, 500_us, {.max_traces = 1'000'000});
  CHECK(exclusion(halves).thresholds[0].infimum == checker::Extent{4500_us, true});
  CHECK(exclusion(on_a_grid(scenario, 1_ms, {.parameter = "jump"})).thresholds.empty());
}

TEST_CASE("grid: each kind of fault breaks what only it can break") {
  const auto verdict = [](const std::string& may, std::string_view property) {
    Scenario scenario = story("8ms", "[network]\ntimeout = \"6ms\"\n" + (may.empty() ? "" : "[[may]]\n" + may));
    scenario.clients[1].acquire_at = {0_ms, 4_ms};
    scenario.clients[1].attempts = 2;
    scenario.clients[1].retry = DurationRange::exactly(1_ms);
    const Exploration result = on_a_grid(scenario, 2_ms, {.max_traces = 500'000});
    CHECK(result.counts.complete);
    return result.property(property);
  };
  CHECK(verdict("", "mutual-exclusion").verdict == checker::Verdict::holds);
  // The server forgets the key, or its clock runs past the lease.
  CHECK(verdict("kind = \"crash\"\nserver = \"redis\"\nrestart_after = \"0ms\"\n", "mutual-exclusion").verdict ==
        checker::Verdict::violated);
  CHECK(verdict("kind = \"crash\"\nserver = \"redis\"\nrestart_after = \"0ms\"\nkeep = true\n", "mutual-exclusion")
            .verdict == checker::Verdict::holds);
  const ExploredProperty jumped = verdict("kind = \"jump\"\nby = [\"0ms\", \"8ms\"]\n", "mutual-exclusion");
  CHECK(jumped.verdict == checker::Verdict::violated);
  REQUIRE(jumped.thresholds.size() == 1);
  CHECK(jumped.thresholds[0].parameter == "jump");
  CHECK(jumped.thresholds[0].infimum.value > 0_ms);
  // The lock lives on the server's clock alone, so clients whose clocks are off, dead clients and lost messages do not break it.
  CHECK(verdict("kind = \"skew\"\nby = [\"-8ms\", \"8ms\"]\n", "mutual-exclusion").verdict == checker::Verdict::holds);
  CHECK(verdict("kind = \"crash\"\n", "mutual-exclusion").verdict == checker::Verdict::holds);
  CHECK(verdict("kind = \"lose\"\n", "mutual-exclusion").verdict == checker::Verdict::holds);
}

TEST_CASE("grid: a bound ends it, and then nothing holds") {
  const Scenario scenario = story("8ms", "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"1s\"]\n");
  const Exploration few = on_a_grid(scenario, 1_ms, {.max_traces = 3});
  CHECK(few.counts.traces == 3);
  CHECK(!few.counts.complete);
  CHECK(few.bound == "max-traces");
  CHECK(exclusion(few).verdict == checker::Verdict::unknown);
  ExplorationOptions interrupted;
  interrupted.interrupted = [] { return true; };
  CHECK(on_a_grid(scenario, 1_ms, interrupted).bound == "interrupted");
  ExplorationOptions hurried{.max_seconds = 5, .stopwatch = [seconds = 0.0]() mutable { return seconds += 1; }};
  CHECK(on_a_grid(scenario, 1_ms, hurried).bound == "max-seconds");
}

TEST_CASE("grid: what breaks on the grid breaks in the explorer, at no larger a pause, and hardly at a smaller one") {
  std::size_t broken = 0;
  std::size_t compared = 0;
  std::size_t runs = 0;
  for (std::uint64_t seed = 0; seed < kStories; ++seed) {
    const Scenario scenario = random_tiny(seed);
    INFO("story " << seed << ": " << scenario.lock.algorithm);
    const Exploration grid = on_a_grid(scenario, 1_ms, {.max_traces = 3'000, .worst = true});
    runs += grid.counts.traces;
    const auto explored = explore(scenario, catalogue(), {.worst = true});
    if (const auto* problem = std::get_if<Diagnostic>(&explored)) FAIL(problem->to_string());
    const ExploredProperty& exact = exclusion(std::get<Exploration>(explored));
    const ExploredProperty& coarse = exclusion(grid);
    if (coarse.verdict != checker::Verdict::violated) {
      // Strict inequalities want a tick each, which a short range may not have; so the grid alone may hold.
      if (!grid.counts.complete) continue;
      ++compared;
      if (exact.verdict == checker::Verdict::violated)
        CHECK(scenario.may.front().length.hi - exact.thresholds.at(0).infimum.value <= 1_ms);
      continue;
    }
    ++broken;
    CHECK(exact.verdict == checker::Verdict::violated);
    if (exact.verdict != checker::Verdict::violated) continue;
    const checker::Extent margin = exact.thresholds.at(0).infimum;
    const Duration least = coarse.thresholds.at(0).infimum.value;
    INFO("explorer " << sim::to_string(margin.value) << (margin.attained ? "" : " (not attained)") << ", grid "
                     << sim::to_string(least));
    CHECK((margin.attained ? margin.value <= least : margin.value < least));
    REQUIRE(exact.worst);
    REQUIRE(coarse.worst);
    CHECK(coarse.worst->longest <= exact.worst->longest);
    if (!grid.counts.complete) continue;
    ++compared;
    // What is approached is a tick less on the grid.
    CHECK(exact.worst->longest - coarse.worst->longest <= 1_ms);
    // All bounds are whole ticks, so a margin that is attained is attained on the grid, and else the next tick is beyond it.
    CHECK(least - margin.value == (margin.attained ? 0_ms : 1_ms));
  }
  WARN(runs << " runs; " << broken << " stories broken, " << compared << " compared to the end");
  CHECK(broken > kStories / 10);
  CHECK(compared > kStories / 4);
}

}  // namespace lockstep::scenarios::grid_test
