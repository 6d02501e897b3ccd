#include "scenarios/story/scaled.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <variant>

#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::scaled_test {
namespace {

Outcome outcome_of(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  auto result = run(scenario, catalogue);
  REQUIRE(std::holds_alternative<Outcome>(result));
  return std::get<Outcome>(std::move(result));
}

}  // namespace

TEST_CASE("scaled: the same story in slower time is as expected, at times as much later") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  // Pins, faults by step and by time, leases, clocks that are off, uptimes, pauses, sentinels, threads, permits.
  for (const char* name : {"redis-lock-java/f000-2-both-delete-expired", "redis-lock-java/f000-5-fast-clock-steals",
                           "redis-lock-java/f000-6-same-uptime", "lock-summary/f001-5-deletes-successors-lock",
                           "lock-summary/f001-10-sentinel-failover", "lock-summary/power-loss-forgets-lock",
                           "redisson-source/f003-2-watchdog-pause", "redis-in-action-notes/f004-6-fast-clock-purges"}) {
    INFO(name);
    auto loaded = load(in_tree(std::string("scenarios/stories/") + name + ".toml"), catalogue);
    REQUIRE(std::holds_alternative<Scenario>(loaded));
    const Scenario& told = std::get<Scenario>(loaded);
    const Outcome before = outcome_of(told, catalogue);
    const Outcome after = outcome_of(scaled(told, catalogue, {3, 1}), catalogue);
    CHECK(after.as_expected);
    REQUIRE(after.properties.size() == before.properties.size());
    for (std::size_t i = 0; i < before.properties.size(); ++i) {
      const checker::Finding& first = before.properties[i].finding;
      const checker::Finding& second = after.properties[i].finding;
      INFO(first.property);
      CHECK(second.verdict == first.verdict);
      CHECK(second.by == first.by);
    }
    // Sentinels look at each other in a rhythm of their own.
    if (!told.sentinels) CHECK(after.quiescent.offset() == before.quiescent.offset() * 3);
  }
}

TEST_CASE("scaled: what lasts for ever does so in any time, and what is not said is scaled as what is") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  Scenario told;
  told.lock.algorithm = "set-nx-px-lua";
  told.network.timeout = sim::Duration::forever();
  told.schedule.push_back({.time = sim::Duration::forever()});
  told.clients.push_back({.name = "A", .hold = sim::DurationRange::exactly(sim::Duration::milliseconds(7))});
  const Scenario slower = scaled(told, catalogue, {2, 1});
  CHECK(slower.network.timeout == sim::Duration::forever());
  CHECK(slower.schedule.front().time == sim::Duration::forever());
  CHECK(slower.clients.front().hold.lo == sim::Duration::milliseconds(14));
  const auto ttl = slower.lock.parameters.find("ttl");
  REQUIRE(ttl != slower.lock.parameters.end());
  CHECK(std::get<sim::Duration>(ttl->second) ==
        std::get<sim::Duration>(catalogue.find("set-nx-px-lua")->parameters.front().fallback) * 2);
  CHECK(scaled(told, catalogue, {}) == told);
}

}  // namespace lockstep::scenarios::scaled_test
