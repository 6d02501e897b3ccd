// Clients that take several locks: what they do in one run, and whether the explorer, the search without reduction and brute
// force on a grid agree on who waits for whom.

#include "checker/properties/belief/no_deadlock.hpp"

#include <catch2/catch.hpp>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/exploring/oracles/grid.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::no_deadlock_test {
namespace {

using testing::catalogue;

using checker::Verdict;
using sim::Duration;
using sim::DurationRange;
using namespace sim::literals;

const std::uint64_t kStories = sim::cases<std::uint64_t>(150, 10);

Scenario story(const std::string& lock, const std::string& clients, const std::string& more = "") {
  auto scenario = parse(R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
)" + lock + clients + more,
                        "story.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&scenario)) FAIL(problem->to_string());
  return std::get<Scenario>(scenario);
}

const std::string kOpposite =
    "[[client]]\nname = \"A\"\nlocks = [\"x\", \"y\"]\nhold = \"5ms\"\nattempts = 3\nretry = \"10ms\"\n"
    "[[client]]\nname = \"B\"\nlocks = [\"y\", \"x\"]\nhold = \"5ms\"\nattempts = 3\nretry = \"10ms\"\n";

Outcome outcome_of(const Scenario& scenario) {
  auto result = run(scenario, catalogue(), {.trace = true});
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Outcome>(std::move(result));
}

checker::Finding finding(const Outcome& outcome, std::string_view property) {
  for (const Judgement& judgement : outcome.properties) {
    if (judgement.finding.property == property) return judgement.finding;
  }
  FAIL("there is no " << property);
  std::abort();
}

Exploration explored(const Scenario& scenario, const ExplorationOptions& options = {}) {
  auto result = explore(scenario, catalogue(), options);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Exploration>(std::move(result));
}

/// Two clients of two locks, on one server, all times whole milliseconds.
Scenario random_story(std::uint64_t seed) {
  sim::Random random(sim::combine64(0x6c6f636b, seed));
  const auto ms = [&](std::int64_t lo, std::int64_t hi) { return Duration::milliseconds(random.between(lo, hi)); };
  Scenario scenario;
  scenario.file = scenario.id = "locks-" + std::to_string(seed);
  scenario.title = scenario.story = scenario.lesson = {"t", "t"};
  const bool has_lease = random.one_in(3);
  scenario.lock.algorithm = has_lease ? "set-nx-px-lua" : "setnx-del";
  if (has_lease) scenario.lock.parameters.emplace("ttl", ms(8, 16));
  scenario.network.latency = DurationRange::exactly(1_ms);
  scenario.servers.push_back({.name = "redis", .clock = {}, .latency = {}});
  if (has_lease || random.one_in(2)) scenario.deadlock_lasting = ms(0, 8);
  for (const char* name : {"A", "B"}) {
    ClientSpec& client = scenario.clients.emplace_back();
    client.name = name;
    client.acquire_at = DurationRange::exactly(client.name == "A" ? ms(0, 2) : ms(0, 6));
    if (client.name == "B" && random.one_in(2)) client.acquire_at.hi += ms(1, 3);
    client.hold = DurationRange::exactly(ms(0, 3));
    client.attempts = random.between(1, 2);
    client.retry = DurationRange::exactly(ms(1, 3));
    constexpr std::array<std::pair<const char*, const char*>, 5> kOrders{
        {{"x", "y"}, {"y", "x"}, {"x", "y"}, {"y", "x"}, {"x", "x"}}};
    const auto& [first, second] = kOrders[random.below(random.one_in(4) ? 5 : 2)];
    client.locks = {first, second};
  }
  if (random.one_in(3)) {
    MaySpec& pause = scenario.may.emplace_back();
    pause.length = {0_ms, ms(1, 4)};
    pause.who = {random.one_in(2) ? "B" : "A"};
  }
  return scenario;
}

}  // namespace

