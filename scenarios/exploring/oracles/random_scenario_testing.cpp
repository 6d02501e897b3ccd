#include "models/servers/server_kind.hpp"
#include "scenarios/exploring/oracles/random_scenario.hpp"
#include "scenarios/story/own_lock.hpp"

#include <array>

#include <fmt/format.h>

#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {
namespace {

using models::locks::ParameterRole;
using sim::Duration;
using sim::DurationRange;
using sim::Random;
using sim::random_ms;

constexpr std::array<std::string_view, 8> kSteps{"SETNX", "SET", "GET", "GETSET", "DEL", "EVAL", "acquire", "release"};
constexpr std::size_t kCommands = 6;  ///< of them are messages

DurationRange range(Random& random, std::int64_t lo, std::int64_t hi) {
  const Duration from = random_ms(random, lo, hi);
  return {from, random.one_in(3) ? from : from + random_ms(random, 0, hi - lo)};
}

ClockSpec clock(Random& random) {
  ClockSpec clock;
  if (random.one_in(3)) clock.offset = random_ms(random, -200, 200);
  if (random.one_in(4)) clock.drift_ppm = random.between(-50'000, 50'000);
  if (random.one_in(4)) clock.uptime = random_ms(random, 0, 200);
  return clock;
}

void choose_lock(Random& random, const models::locks::Catalogue& catalogue, Scenario& scenario) {
  const std::span<const models::locks::Entry> entries = catalogue.entries();
  const models::locks::Entry& entry = entries[random.below(entries.size())];
  scenario.lock.algorithm = entry.id;
  for (const models::locks::ParameterSpec& spec : entry.parameters) {
    auto& parameters = scenario.lock.parameters;
    const bool is_lease = spec.role == ParameterRole::lease || spec.role == ParameterRole::newcomers_lease;
    if (is_lease && &spec == models::locks::find_lease(entry.parameters))
      parameters.emplace(spec.name,
                         entry.id == "setnx-expire-two-step" ? Duration::seconds(1) : random_ms(random, 20, 200));
    if (spec.name == "attempts") parameters.emplace("attempts", random.between(1, 4));
    if (spec.name == "retry") parameters.emplace("retry", range(random, 1, 20));
    if (spec.name == "acquire_timeout") parameters.emplace("acquire_timeout", random_ms(random, 0, 50));
    if (spec.role == ParameterRole::places) parameters.emplace(spec.name, random.between(1, 2));
    if (spec.name == "poll") parameters.emplace("poll", range(random, 1, 20));
    if (spec.role == ParameterRole::server_patience) parameters.emplace(spec.name, random_ms(random, 5, 50));
    if (std::holds_alternative<bool>(spec.fallback) && random.one_in(3)) {
      parameters.emplace(spec.name, !std::get<bool>(spec.fallback));
    }
    if (!spec.choices.empty())
      parameters.emplace(spec.name, std::string(spec.choices[random.below(spec.choices.size())]));
  }
  const std::uint64_t servers = entry.many_nodes ? 3 + 2 * random.below(2) : 1;
  for (std::uint64_t i = 0; i < servers; ++i) {
    ServerSpec server;
    server.kind = &server_kind_of(entry);
    server.name = server_name(*server.kind, i, servers);
    server.clock = clock(random);
    if (random.one_in(4)) server.latency = range(random, 1, 10);
    scenario.servers.push_back(std::move(server));
  }
}

/// In every eighth world somebody has a lease of his own. The draws are not those of the rest, which so stays as it was
/// without.
void give_own_lease(std::uint64_t seed, const models::locks::Catalogue& catalogue, Scenario& scenario) {
  Random random(sim::combine64(0x6c65617365, seed));
  const models::locks::ParameterSpec* lease =
      models::locks::find_lease(find_entry(scenario.lock, catalogue)->parameters);
  if (lease == nullptr || !random.one_in(8)) return;
  ClientSpec& client = scenario.clients[random.below(scenario.clients.size())];
  client.parameters.emplace(lease->name, Duration::seconds(random.between(1, 2)) / (random.one_in(2) ? 1 : 20));
}

/// A file could not say it either.
void forget_what_its_kind_does_not_know(FaultSpec& fault, bool of_server) {
  const FaultSpec standard;
  const FaultSpec::Kind kind = fault.kind;
  const bool of_messages = strikes_message(kind);
  if (!lasts(kind)) fault.length = standard.length;
  if (!moves_clock(kind)) fault.by = standard.by;
  if (!may_come_back(kind)) fault.restart_after.reset();
  if (!may_come_back(kind) || !of_server) fault.keep = false;
  if (!of_messages) fault.direction = standard.direction;
  if (of_messages) fault.trigger.kind = Trigger::Kind::sent;
  if (!cuts_off(kind)) fault.between.clear();
  if (cuts_off(kind)) fault.who.clear();
}

/// The same draw for every kind of server, which has its own requests.
std::string_view step_of(std::size_t drawn, const Scenario& scenario) {
  const models::ServerKind& kind = *scenario.servers.front().kind;
  if (kind.is_redis() || drawn >= kCommands) return kSteps[drawn];
  const std::vector<std::string_view> requests = kind.requests();
  return requests[drawn % requests.size()];
}

FaultSpec random_fault(Random& random, const Scenario& scenario) {
  constexpr std::array kKinds{FaultSpec::Kind::pause,    FaultSpec::Kind::pause, FaultSpec::Kind::crash,
                              FaultSpec::Kind::jump,     FaultSpec::Kind::lose,  FaultSpec::Kind::delay,
                              FaultSpec::Kind::partition};
  FaultSpec fault;
  fault.kind = kKinds[random.below(kKinds.size())];
  const std::string& client = scenario.clients[random.below(scenario.clients.size())].name;
  const std::string& server = scenario.servers[random.below(scenario.servers.size())].name;
  const bool of_messages = strikes_message(fault.kind);
  const bool of_server = !of_messages && random.one_in(3);
  fault.who = of_server ? server : client;
  fault.length = DurationRange::exactly(random_ms(random, 1, 300));
  fault.by = DurationRange::exactly(random_ms(random, -200, 200));
  if (random.one_in(2)) fault.restart_after = DurationRange::exactly(random_ms(random, 1, 100));
  fault.keep = random.one_in(2);
  fault.direction = random.one_in(2) ? FaultSpec::Direction::request : FaultSpec::Direction::reply;
  fault.between = {{client}, {server}};
  if (of_server || cuts_off(fault.kind) || (!of_messages && random.one_in(2))) {
    fault.trigger.kind = Trigger::Kind::at;
    fault.trigger.time = random_ms(random, 0, 300);
  } else {
    constexpr std::array kMoments{Trigger::Kind::before, Trigger::Kind::sent, Trigger::Kind::after};
    fault.trigger.kind = kMoments[random.below(kMoments.size())];
    fault.trigger.step = step_of(random.below(of_messages ? kCommands : kSteps.size()), scenario);
    fault.trigger.occurrence = random.between(1, 2);
  }
  forget_what_its_kind_does_not_know(fault, of_server);
  return fault;
}

}  // namespace

