#include "scenarios/matrix/tiny_story.hpp"

#include <array>
#include <string>

#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::DurationRange;
using sim::random_ms;
using namespace sim::literals;

MaySpec fault_of(MaySpec::Kind kind, sim::Random& random) {
  MaySpec may;
  may.kind = kind;
  const char* client = random.one_in(3) ? "B" : "A";
  if (freezes(kind)) {
    may.length = {0_ms, random_ms(random, 2, 6)};
    may.who = {random.one_in(5) ? "redis" : client};
  } else if (may_come_back(kind)) {
    const bool of_server = random.one_in(2);
    may.who = {of_server ? "redis" : client};
    if (of_server || random.one_in(2)) {
      may.restart_after = DurationRange::exactly(random_ms(random, 0, 2));
      if (random.one_in(2)) may.restart_after->hi += random_ms(random, 1, 2);
    }
    may.keep = of_server && random.one_in(2);
  } else if (loses_message(kind)) {
    if (random.one_in(2)) may.who = {client};
    may.times = random.between(1, 2);
  } else if (delays_message(kind)) {
    may.length = {random.one_in(2) ? 0_ms : 1_ms, random_ms(random, 2, 6)};
    if (random.one_in(2)) may.who = {client};
    if (random.one_in(3)) {
      may.direction = random.one_in(2) ? FaultSpec::Direction::request : FaultSpec::Direction::reply;
    }
    if (random.one_in(4)) may.message = "SET";
  } else if (cuts_off(kind)) {
    may.length = {random.one_in(2) ? 0_ms : 1_ms, random_ms(random, 2, 6)};
    if (random.one_in(3)) {
      may.between = {{client}, {"redis"}};
    } else {
      may.who = {random.one_in(3) ? "redis" : client};
    }
  } else if (moves_clock(kind)) {
    const bool of_client = random.one_in(2);
    if (of_client || is_from_the_start(kind)) may.who = {of_client ? client : "redis"};
    // The explorer knows a client's clock to jump by one length alone.
    const bool is_exact = random.one_in(2) || (of_client && is_own_event(kind));
    if (is_exact) {
      may.length = DurationRange::exactly(random_ms(random, 1, 5));
      if (random.one_in(2)) may.length = DurationRange::exactly(-may.length.lo);
    } else {
      may.length = random.one_in(3) ? DurationRange{random_ms(random, -4, -1), 0_ms}
                                    : DurationRange{0_ms, random_ms(random, 1, 5)};
    }
  } else {
    const bool of_client = !sim::may_name(kind, sim::Whose::servers);
    may.who = {of_client ? client : "redis"};
    may.times = random.between(1, 2);
  }
  return may;
}

/// It strikes only while its victim is at something.
void limit(MaySpec& may, sim::Random& random) {
  if (entry_of(may.kind).limited == sim::Limited::no || (!may.who.empty() && may.who.front() == "redis")) return;
  may.during = random.one_in(2) ? sim::Activity::acquire : sim::Activity::release;
}

}  // namespace

Scenario tiny_story(std::uint64_t seed, std::optional<MaySpec::Kind> fault) {
  sim::Random random(sim::combine64(fault ? static_cast<std::uint64_t>(*fault) + 1 : 0, seed));
  Scenario scenario;
  scenario.id = "tiny-" + std::to_string(seed);
  scenario.file = scenario.id + ".toml";
  scenario.title = scenario.story = scenario.lesson = {"t", "t"};
  constexpr std::array kLocks{"set-nx-px-lua",      "set-nx-px-lua", "set-nx-px-plain-del",
                              "setnx-ts-del-setnx", "getset-java",   "setnx-ts-inverted"};
  scenario.lock.algorithm = kLocks[random.below(kLocks.size())];
  scenario.lock.parameters.emplace("ttl", random_ms(random, 2, 5));
  scenario.network.latency = DurationRange::exactly(1_ms);
  if (random.one_in(4)) scenario.network.latency.hi = 2_ms;
  // Whoever loses messages must not wait for ever.
  if ((fault && loses_message(*fault)) || random.one_in(3)) scenario.network.timeout = random_ms(random, 3, 6);
  if (random.one_in(4)) scenario.resource = ResourceSpec{.latency = DurationRange::exactly(1_ms)};
  scenario.servers.push_back({.name = "redis", .clock = {}, .latency = {}});
  for (const char* name : {"A", "B"}) {
    ClientSpec& client = scenario.clients.emplace_back();
    client.name = name;
    client.acquire_at = DurationRange::exactly(client.name == "A" ? random_ms(random, 0, 2) : random_ms(random, 0, 8));
    if (random.one_in(4)) client.acquire_at.hi += random_ms(random, 1, 2);
    client.hold = DurationRange::exactly(random_ms(random, 0, 3));
    client.attempts = 1;
  }
  if (fault) scenario.may.push_back(fault_of(*fault, random));
  if (fault && seed >= kFirstLimited) limit(scenario.may.back(), random);
  return scenario;
}

Scenario with_another_fault(Scenario tiny, std::uint64_t seed, MaySpec::Kind kind) {
  sim::Random random(sim::combine64(seed, static_cast<std::uint64_t>(kind)));
  MaySpec may = fault_of(kind, random);
  may.times = 1;
  if (DurationRange* length = length_of(may))
    *length = DurationRange::exactly(length->hi == Duration::zero() ? length->lo : length->hi);
  if (loses_message(kind) && !tiny.network.timeout) tiny.network.timeout = random_ms(random, 3, 6);
  tiny.may.push_back(std::move(may));
  return tiny;
}

}  // namespace lockstep::scenarios
