// The explorer against a model checker that shares nothing with it: a zone-based one, with set-nx-px-lua and redlock-seq written
// down once more as timed automata. Both know all delays, so margins are the same, or one of them is wrong.

#include "checker/testing/zone_checker.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::zone_agreement_test {
namespace {

using testing::catalogue;

using checker::testing::LockWorld;
using checker::testing::Margin;
using checker::testing::Ticks;
using sim::Duration;
using sim::DurationRange;

/// Half milliseconds are six ticks, so that two or three pauses that add up to some of them are whole ticks each.
constexpr std::int64_t kTicksPerMs = 12;
constexpr std::int64_t kMostPause = 400;  // ms

/// Milliseconds, as both sides are told them.
struct World {
  LockWorld lock;  ///< without `validity`
  std::int64_t drift_percent = 1;
  std::int64_t drift_extra = 2;
};

bool is_redlock(const World& world) { return world.lock.gives_back_failures; }

World random_world(std::uint64_t seed) {
  sim::Random random(sim::combine64(0x7a6f6e65, seed));
  const auto range = [&](std::int64_t lo, std::int64_t hi, std::int64_t longer) {
    const std::int64_t from = random.between(lo, hi);
    return Ticks{from, random.one_in(3) ? from : from + random.between(0, longer)};
  };
  World world;
  LockWorld& lock = world.lock;
  const bool of_many = random.one_in(3);
  lock.latency = range(1, 5, of_many ? 6 : 12);
  lock.hold = range(5, 30, 15);
  lock.between = Ticks{random.between(1, 20), 0};
  lock.between.hi = lock.between.lo;
  lock.start = {random.between(0, 10), 0};
  lock.start.hi = lock.start.lo + std::array<std::int64_t, 4>{random.between(0, 40), 100, 300, 1'000}[random.below(4)];
  const std::size_t all = 1 + random.below(random.one_in(4) ? 3 : 2);
  lock.work_pauses = random.below(all + 1);
  lock.pauses = all - lock.work_pauses;
  if (!of_many) {
    constexpr std::array<std::pair<std::size_t, std::size_t>, 5> kSizes{{{2, 1}, {2, 1}, {2, 2}, {3, 1}, {2, 3}}};
    std::tie(lock.clients, lock.rounds) = kSizes[random.below(kSizes.size())];
    lock.ttl = random.between(40, 150);
    return world;
  }
  lock.gives_back_failures = true;
  lock.servers = 1 + random.below(3);
  lock.quorum = random.one_in(5) ? 1 + random.below(lock.servers) : lock.servers / 2 + 1;
  lock.ttl = 50 * random.between(1, 3);
  world.drift_percent = random.between(0, 5);
  world.drift_extra = random.between(0, 4);
  // A hold that is longer than the lease, so that the deadline comes within it.
  if (random.one_in(2)) lock.hold.lo = lock.hold.hi = lock.ttl + random.between(0, 20);
  // Three servers and two pauses anywhere are seconds for the zones.
  if (lock.servers > 2 && lock.pauses > 0) std::tie(lock.pauses, lock.work_pauses) = std::pair(1, 0);
  return world;
}

std::string text(const World& world) {
  const LockWorld& lock = world.lock;
  std::ostringstream out;
  const auto range = [&](const char* name, const Ticks& ms) { out << ", " << name << ' ' << ms.lo << ".." << ms.hi; };
  out << (is_redlock(world) ? "redlock-seq" : "set-nx-px-lua") << ' ' << lock.clients << 'x' << lock.rounds << ", ttl "
      << lock.ttl;
  if (is_redlock(world)) {
    out << ", quorum " << lock.quorum << " of " << lock.servers << ", drift " << world.drift_percent << "% + "
        << world.drift_extra;
  }
  range("latency", lock.latency);
  range("start", lock.start);
  range("hold", lock.hold);
  range("between", lock.between);
  out << ", pauses " << lock.pauses << ", of the work " << lock.work_pauses;
  return std::move(out).str();
}

DurationRange in_ms(const Ticks& ms) { return {Duration::milliseconds(ms.lo), Duration::milliseconds(ms.hi)}; }

Scenario story_of(const World& world) {
  const LockWorld& lock = world.lock;
  Scenario scenario;
  scenario.file = scenario.id = "zones";
  scenario.lock.algorithm = is_redlock(world) ? "redlock-seq" : "set-nx-px-lua";
  scenario.lock.parameters.emplace("ttl", Duration::milliseconds(lock.ttl));
  if (is_redlock(world)) {
    scenario.lock.parameters.emplace("quorum", static_cast<std::int64_t>(lock.quorum));
    scenario.lock.parameters.emplace("drift_percent", world.drift_percent);
    scenario.lock.parameters.emplace("drift_extra", Duration::milliseconds(world.drift_extra));
  }
  scenario.network.latency = in_ms(lock.latency);
  for (std::size_t s = 0; s < lock.servers; ++s) {
    scenario.servers.push_back({.name = "redis" + std::to_string(s + 1), .clock = {}, .latency = {}});
  }
  for (std::size_t c = 0; c < lock.clients; ++c) {
    ClientSpec client;
    client.name = std::string(1, static_cast<char>('A' + c));
    client.acquire_at = in_ms(lock.start);
    client.hold = in_ms(lock.hold);
    client.between = in_ms(lock.between);
    client.rounds = static_cast<std::int64_t>(lock.rounds);
    client.attempts = 1;
    scenario.clients.push_back(client);
  }
  for (const bool of_work : {false, true}) {
    MaySpec pause;
    pause.length = {Duration::zero(), Duration::milliseconds(kMostPause)};
    if (of_work) pause.during = sim::Activity::work;
    pause.times = static_cast<std::int64_t>(of_work ? lock.work_pauses : lock.pauses);
    if (pause.times > 0) scenario.may.push_back(pause);
  }
  return scenario;
}

std::optional<Margin> margin_by_zones(const World& world, std::int64_t most = kMostPause) {
  LockWorld lock = world.lock;
  for (Ticks* ticks : {&lock.latency, &lock.start, &lock.hold, &lock.between}) {
    *ticks = {ticks->lo * kTicksPerMs, ticks->hi * kTicksPerMs};
  }
  // Step 3 of Redlock, in hundredths of a millisecond: the lease less a share of it, less a constant.
  if (is_redlock(world)) {
    lock.validity = (lock.ttl * (100 - world.drift_percent) - 100 * world.drift_extra) * kTicksPerMs / 100;
  }
  lock.ttl *= kTicksPerMs;
  return checker::testing::margin(lock, most * kTicksPerMs);
}

/// To the nanosecond: what is a fraction of one is not attained (thresholds.hpp).
std::optional<checker::Extent> exactly(const std::optional<Margin>& margin) {
  if (!margin) return std::nullopt;
  const std::int64_t scaled = margin->ticks * 1'000'000;
  return checker::Extent{Duration::nanoseconds(scaled / kTicksPerMs), margin->attained && scaled % kTicksPerMs == 0};
}

std::string text(const std::optional<checker::Extent>& extent) {
  if (!extent) return "none";
  return sim::to_string(extent->value) + (extent->attained ? " (attained)" : "");
}

/// Nothing: it did not end within its bound.
struct Explored {
  bool is_known = false;
  std::optional<checker::Extent> margin;
};

Explored margin_by_explorer(const World& world, std::uint64_t max_traces) {
  const auto result = explore(story_of(world), catalogue(), {.max_traces = max_traces});
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  const Exploration& exploration = std::get<Exploration>(result);
  if (!exploration.counts.complete) return {};
  const ExploredProperty& exclusion = exploration.property("mutual-exclusion");
  Explored explored{true, std::nullopt};
  if (exclusion.verdict == checker::Verdict::holds) return explored;
  if (exclusion.verdict == checker::Verdict::violated && exclusion.thresholds.size() == 1) {
    explored.margin = exclusion.thresholds.front().infimum;
    return explored;
  }
  // Never what the zones say.
  explored.margin = checker::Extent{Duration::nanoseconds(-1), false};
  return explored;
}

/// Ways not to judge the world that was meant.
struct Mistake {
  const char* name;
  void (*make)(World& world);
};

const Mistake kMistakes[] = {
    {"a pause too few",
     [](World& world) { --(world.lock.work_pauses > 0 ? world.lock.work_pauses : world.lock.pauses); }},
    {"no pause outside the work", [](World& world) { world.lock.pauses = 0; }},
    {"a validity without drift", [](World& world) { world.drift_percent = world.drift_extra = 0; }},
    {"a lease that is a millisecond too long", [](World& world) { ++world.lock.ttl; }},
    {"a server that is not asked",
     [](World& world) {
       if (world.lock.servers > 1) --world.lock.servers;
       world.lock.quorum = std::min(world.lock.quorum, world.lock.servers);
     }},
    {"the shortest delays only", [](World& world) { world.lock.latency.hi = world.lock.latency.lo; }},
    {"the shortest work only", [](World& world) { world.lock.hold.hi = world.lock.hold.lo; }},
};

const std::uint64_t kWorlds = sim::cases<std::uint64_t>(200, 16);
const std::uint64_t kMostTraces = sim::cases<std::uint64_t>(20'000, 300);

}  // namespace

TEST_CASE("zones: an explorer that judges another world than was meant is found out") {
  constexpr std::uint64_t kTries = 200;
  for (const Mistake& mistake : kMistakes) {
    if (sim::takes_few_cases() && &mistake != kMistakes) break;
    INFO(mistake.name);
    bool is_found = false;
    for (std::uint64_t seed = 0; seed < kTries && !is_found; ++seed) {
      const World world = random_world(seed);
      if (world.lock.servers > 2) continue;
      World other = world;
      mistake.make(other);
      const Explored explored = margin_by_explorer(other, 3'000);
      is_found = explored.is_known && explored.margin != exactly(margin_by_zones(world));
    }
    CHECK(is_found);
  }
}

TEST_CASE("zones: margins of random worlds agree with the explorer's") {
  std::size_t compared = 0;
  std::size_t broken = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const World world = random_world(seed);
    INFO("world " << seed << ": " << text(world));
    const Explored explored = margin_by_explorer(world, kMostTraces);
    if (!explored.is_known) continue;
    ++compared;
    const std::optional<checker::Extent> expected = exactly(margin_by_zones(world));
    broken += expected ? 1 : 0;
    INFO("explorer " << text(explored.margin) << ", zones " << text(expected));
    CHECK(explored.margin == expected);
  }
  WARN(compared << " of " << kWorlds << " worlds compared, " << broken << " of them can be broken");
  CHECK(compared >= kWorlds * sim::cases<std::uint64_t>(3, 2) / 4);
  CHECK(broken >= compared / sim::cases<std::size_t>(2, 4));
}

}  // namespace lockstep::scenarios::zone_agreement_test
