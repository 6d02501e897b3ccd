// Worlds in which the search once lost outcomes, and as an oracle the search that explains nothing but goes on beyond what is infeasible.

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "checker/explorer.hpp"
#include "checker/toy_runs.hpp"

namespace lockstep::checker {
namespace {

using Mutant = ExplorerOptions::Mutant;
using toy::Found;
using toy::has_all;

#if defined(__OPTIMIZE__) && !__has_feature(address_sanitizer)
constexpr std::uint64_t kWorlds = 8'000;
#else
constexpr std::uint64_t kWorlds = 300;
#endif

constexpr toy::Size kLarge{.servers = 1, .processes = 6, .puts = 8, .steps = 6, .latency_us = 8, .describes = true};
constexpr toy::Size kSmall{.servers = 1, .processes = 5, .puts = 6, .steps = 4, .latency_us = 8, .describes = true};

Found explored(std::uint64_t seed, const toy::Size& size, ExplorerOptions options) {
  options.max_traces = 3'000;
  return toy::explored_whole(seed, size, options);
}

}  // namespace

// Each found among some 100,000 worlds of its size; the unreduced search would take hours.
TEST_CASE("explorer: whoever is picked and turns out to sleep gives way to another") {
  const auto whole = explored(124'788, kSmall, {.thorough = true}).outcomes;
  CHECK(explored(124'788, kSmall, {}).outcomes == whole);
  const auto lost = explored(124'788, kSmall, {.mutant = Mutant::picks_once}).outcomes;
  CHECK(lost.size() < whole.size());
  // This concrete run has one of those that were lost.
  const auto drawn = toy::drawn(124'788, kSmall, 1, 5'435);
  CHECK(has_all(whole, drawn));
  CHECK(!has_all(lost, drawn));
  // Here one of the two mistakes alone does no harm.
  for (const auto& [seed, size] : {std::pair{495'473U, kSmall}, {59'212U, kLarge}}) {
    INFO("world " << seed);
    CHECK(explored(seed, size, {}).outcomes == explored(seed, size, {.thorough = true}).outcomes);
  }
}

TEST_CASE("explorer: an infeasible event is tried in place of those that do not allow it") {
  const toy::Size silent{.servers = 2, .processes = 6, .puts = 8, .steps = 6, .latency_us = 4};
  for (const std::uint64_t seed : {283U, 585U}) {
    INFO("world " << seed);
    const auto whole = explored(seed, silent, {.thorough = true}).outcomes;
    CHECK(explored(seed, silent, {}).outcomes == whole);
    const auto lost = explored(seed, silent, {.mutant = Mutant::forget_conflicts}).outcomes;
    CHECK(lost.size() < whole.size());
    const auto drawn = toy::drawn(seed, silent, 20'000);
    CHECK(has_all(whole, drawn));
    CHECK(!has_all(lost, drawn));
  }
}

TEST_CASE("explorer: what would wake somebody, if only it came in time, is tried where it does") {
  const toy::Size gathers{
      .servers = 1, .processes = 5, .puts = 7, .steps = 6, .latency_us = 12, .describes = true, .gathers = true};
  const toy::Size of_two{
      .servers = 2, .processes = 5, .puts = 7, .steps = 6, .latency_us = 4, .describes = true, .gathers = true};
  for (const auto& [seed, size] : {std::pair{26'086U, of_two}, {21'701U, gathers}, {28'016U, kLarge}}) {
    INFO("world " << seed);
    const auto whole = explored(seed, size, {.thorough = true}).outcomes;
    CHECK(explored(seed, size, {}).outcomes == whole);
    CHECK(explored(seed, size, {.mutant = Mutant::sleep_unasked}).outcomes.size() < whole.size());
  }
  // Here it does no harm any more.
  for (const auto& [seed, size] : {std::pair{60'146U, of_two}, {64'006U, gathers}}) {
    INFO("world " << seed);
    CHECK(explored(seed, size, {}).outcomes == explored(seed, size, {.thorough = true}).outcomes);
  }
}

TEST_CASE(
    "explorer: an event is tried with answers that time does not leave it in place of those that do not allow them") {
  const toy::Size of_two{
      .servers = 2, .processes = 5, .puts = 7, .steps = 6, .latency_us = 4, .describes = true, .gathers = true};
  CHECK(explored(309'779, of_two, {}).outcomes == explored(309'779, of_two, {.thorough = true}).outcomes);
}

TEST_CASE("explorer: a race that another hid after an infeasible event is found") {
  const auto whole = explored(74'781, kLarge, {.thorough = true}).outcomes;
  CHECK(explored(74'781, kLarge, {}).outcomes == whole);
  // This concrete run has an outcome that was lost then.
  CHECK(has_all(whole, toy::drawn(74'781, kLarge, 1, 1'179'525)));
}

TEST_CASE("explorer: worlds that once lost outcomes to what came after an infeasible event") {
  const toy::Size two_servers{
      .servers = 2, .processes = 5, .puts = 7, .steps = 6, .latency_us = 4, .describes = true, .gathers = true};
  const toy::Size silent{.servers = 2, .processes = 6, .puts = 8, .steps = 6, .latency_us = 4};
  for (const std::uint64_t seed : {5'750U, 10'088U, 14'090U, 34'058U, 44'936U, 74'807U}) {
    INFO("world " << seed);
    const toy::Size& size = seed == 74'807 ? silent : two_servers;
    CHECK(explored(seed, size, {}).outcomes == explored(seed, size, {.thorough = true}).outcomes);
  }
}

TEST_CASE("explorer: an infeasible event that changes what a later one does") {
  // Until infeasible events were explained, only the thorough search found all of this.
  const toy::Size size{
      .servers = 2, .processes = 5, .puts = 7, .steps = 6, .latency_us = 4, .describes = true, .gathers = true};
  const Found found = explored(9'399, size, {});
  const Found thorough = explored(9'399, size, {.thorough = true});
  CHECK(thorough.counts.complete);
  CHECK(found.outcomes == thorough.outcomes);
  CHECK(has_all(found.outcomes, toy::drawn(9'399, size, 2'000)));
}

TEST_CASE("explorer: what random runs of larger worlds show is found") {
  std::uint64_t outcomes = 0;
  std::uint64_t met = 0;
  for (std::uint64_t seed = 0; seed < kWorlds / 2; ++seed) {
    const Found found = explored(seed, kLarge, {});
    if (!found.counts.complete) continue;
    const std::set<std::string> drawn = toy::drawn(seed, kLarge, 200);
    INFO("world " << seed);
    REQUIRE(has_all(found.outcomes, drawn));
    outcomes += found.outcomes.size();
    met += drawn.size();
  }
  WARN(met << " of " << outcomes << " outcomes met at random");
  CHECK(met > outcomes / 5);
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