TEST_CASE("several locks: taken in the order of the file, given back in reverse, and the probe wants all of them") {
  const Outcome outcome = outcome_of(
      story("algorithm = \"setnx-del\"\n", "[[client]]\nname = \"A\"\nlocks = [\"x\", \"y\", \"z\"]\nrounds = 2\n"));
  std::vector<std::string> done;
  for (const sim::Operation& operation : outcome.history.operations) {
    if (outcome.lanes[operation.process.index].name == "A")
      done.push_back(std::string(operation.function) + " " + operation.object);
  }
  const std::vector<std::string> round{"acquire x", "acquire y", "acquire z", "release z", "release y", "release x"};
  REQUIRE(done.size() == 12);
  CHECK(std::equal(round.begin(), round.end(), done.begin()));
  CHECK(std::equal(round.begin(), round.end(), done.begin() + 6));
  CHECK(finding(outcome, "recoverable").verdict == Verdict::holds);
  // Who dies with y leaves x free, and still nobody can have both.
  const Outcome crashed = outcome_of(story("algorithm = \"setnx-del\"\n",
                                           "[[client]]\nname = \"A\"\nlocks = [\"x\", \"y\"]\nhold = \"9ms\"\n",
                                           "[[client]]\nname = \"op\"\nacquire_at = \"1s\"\ncommands = [\"DEL x\"]\n"
                                           "[[fault]]\nkind = \"crash\"\nclient = \"A\"\nafter = \"SETNX#2\"\n"));
  CHECK(finding(crashed, "recoverable").verdict == Verdict::violated);
}

TEST_CASE("several locks: opposite orders are a deadlock in run, which says who waits for whom") {
  const Outcome outcome = outcome_of(story("algorithm = \"setnx-del\"\n", kOpposite));
  const checker::Finding deadlock = finding(outcome, "no-deadlock");
  REQUIRE(deadlock.verdict == Verdict::violated);
  CHECK(deadlock.why == "A waits for y, which B holds; B waits for x, which A holds");
  CHECK(deadlock.waits.size() == 2);
  CHECK(deadlock.at->offset() == 2_ms);
  // They give up after 2ms + 3 round trips + 2 retries: so long and no longer.
  const Duration patience = 2_ms * 3 + 10_ms * 2;
  Scenario scenario = story("algorithm = \"setnx-del\"\n", kOpposite);
  scenario.deadlock_lasting = patience;
  CHECK(finding(outcome_of(scenario), "no-deadlock").verdict == Verdict::violated);
  scenario.deadlock_lasting = patience + 1_ms;
  CHECK(finding(outcome_of(scenario), "no-deadlock").verdict == Verdict::holds);
}

TEST_CASE("several locks: a lease ends a circle, and the default does not call it a deadlock") {
  const Scenario scenario = story("algorithm = \"set-nx-px-lua\"\nttl = \"20ms\"\n", kOpposite);
  const checker::Finding deadlock = finding(outcome_of(scenario), "no-deadlock");
  CHECK(deadlock.verdict == Verdict::holds);
  CHECK(deadlock.why == "no circle of waits lasts 46ms: leases or patience run out first");
}

TEST_CASE("several locks: a lock that is not reentrant, taken twice, waits for itself") {
  const Scenario scenario =
      story("algorithm = \"setnx-del\"\n", "[[client]]\nname = \"A\"\nlocks = [\"x\", \"x\"]\nattempts = 2\n");
  CHECK(finding(outcome_of(scenario), "no-deadlock").why == "A waits for x, which it holds itself");
  const Exploration exploration = explored(scenario);
  CHECK(exploration.property("no-deadlock").verdict == Verdict::violated);
  CHECK(exploration.property("no-deadlock").by == std::vector<std::string>{"A"});
}

TEST_CASE("several locks: where nobody takes several, there is nothing to judge") {
  const Scenario scenario = story("algorithm = \"setnx-del\"\n", "[[client]]\nname = [\"A\", \"B\"]\n");
  CHECK(finding(outcome_of(scenario), "no-deadlock").verdict == Verdict::not_judged);
  CHECK(explored(scenario).property("no-deadlock").verdict == Verdict::not_judged);
  CHECK(explored(scenario).property("no-deadlock").why == "no client of this story takes several locks");
}

