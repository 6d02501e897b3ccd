#include "scenarios/fuzzing/fuzzed_world.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/servers/server_kind.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::scenarios {
namespace {

using models::locks::Entry;
using models::locks::ParameterRole;
using models::locks::ParameterSpec;
using sim::Duration;
using sim::DurationRange;
using sim::Random;
using sim::random_ms;

DurationRange up_to(Duration longest) { return {Duration::zero(), longest}; }

MaySpec may_of(MaySpec::Kind kind) {
  MaySpec may;
  may.kind = kind;
  return may;
}

/// What a fault of the file shows that can happen, for whoever it strikes there.
std::optional<MaySpec> may_of(const FaultSpec& fault) {
  MaySpec may;
  if (!fault.who.empty()) may.who = {fault.who};
  may.kind = fault.kind;
  may.keep = fault.keep;
  may.between = fault.between;
  if (fault.restart_after) may.restart_after = up_to(fault.restart_after->hi * 2);
  if (lasts(fault.kind)) may.length = up_to(fault.length.hi * 2);
  if (moves_clock(fault.kind)) {
    const Duration by = std::max(fault.by.hi, -fault.by.lo);
    may.length = {-by, by};
  }
  return may;
}

bool has_lock_users(const Scenario& scenario) {
  return std::any_of(scenario.clients.begin(), scenario.clients.end(),
                     [](const ClientSpec& client) { return client.commands.empty(); });
}

std::vector<std::string> server_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const ServerSpec& server : scenario.servers) names.push_back(server.name);
  return names;
}

/// Whoever loses messages, talks to the dead or is cut off must not wait for ever.
void let_clients_give_up(Scenario& scenario) {
  const bool needs_it = std::any_of(scenario.may.begin(), scenario.may.end(),
                                    [](const MaySpec& may) { return silences(may.kind) || cuts_off(may.kind); });
  if (!needs_it || scenario.network.timeout) return;
  Duration latency = scenario.network.latency.hi;
  for (const ServerSpec& server : scenario.servers)
    latency = std::max(latency, server.latency.value_or(scenario.network.latency).hi);
  // There and back, twice. Members of a cluster ask the leader, and the leader asks the others: three times as far.
  const models::ServerKind& kind = *scenario.servers.front().kind;
  const bool is_cluster = !kind.is_redis() && !kind.are_independent(scenario.servers);
  scenario.network.timeout = std::max(latency * (is_cluster ? 12 : 4), Duration::milliseconds(5));
}

/// As often as the table says. Of those who may come back, the second of two is a server that does.
struct Draw {
  MaySpec::Kind kind = {};
  unsigned ordinal = 0;
};

/// By what they strike, and what strikes from the start first: seeds are written down, so the order stays.
constexpr auto kDraws = [] {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const MaySpec::Kind kind : sim::kFaultKinds) n += sim::entry_of(kind).draws;
    return n;
  }();
  std::array<Draw, count> draws{};
  std::size_t next = 0;
  for (const sim::Victim victim :
       {sim::Victim::process, sim::Victim::message, sim::Victim::clock, sim::Victim::connections}) {
    for (const bool from_the_start : {true, false}) {
      for (const MaySpec::Kind kind : sim::kFaultKinds) {
        if (sim::entry_of(kind).victim != victim || sim::is_from_the_start(kind) != from_the_start) continue;
        for (unsigned i = 0; i < sim::entry_of(kind).draws; ++i) draws[next++] = {kind, i};
      }
    }
  }
  return draws;
}();

/// One of all kinds of faults.
MaySpec some_fault(Random& random, const Scenario& scenario, Duration lease) {
  const Duration longest = lease * random.between(1, 3);
  const Draw& drawn = kDraws[random.below(kDraws.size())];
  MaySpec may = may_of(drawn.kind);
  if (lasts(may.kind)) may.length = up_to(longest);
  if (moves_clock(may.kind)) may.length = {-longest, longest};
  if (may_come_back(may.kind) && drawn.ordinal == 1) {
    may.who = server_names(scenario);
    may.restart_after = up_to(lease);
    may.keep = random.one_in(2);
  }
  // A clock is off once.
  if (!is_from_the_start(may.kind) && random.one_in(3)) may.times = random.between(2, 3);
  return may;
}

