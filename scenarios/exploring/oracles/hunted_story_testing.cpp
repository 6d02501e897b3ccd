#include "scenarios/exploring/oracles/hunted_story.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::DurationRange;
using sim::Random;
using sim::random_ms;
using namespace sim::literals;

DurationRange from_zero(Random& random, std::int64_t hi) { return {0_ms, random_ms(random, 1, hi)}; }

/// Nothing, A, or B: whom a fault may strike.
std::vector<std::string> somebody(Random& random, const Scenario& scenario) {
  if (random.one_in(2)) return {};
  return {scenario.clients[random.below(scenario.clients.size())].name};
}

std::string some_server(Random& random, const Scenario& scenario) {
  return scenario.servers[random.below(scenario.servers.size())].name;
}

/// To one side, to the other, or to both; sometimes by one length.
DurationRange offset(Random& random, std::int64_t most) {
  const Duration by = random_ms(random, 1, most);
  switch (random.below(4)) {
    case 0: return DurationRange::exactly(random.one_in(2) ? by : -by);
    case 1: return {-by, 0_ms};
    case 2: return {0_ms, by};
    default: return {-by, random_ms(random, 1, most)};
  }
}

MaySpec some_pause(Random& random, const Scenario& scenario, std::int64_t lease) {
  MaySpec may;
  may.length = random.one_in(5) ? DurationRange::exactly(random_ms(random, 1, lease)) : from_zero(random, 2 * lease);
  may.times = random.between(1, 3);
  if (random.one_in(2)) may.during = sim::Activity::work;
  may.who = somebody(random, scenario);
  if (may.during != sim::Activity::work && random.one_in(6)) may.who = {some_server(random, scenario)};
  return may;
}

MaySpec some_fault(Random& random, const Scenario& scenario, std::int64_t lease) {
  MaySpec may;
  switch (random.below(8)) {
    case 0:
    case 1: {
      may.kind = MaySpec::Kind::skew;
      may.length = offset(random, lease);
      may.times = random.between(1, 2);
      if (random.one_in(3)) may.who = {some_server(random, scenario)};
      break;
    }
    case 2:
      may.kind = MaySpec::Kind::lose;
      may.times = random.between(1, 2);
      may.who = somebody(random, scenario);
      break;
    case 3: {
      may.kind = MaySpec::Kind::crash;
      may.who = {random.one_in(3) ? scenario.clients.front().name : some_server(random, scenario)};
      may.restart_after =
          random.one_in(2) ? DurationRange::exactly(random_ms(random, 0, lease)) : from_zero(random, lease);
      may.keep = random.one_in(2) && may.who.front() != scenario.clients.front().name;
      break;
    }
    case 4:
      may.kind = MaySpec::Kind::jump;
      may.length = offset(random, lease);
      if (random.one_in(3)) {
        may.who = {scenario.clients.front().name};
        may.length = DurationRange::exactly(may.length.hi == 0_ms ? may.length.lo : may.length.hi);
      }
      break;
    default: return some_pause(random, scenario, lease);
  }
  return may;
}

/// Delays, partitions, and what strikes only while its victim is at something.
MaySpec another_fault(Random& random, const Scenario& scenario, std::int64_t lease) {
  constexpr std::array kActivities{sim::Activity::acquire, sim::Activity::release, sim::Activity::renewal};
  MaySpec may;
  may.length = random.one_in(5) ? DurationRange::exactly(random_ms(random, 1, lease)) : from_zero(random, 2 * lease);
  may.who = somebody(random, scenario);
  const sim::Activity activity = kActivities[random.below(kActivities.size())];
  switch (random.below(6)) {
    case 0:
    case 1:
      may.kind = MaySpec::Kind::delay;
      may.times = random.between(1, 2);
      if (random.one_in(3)) may.during = activity;
      if (random.one_in(3))
        may.direction = random.one_in(2) ? FaultSpec::Direction::request : FaultSpec::Direction::reply;
      break;
    case 2:
    case 3:
      may.kind = MaySpec::Kind::partition;
      if (random.one_in(4)) may.who = {some_server(random, scenario)};
      break;
    case 4: may.during = activity; break;
    default:
      may.kind = random.one_in(2) ? MaySpec::Kind::lose : MaySpec::Kind::crash;
      may.length = {};
      may.during = activity;
      break;
  }
  return may;
}

/// One process that may be paused, and may crash: before, meanwhile, or after.
void add_paused_crash(Random& random, Scenario& scenario, std::int64_t lease) {
  const std::string victim =
      random.one_in(2) ? some_server(random, scenario) : scenario.clients[random.below(scenario.clients.size())].name;
  MaySpec pause = some_pause(random, scenario, lease);
  if (pause.during == sim::Activity::work && !random.one_in(3)) pause.during = sim::Activity::anything;
  MaySpec crash;
  crash.kind = MaySpec::Kind::crash;
  if (!random.one_in(3)) crash.restart_after = DurationRange::exactly(random_ms(random, 0, lease));
  const bool is_server = scenario.clients.end() == std::find_if(scenario.clients.begin(), scenario.clients.end(),
                                                                [&](const ClientSpec& c) { return c.name == victim; });
  crash.keep = is_server && random.one_in(2);
  if (is_server) pause.during = sim::Activity::anything;
  pause.who = crash.who = {victim};
  pause.times = random.between(1, 2);
  scenario.may = {pause, crash};
  if (random.one_in(2)) std::swap(scenario.may.front(), scenario.may.back());
}