TEST_CASE("several locks: three clients in a ring, found by check with the circle and a witness that replays") {
  std::string clients;
  for (const auto& [name, first, second] :
       {std::tuple("A", "x", "y"), std::tuple("B", "y", "z"), std::tuple("C", "z", "x")}) {
    clients += std::string("[[client]]\nname = \"") + name + "\"\nlocks = [\"" + first + "\", \"" + second +
               "\"]\nattempts = 1\nacquire_at = [\"0ms\", \"5ms\"]\n";
  }
  const Exploration exploration = explored(story("algorithm = \"setnx-del\"\n", clients));
  CHECK(exploration.counts.complete);
  const ExploredProperty& deadlock = exploration.property("no-deadlock");
  REQUIRE(deadlock.verdict == Verdict::violated);
  CHECK(deadlock.by == std::vector<std::string>{"A", "B", "C"});
  CHECK(deadlock.waits.size() == 3);
  REQUIRE(deadlock.witness);
  CHECK(finding(outcome_of(*deadlock.witness), "no-deadlock").why == deadlock.why);
}

TEST_CASE("several locks: the longer a pause holds up the round, the longer the circle lasts, exactly") {
  // Both want at 2ms. Each knows at 4ms that it failed, and gives up: 2ms, and a pause of either makes it longer.
  const std::string clients =
      "[[client]]\nname = \"A\"\nlocks = [\"x\", \"y\"]\nattempts = 1\n"
      "[[client]]\nname = \"B\"\nlocks = [\"y\", \"x\"]\nattempts = 1\n"
      "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"1s\"]\ntimes = 2\n"
      "[properties]\nno-deadlock = { lasting = \"12ms\" }\n";
  const Exploration exploration = explored(story("algorithm = \"setnx-del\"\n", clients));
  CHECK(exploration.counts.complete);
  const ExploredProperty& deadlock = exploration.property("no-deadlock");
  REQUIRE(deadlock.verdict == Verdict::violated);
  REQUIRE(deadlock.thresholds.size() == 1);
  CHECK(deadlock.thresholds.front().infimum == checker::Extent{10_ms, true});
}

TEST_CASE("several locks: on random stories the explorer, all interleavings and the grid agree on deadlocks") {
  std::uint64_t compared = 0;
  std::uint64_t violated = 0;
  std::uint64_t only_between_ticks = 0;
  for (std::uint64_t seed = 0; seed < kStories; ++seed) {
    const Scenario scenario = random_story(seed);
    INFO(to_toml(scenario));
    const Exploration reduced = explored(scenario, {.max_traces = 20'000});
    if (!reduced.counts.complete) continue;
    const ExploredProperty& deadlock = reduced.property("no-deadlock");
    CHECK(reduced.unconfirmed == 0);
    const Exploration all = explored(scenario, {.reduction = false, .max_traces = 3'000});
    if (all.counts.complete) {
      CHECK(all.property("no-deadlock").verdict == deadlock.verdict);
      CHECK(all.property("recoverable").verdict == reduced.property("recoverable").verdict);
      const auto& margins = all.property("no-deadlock").thresholds;
      REQUIRE(margins.size() == deadlock.thresholds.size());
      if (!margins.empty()) CHECK(margins.front().infimum == deadlock.thresholds.front().infimum);
    }
    auto grid = explore_grid(scenario, catalogue(), scenario.may.empty() ? 500_us : 1_ms, {.max_traces = 20'000});
    const auto& on_a_grid = std::get<Exploration>(grid);
    if (!on_a_grid.counts.complete) continue;
    ++compared;
    const bool breaks = deadlock.verdict == Verdict::violated;
    const bool breaks_on_a_grid = on_a_grid.property("no-deadlock").verdict == Verdict::violated;
    if (breaks_on_a_grid) CHECK(breaks);
    violated += breaks ? 1 : 0;
    only_between_ticks += breaks && !breaks_on_a_grid ? 1 : 0;
  }
  WARN(compared << " compared, " << violated << " deadlocks, " << only_between_ticks << " between ticks");
  if (kStories < 100) return;
  CHECK(compared > 80);
  CHECK(violated > 20);
  CHECK(violated < compared - 20);
  CHECK(only_between_ticks * 20 < violated);
}

}  // namespace lockstep::scenarios::no_deadlock_test