Duration longest_of(const Scenario& scenario) {
  Duration longest = Duration::milliseconds(50);
  for (const ClientSpec& client : scenario.clients) longest = std::max(longest, client.hold.hi);
  for (const auto& [name, value] : scenario.lock.parameters) {
    if (const auto* duration = std::get_if<Duration>(&value)) longest = std::max(longest, *duration);
  }
  return std::min(longest, Duration::seconds(60));
}

ClockSpec some_clock(Random& random, Duration lease) {
  ClockSpec clock;
  if (random.one_in(3)) clock.offset = Duration::milliseconds(random.between(-lease.floor_ms(), lease.floor_ms()));
  if (random.one_in(4)) clock.drift_ppm = random.between(-10'000, 10'000);
  if (random.one_in(4)) clock.uptime = random_ms(random, 0, 1000);
  return clock;
}

std::uint64_t some_number_of_clients(Random& random) {
  switch (random.below(10)) {
    case 0: return static_cast<std::uint64_t>(random.between(9, 64));
    case 1:
    case 2: return static_cast<std::uint64_t>(random.between(4, 8));
    case 3:
    case 4:
    case 5: return 3;
    default: return 2;
  }
}

void replicate(Random& random, Scenario& scenario) {
  scenario.servers.front().name = "redis1";
  const std::int64_t replicas = random.between(1, 2);
  for (std::int64_t i = 0; i < replicas; ++i) {
    scenario.servers.push_back({.name = fmt::format("redis{}", i + 2),
                                .clock = {},
                                .latency = std::nullopt,
                                .settings = {{"replica_of", std::string("redis1")}}});
  }
  scenario.network.replication = {scenario.network.latency.lo, scenario.network.latency.hi * random.between(1, 20)};
  SentinelsSpec& sentinels = scenario.sentinels.emplace();
  sentinels.primary = "redis1";
  sentinels.quorum = 2;
  sentinels.down_after = random_ms(random, 100, 500);
  sentinels.failover_timeout = Duration::seconds(3);
  for (const char* name : {"sentinel1", "sentinel2", "sentinel3"}) sentinels.each.push_back({name, {}, {}});
  for (ClientSpec& client : scenario.clients) {
    client.via_sentinel = true;
    client.attempts = 5;
  }
  if (!scenario.network.timeout) scenario.network.timeout = scenario.network.latency.hi * 10;
}

void add_clients(Random& random, const Entry& entry, Duration lease, Scenario& scenario) {
  const std::uint64_t clients = some_number_of_clients(random);
  const bool can_reenter = std::find(entry.claims.begin(), entry.claims.end(), "reentrancy") != entry.claims.end();
  for (std::uint64_t i = 0; i < clients; ++i) {
    ClientSpec& client = scenario.clients.emplace_back();
    client.name = client_name(i);
    client.acquire_at = up_to(lease * random.between(0, 3));
    // Around the lease, and far from it.
    const std::int64_t whole = lease.floor_ms();
    client.hold.lo = random.one_in(3) ? Duration::milliseconds(random.between(whole - whole / 4, whole + whole / 4))
                                      : Duration::milliseconds(random.between(0, whole / 2));
    client.hold.hi =
        random.one_in(3) ? client.hold.lo + Duration::milliseconds(random.between(1, whole)) : client.hold.lo;
    client.rounds = random.one_in(2) ? 1 : random.between(2, 4);
    client.between = {Duration::zero(), random_ms(random, 1, 20)};
    client.attempts = random.one_in(2) ? 1 : random.between(2, 5);
    client.retry = {random_ms(random, 1, 10), random_ms(random, 10, 50)};
    if (can_reenter && random.one_in(3)) client.reenter = 1;
    if (random.one_in(10)) client.release = false;
    if (random.one_in(4)) client.clock = some_clock(random, lease);
  }
}

}  // namespace

