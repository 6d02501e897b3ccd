// Margins of clocks that are behind: the least amount by which a clock must be set back, exactly, against a grid of such amounts.

#include <algorithm>
#include <catch2/catch.hpp>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/exploring/oracles/grid.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/tiny_story.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::grid_downward_test {
namespace {

using testing::catalogue;

using checker::Verdict;
using sim::Duration;
using sim::DurationRange;
using namespace sim::literals;
using Kind = MaySpec::Kind;

const std::uint64_t kSeeds = sim::cases<std::uint64_t>(3'000, 40);

Exploration explored(const Scenario& scenario) {
  auto result = explore(scenario, catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Exploration>(std::move(result));
}

/// By how much the clocks of the story must be set back at least, in whole milliseconds, so that some run on the grid breaks the
/// property; nothing: by more than the range allows. Unknown, too, if the grid has too many runs.
struct OnTheGrid {
  std::optional<Duration> amount;
  bool is_complete = true;
};

OnTheGrid least_amount(const Scenario& scenario, std::string_view property) {
  OnTheGrid found;
  for (Duration back = 0_ms; back <= -scenario.may.front().length.lo; back += 1_ms) {
    Scenario exact = scenario;
    if (back == 0_ms) {
      exact.may.clear();
    } else {
      exact.may.front().length = DurationRange::exactly(-back);
    }
    auto grid = explore_grid(exact, catalogue(), 1_ms, {.max_traces = 3'500});
    const auto& runs = std::get<Exploration>(grid);
    found.is_complete = found.is_complete && runs.counts.complete;
    if (runs.property(property).verdict != Verdict::violated) continue;
    found.amount = back;
    return found;
  }
  return found;
}

}  // namespace

TEST_CASE("grid and explorer agree on the least amount by which a clock must be set back") {
  std::uint64_t stories = 0;
  std::uint64_t margins = 0;
  std::uint64_t beyond_zero = 0;
  for (const Kind kind : {Kind::jump, Kind::skew}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Scenario scenario = tiny_story(5'000 + seed, kind);
      const DurationRange range = scenario.may.front().length;
      // A clock that a lock of its own clocks waits for may stop it for ever.
      if (range.is_exact() || range.lo >= 0_ms || scenario.lock.algorithm == "setnx-ts-inverted") continue;
      ++stories;
      const Exploration exact = explored(scenario);
      REQUIRE(exact.counts.complete);
      // Most break without any fault, or not at all: of these a few.
      const bool is_telling =
          std::any_of(exact.properties.begin(), exact.properties.end(), [](const ExploredProperty& property) {
            return !property.thresholds.empty() && property.thresholds.front().infimum.value < 0_ms;
          });
      if (!is_telling && seed % 16 != 0) continue;
      for (const char* name : {"mutual-exclusion", "linearizable", "own-release", "no-lost-update", "fencing"}) {
        INFO(name << " of\n" << to_toml(scenario));
        const ExploredProperty& property = exact.property(name);
        const OnTheGrid grid = least_amount(scenario, name);
        if (property.verdict != Verdict::violated) {
          CHECK(!grid.amount);
          continue;
        }
        REQUIRE(property.thresholds.size() == 1);
        const checker::Extent margin = property.thresholds.front().infimum;
        INFO("margin " << sim::to_string(margin.value) << (margin.attained ? "" : ", not attained"));
        CHECK(margin.value <= 0_ms);
        if (!grid.amount) {
          // The next tick may be beyond the range, or the grid too large.
          CHECK((!grid.is_complete || (!margin.attained && -margin.value + 1_ms > -range.lo)));
          continue;
        }
        ++margins;
        beyond_zero += *grid.amount > 0_ms ? 1 : 0;
        CHECK((margin.attained ? -margin.value <= *grid.amount : -margin.value < *grid.amount));
        if (grid.is_complete) CHECK(*grid.amount + margin.value <= (margin.attained ? 0_ms : 1_ms));
      }
    }
  }
  WARN(stories << " stories, " << margins << " margins, " << beyond_zero << " of them need a clock that is behind");
  if (kSeeds < 1'000) return;
  CHECK(margins > 20);
  CHECK(beyond_zero > 2);
}

}  // namespace lockstep::scenarios::grid_downward_test
