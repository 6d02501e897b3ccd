// Worlds in which the search once lost outcomes, and the search that tries all that is run after an infeasible event, as an oracle.

#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "checker/explorer.hpp"
#include "checker/toy_world.hpp"

namespace lockstep::checker {
namespace {

using Mutant = ExplorerOptions::Mutant;

#if defined(__OPTIMIZE__) && !__has_feature(address_sanitizer)
constexpr std::uint64_t kWorlds = 8'000;
#else
constexpr std::uint64_t kWorlds = 300;
#endif

constexpr toy::Size kLarge{.servers = 1, .processes = 6, .puts = 8, .steps = 6, .latency_us = 8, .describes = true};
constexpr toy::Size kSmall{.servers = 1, .processes = 5, .puts = 6, .steps = 4, .latency_us = 8, .describes = true};

struct Found {
  std::set<std::string> outcomes;
  ExplorerCounts counts;
};

Found explored(std::uint64_t seed, const toy::Size& size, ExplorerOptions options) {
  options.max_traces = 3'000;
  Explorer explorer(options);
  toy::World world(seed, explorer, size);
  Found found;
  found.counts = explorer.explore(world, [&](Explorer&) {
    found.outcomes.insert(world.outcome());
    return true;
  });
  return found;
}

}  // namespace

// Each found among some 100,000 worlds of its size; the unreduced search would take hours.
TEST_CASE("explorer: whoever is picked and turns out to sleep gives way to another") {
  const auto whole = explored(124'788, kSmall, {.thorough = true}).outcomes;
  CHECK(explored(124'788, kSmall, {}).outcomes == whole);
  CHECK(explored(124'788, kSmall, {.mutant = Mutant::picks_once}).outcomes.size() < whole.size());
  // Here one of the two mistakes alone does no harm.
  for (const auto& [seed, size] : {std::pair{495'473U, kSmall}, {59'212U, kLarge}}) {
    INFO("world " << seed);
    CHECK(explored(seed, size, {}).outcomes == explored(seed, size, {.thorough = true}).outcomes);
  }
}

TEST_CASE("explorer: after an infeasible event no race hides another") {
  const auto whole = explored(74'781, kLarge, {.thorough = true}).outcomes;
  CHECK(explored(74'781, kLarge, {}).outcomes == whole);
  CHECK(explored(74'781, kLarge, {.mutant = Mutant::hide_races_beyond}).outcomes.size() < whole.size());
}

TEST_CASE("explorer: more effort after infeasible events finds nothing more") {
  const toy::Size sizes[] = {
      kLarge,
      {.servers = 2, .processes = 7, .puts = 9, .steps = 4, .latency_us = 20, .describes = true},
      {.servers = 1, .processes = 5, .puts = 7, .steps = 6, .latency_us = 12, .describes = true, .gathers = true},
      {.servers = 1, .processes = 5, .puts = 5, .steps = 3, .latency_us = 4, .describes = true, .tickers = 1},
  };
  std::uint64_t compared = 0;
  std::uint64_t traces = 0;
  std::uint64_t infeasible = 0;
  std::uint64_t infeasible_thorough = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const toy::Size& size = sizes[seed % std::size(sizes)];
    const Found thorough = explored(seed, size, {.thorough = true});
    if (!thorough.counts.complete) continue;
    const Found found = explored(seed, size, {});
    ++compared;
    traces += found.counts.traces;
    infeasible += found.counts.infeasible;
    infeasible_thorough += thorough.counts.infeasible;
    INFO("world " << seed);
    REQUIRE(found.outcomes == thorough.outcomes);
  }
  WARN(compared << " worlds, " << traces << " traces; infeasible: " << infeasible << " and " << infeasible_thorough);
  CHECK(compared > kWorlds / 2);
  CHECK(infeasible_thorough > infeasible + infeasible / 10);
}

}  // namespace lockstep::checker