/// Somebody who looks at the clock in a script, and does something with the lock's key then.
ClientSpec some_operator(Random& random, std::int64_t lease) {
  constexpr std::array kActions{"DEL", "PERSIST"};
  ClientSpec client;
  client.name = "op";
  client.acquire_at = {0_ms, random_ms(random, 1, 2 * lease)};
  const std::string script = "local t = redis.call('TIME') if t[2] + 0 < " +
                             std::to_string(1000 * random.between(1, 2 * lease)) + " then return redis.call('" +
                             kActions[random.below(kActions.size())] + "', KEYS[1]) end return 0";
  client.commands.push_back({models::redis::Command("EVAL", script, "1", "lock"), {}});
  return client;
}

void choose_lock(Random& random, std::int64_t lease, Scenario& scenario) {
  constexpr std::array kLocks{"set-nx-px-lua",      "set-nx-px-lua", "set-nx-px-plain-del", "set-nx-px-get-del",
                              "setnx-ts-del-setnx", "getset-java",   "getset-prose",        "redlock-seq",
                              "redlock-seq",        "redlock-seq",   "redisson-lock",       "lua-reentrant-hash"};
  const std::string algorithm = kLocks[random.below(kLocks.size())];
  scenario.lock.algorithm = algorithm;
  auto& parameters = scenario.lock.parameters;
  if (algorithm == "redisson-lock") {
    parameters.emplace("wait", 0_ms);
    if (random.one_in(2)) {
      parameters.emplace("lease", Duration::milliseconds(lease));
    } else {
      parameters.emplace("watchdog_timeout", Duration::milliseconds(3 * lease));
    }
    return;
  }
  parameters.emplace("ttl", Duration::milliseconds(lease));
  if (algorithm != "redlock-seq") return;
  if (random.one_in(3)) parameters.emplace("drift_extra", random_ms(random, 0, 2));
  if (random.one_in(3)) parameters.emplace("clock", std::string("wall"));
  if (random.one_in(2)) parameters.emplace("node_timeout", random_ms(random, 3, 10));
}

}  // namespace

Scenario hunted_story(std::uint64_t seed) {
  Random random(sim::combine64(0x68756e746564, seed));
  Scenario scenario;
  scenario.id = "hunted-" + std::to_string(seed);
  scenario.file = scenario.id + ".toml";
  scenario.title = scenario.story = scenario.lesson = {"t", "t"};
  const std::int64_t lease = random.between(6, 24);
  choose_lock(random, lease, scenario);
  scenario.network.latency = DurationRange::exactly(1_ms);
  if (random.one_in(3)) scenario.network.latency.hi = 2_ms;
  if (random.one_in(2)) scenario.network.timeout = random_ms(random, 4, 8);
  const bool is_redlock = scenario.lock.algorithm == "redlock-seq";
  if (is_redlock) {
    for (const char* name : {"redis1", "redis2", "redis3"})
      scenario.servers.push_back({.name = name, .clock = {}, .latency = {}});
  } else {
    scenario.servers.push_back({.name = "redis", .clock = {}, .latency = {}});
  }
  if (random.one_in(4)) scenario.resource = ResourceSpec{.latency = DurationRange::exactly(1_ms)};
  const std::uint64_t clients = random.one_in(10) && !is_redlock ? 3 : random.one_in(8) ? 1 : 2;
  for (std::uint64_t i = 0; i < clients; ++i) {
    ClientSpec& client = scenario.clients.emplace_back();
    client.name = std::string(1, static_cast<char>('A' + i));
    if (i > 0)
      client.acquire_at =
          random.one_in(3) ? DurationRange::exactly(random_ms(random, 0, 2 * lease)) : from_zero(random, 6 * lease);
    // Around the lease, and far from it.
    const std::int64_t hold = random.one_in(2) ? random.between(lease - 5, lease + 3) : random.between(0, lease);
    client.hold = DurationRange::exactly(Duration::milliseconds(hold));
    if (random.one_in(6)) client.hold.hi += random_ms(random, 1, 5);
    client.attempts = random.one_in(5) ? 2 : 1;
    client.retry = DurationRange::exactly(random_ms(random, 2, lease));
    if (random.one_in(10)) client.release = false;
  }
  if (!is_redlock && random.one_in(8)) scenario.clients.push_back(some_operator(random, lease));
  scenario.may.push_back(some_pause(random, scenario, lease));
  if (random.one_in(4)) scenario.may.pop_back();
  if (random.one_in(2)) scenario.may.push_back(some_fault(random, scenario, lease));
  constexpr std::uint64_t kFirstWithMore = 700'000;
  if (seed >= kFirstWithMore) {
    if (scenario.may.size() > 1) scenario.may.pop_back();
    scenario.may.push_back(another_fault(random, scenario, lease));
  }
  constexpr std::uint64_t kFirstWithPausedCrash = 8'000'000;
  if (seed >= kFirstWithPausedCrash) {
    add_paused_crash(random, scenario, lease);
    return scenario;
  }
  for (const MaySpec& may : scenario.may) {
    // Whoever loses messages, or talks to the dead, must not wait for ever.
    if (silences(may.kind)) {
      if (!scenario.network.timeout) scenario.network.timeout = 5_ms;
    }
  }
  return scenario;
}

}  // namespace lockstep::scenarios