bool is_only_world(const Scenario& file, bool as_written) { return as_written || !file.may.empty(); }

Scenario fuzzed_world(const Scenario& file, std::uint64_t seed, bool as_written) {
  Scenario world = file;
  world.faults.clear();
  world.pin.clear();
  world.schedule.clear();
  world.expect_run.clear();
  world.expect_check.clear();
  world.expect_traces.reset();
  if (is_only_world(file, as_written)) return world;
  Random random(sim::combine64(0x66757a7a6564, seed));
  for (const FaultSpec& fault : file.faults) {
    const std::optional<MaySpec> may = may_of(fault);
    if (may && std::find(world.may.begin(), world.may.end(), *may) == world.may.end()) world.may.push_back(*may);
  }
  const std::uint64_t more = file.faults.empty() ? 1 + random.below(2) : random.below(2);
  const bool can_be_struck = has_lock_users(world) && !world.market;
  for (std::uint64_t i = 0; i < more && can_be_struck; ++i)
    world.may.push_back(some_fault(random, world, longest_of(world)));
  let_clients_give_up(world);
  return world;
}

Scenario generated_world(const Entry& entry, std::uint64_t seed) {
  Random random(sim::combine64(0x67656e6572617465, seed));
  Scenario world;
  world.id = fmt::format("{}-{}", entry.id, seed);
  world.file = world.id + ".toml";
  world.title = world.story = world.lesson = {"-", "-"};
  world.source = "lockstep fuzz";
  world.lock.algorithm = entry.id;
  world.lock.own = own_lock_of(entry);
  // EXPIRE knows whole seconds alone.
  const Duration lease =
      random.one_in(2) || entry.id == "setnx-expire-two-step" ? Duration::seconds(1) : random_ms(random, 30, 300);
  world.network.latency.lo = Duration::milliseconds(1);
  world.network.latency.hi = random.one_in(4) ? world.network.latency.lo : random_ms(random, 2, 20);
  if (random.one_in(2)) world.network.timeout = world.network.latency.hi * random.between(3, 10);
  set_lease_and_patience(entry, lease, std::max(world.network.latency.hi * 3, Duration::milliseconds(1)), world.lock);
  constexpr std::array<std::uint64_t, 6> kServers{3, 3, 3, 5, 5, 7};
  const std::uint64_t servers = !entry.many_nodes  ? usual_servers(entry)
                                : random.one_in(5) ? 1 + random.below(9)
                                                   : kServers[random.below(6)];
  for (std::uint64_t i = 0; i < servers; ++i) {
    ServerSpec& server = world.servers.emplace_back();
    server.kind = &server_kind_of(entry);
    server.name = server_name(*server.kind, i, servers);
    if (random.one_in(4)) server.clock = some_clock(random, lease);
    if (random.one_in(6)) server.latency = {Duration::milliseconds(1), random_ms(random, 2, 30)};
  }
  add_clients(random, entry, lease, world);
  if (random.one_in(4)) world.resource = ResourceSpec{.fenced = random.one_in(2), .latency = std::nullopt};
  if (entry.reaches_row && world.resource)
    world.resource = ResourceSpec{.kind = ResourceSpec::Kind::row, .latency = std::nullopt};
  if (server_kind_of(entry).is_redis() && !entry.many_nodes && !entry.subscribes && random.one_in(6))
    replicate(random, world);
  const std::uint64_t faults = random.below(4);
  for (std::uint64_t i = 0; i < faults; ++i) world.may.push_back(some_fault(random, world, lease));
  let_clients_give_up(world);
  return world;
}

}  // namespace lockstep::scenarios
