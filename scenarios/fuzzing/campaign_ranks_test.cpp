// Campaigns that several processes play together: the same as one alone.

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/format/loader.hpp"
#include "scenarios/fuzzing/campaign.hpp"
#include "scenarios/testing/ranks_in_threads.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::campaign_ranks_test {
namespace {

using testing::catalogue;

using models::locks::Catalogue;

/// A story that breaks: something is made small.
std::vector<FuzzTarget> targets() {
  auto story = load(in_tree("scenarios/stories/lock-summary/f001-6-expires-between-get-and-del.toml"), catalogue());
  REQUIRE(std::holds_alternative<Scenario>(story));
  return {target_of(std::get<Scenario>(story), catalogue())};
}

constexpr int kBatches = 2;

/// The state after some batches, of each rank.
std::vector<std::string> played(std::size_t count, std::size_t jobs) {
  const std::vector<FuzzTarget> what = targets();
  std::vector<std::string> states(count);
  in_ranks(count, [&](Ranks& ranks) {
    Campaign campaign(what, catalogue(), {.seed = 5, .jobs = jobs, .ranks = &ranks});
    for (int i = 0; i < kBatches && campaign.step();) ++i;
    states[ranks.rank()] = to_text(campaign.state());
  });
  return states;
}

}  // namespace

TEST_CASE("campaign: the same with any number of ranks, and on each of them") {
  Campaign alone(targets(), catalogue(), {.seed = 5});
  for (int i = 0; i < kBatches; ++i) REQUIRE(alone.step());
  REQUIRE(!alone.state().findings.empty());
  REQUIRE(!alone.state().corpus.empty());
  const std::string one = to_text(alone.state());
  for (const std::size_t count : {1, 2, 3}) {
    for (const std::string& state : played(count, count == 2 ? 2 : 1)) {
      INFO(count << " ranks");
      CHECK(state == one);
    }
  }
}

TEST_CASE("campaign: if one rank is interrupted, all stop, and nothing of the batch counts") {
  std::vector<std::string> states(3);
  std::vector<char> went_on(3);
  const std::vector<FuzzTarget> what = targets();
  in_ranks(3, [&](Ranks& ranks) {
    FuzzOptions options{.seed = 5, .ranks = &ranks};
    if (ranks.rank() == 1) options.interrupted = [] { return true; };
    Campaign campaign(what, catalogue(), options);
    went_on[ranks.rank()] = campaign.step();
    states[ranks.rank()] = to_text(campaign.state());
  });
  Campaign fresh(what, catalogue(), {.seed = 5});
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(!went_on[rank]);
    CHECK(states[rank] == to_text(fresh.state()));
  }
}

TEST_CASE("campaign: the first rank's time is what counts") {
  std::vector<int> batches(2);
  const std::vector<FuzzTarget> what = targets();
  in_ranks(2, [&](Ranks& ranks) {
    // Of the other one it is over at once.
    double now = 0;
    const double pace = ranks.rank() == 0 ? 1 : 1000;
    FuzzOptions options{.seed = 5, .max_seconds = 10, .stopwatch = [&now, pace] { return now += pace; }};
    options.ranks = &ranks;
    options.shrinks = false;
    Campaign campaign(what, catalogue(), options);
    while (campaign.step()) ++batches[ranks.rank()];
  });
  CHECK(batches[0] > 0);
  CHECK(batches[0] == batches[1]);
}

}  // namespace lockstep::scenarios::campaign_ranks_test
