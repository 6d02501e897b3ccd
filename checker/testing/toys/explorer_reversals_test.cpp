// What is tried where a race is reversed: enough, and little more.

#include <catch2/catch.hpp>

#include "checker/explorer/explorer.hpp"
#include "checker/testing/toys/toy_runs.hpp"

namespace lockstep::checker::explorer_reversals_test {
namespace {

using Mutant = SearchMutant;
using toy::has_all;

/// A concrete run of this world has an outcome that the mutant loses and the search finds.
void check_that_runs_show(std::uint64_t seed, const toy::Size& size, Mutant mutant) {
  INFO("world " << seed);
  const auto whole = toy::explored_if_small(seed, size, {}).outcomes;
  CHECK(whole == toy::explored_if_small(seed, size, {.thorough = true}).outcomes);
  const auto lost = toy::explored_if_small(seed, size, {}, mutant).outcomes;
  CHECK(lost.size() < whole.size());
  const auto drawn = toy::drawn(seed, size, 2'000);
  CHECK(has_all(whole, drawn));
  CHECK(!has_all(lost, drawn));
}

}  // namespace

TEST_CASE("explorer: what is no answer to the question is not taken for one that may come in any order") {
  check_that_runs_show(7'134, toy::kGathersOfThree, Mutant::miscount);
}

TEST_CASE("explorer: an answer comes first only if its timeout comes later in every execution") {
  for (const std::uint64_t seed : {9U, 12U}) check_that_runs_show(seed, toy::kSmall, Mutant::forget_timeouts);
}

TEST_CASE("explorer: who sleeps with some answers alone does not stand for what begins with him") {
  check_that_runs_show(174, toy::kGathers, Mutant::doze);
}

TEST_CASE("explorer: of n answers to one question no order is begun in vain") {
  for (const std::uint64_t servers : {2U, 3U, 4U, 5U, 6U}) {
    INFO(servers << " servers");
    Explorer explorer({});
    toy::World world(toy::World::Question{servers, toy::Says::its_own}, explorer);
    const ExplorerCounts counts = explorer.explore(world, [](Explorer&) { return true; });
    CHECK(counts.complete);
    CHECK(counts.traces == servers);
    CHECK(counts.blocked == 0);
  }
}

}  // namespace lockstep::checker::explorer_reversals_test