Scenario random_scenario(std::uint64_t seed, const models::locks::Catalogue& catalogue) {
  Random random(sim::combine64(0x72616e646f6d, seed));
  Scenario scenario;
  scenario.file = scenario.id = fmt::format("random-{}", seed);
  choose_lock(random, catalogue, scenario);
  scenario.network.latency = range(random, 1, 10);
  scenario.network.timeout = random_ms(random, 20, 100);
  if (random.one_in(2)) {
    scenario.resource = ResourceSpec{.kind = random.one_in(2) ? ResourceSpec::Kind::counter : ResourceSpec::Kind::reg,
                                     .fenced = random.one_in(2),
                                     .latency = std::nullopt};
  }
  const std::uint64_t clients = 1 + random.below(5);
  for (std::uint64_t i = 0; i < clients; ++i) {
    ClientSpec client;
    client.name = client_name(i);
    client.acquire_at = range(random, 0, 200);
    client.hold = range(random, 0, 80);
    client.rounds = random.between(1, 3);
    client.between = range(random, 0, 20);
    client.release = !random.one_in(8);
    client.clock = clock(random);
    scenario.clients.push_back(std::move(client));
  }
  give_own_lease(seed, catalogue, scenario);
  for (std::uint64_t faults = random.below(4); faults > 0; --faults)
    scenario.faults.push_back(random_fault(random, scenario));
  return scenario;
}

}  // namespace lockstep::scenarios
