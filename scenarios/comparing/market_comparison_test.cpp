// What the guards of a market cost: the shape that the book reports, and that no guard sells twice.

#include "scenarios/comparing/market_comparison.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>

#include "scenarios/format/loader.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::market_comparison_test {
namespace {

using namespace sim::literals;

std::vector<MarketRun> runs_of(const std::string& id, std::uint64_t seed = 1) {
  static const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  auto loaded = load(in_tree("scenarios/stories/market/") + id + ".toml", catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&loaded)) FAIL(problem->to_string());
  MarketOptions options;
  options.length = 3_s;
  options.seed = seed;
  auto runs = compare_markets(std::get<Scenario>(loaded), catalogue, options);
  if (const auto* problem = std::get_if<Diagnostic>(&runs)) FAIL(problem->to_string());
  return std::get<std::vector<MarketRun>>(runs);
}

}  // namespace

TEST_CASE(
    "market: whatever the guard and the size, nothing is sold twice, and something once, unless the buyer is starved") {
  for (const std::string id : {"watch", "lock", "fine"}) {
    const std::vector<MarketRun> runs = runs_of(id);
    REQUIRE(runs.size() == 3);
    for (const MarketRun& run : runs) {
      INFO(id << ' ' << run.sellers << " + " << run.buyers);
      CHECK(run.listed > 0);
      CHECK(run.bought <= run.listed);
      CHECK(run.is_sound);
      if (id == "watch" && run.sellers > run.buyers) {
        // What the buyer watches, five sellers change all the time: it may get nothing at all.
        CHECK(run.retries > 100 * std::max<std::uint64_t>(run.bought, 1));
        continue;
      }
      CHECK(run.bought > 0);
      REQUIRE(run.waiting_median);
      CHECK(*run.waiting_median <= *run.waiting_p99);
    }
  }
}

TEST_CASE("market: the same seed gives the same figures, another seed others") {
  const MarketRun once = runs_of("watch")[2];
  const MarketRun again = runs_of("watch")[2];
  const MarketRun other = runs_of("watch", 2)[2];
  CHECK(once.messages == again.messages);
  CHECK(once.retries == again.retries);
  CHECK(once.messages != other.messages);
}

TEST_CASE(
    "market: one lock for all lets sellers list less than WATCH does, and a lock for each item lets them list again") {
  std::map<std::string, MarketRun> busy;
  for (const std::string id : {"watch", "lock", "fine"}) busy[id] = runs_of(id)[2];
  CHECK(busy["lock"].listed < busy["watch"].listed);
  CHECK(busy["fine"].listed > busy["lock"].listed);
  CHECK(busy["fine"].retries < busy["watch"].retries);
}

}  // namespace lockstep::scenarios::market_comparison_test
