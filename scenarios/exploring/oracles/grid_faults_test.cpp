// Each kind of fault by brute force, against the explorer: for every property they must agree, as far as a grid can tell.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/exploring/oracles/grid.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/tiny_story.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::grid_faults_test {
namespace {

using testing::catalogue;

using checker::Verdict;
using sim::Duration;
using sim::DurationRange;
using namespace sim::literals;
using Kind = MaySpec::Kind;

const std::uint64_t kStories = sim::cases<std::uint64_t>(100, 6);

bool is_on_grid(Duration d) { return d == Duration::milliseconds(d.floor_ms()); }

/// Whether brute force with a tick of 1ms meets this very run. It lets nobody crash when nothing more was to come, and
/// nobody is paused before something is due to him: which is no restriction only if shorter pauses are allowed, too.
bool is_on_grid(const Scenario& witness, const Scenario& story) {
  const bool has_pause = std::any_of(witness.faults.begin(), witness.faults.end(),
                                     [](const FaultSpec& fault) { return freezes(fault.kind); });
  const bool are_exact = std::any_of(story.may.begin(), story.may.end(),
                                     [](const MaySpec& may) { return freezes(may.kind) && may.length.is_exact(); });
  if (has_pause && are_exact) return false;
  const auto crash = std::find_if(witness.schedule.begin(), witness.schedule.end(), [](const ScheduleEntry& entry) {
    return entry.what == sim::EventName::of(sim::FaultKind::crash);
  });
  if (crash != witness.schedule.end()) {
    const bool is_last = std::all_of(crash, witness.schedule.end(),
                                     [&](const ScheduleEntry& entry) { return entry.process == crash->process; });
    if (is_last) return false;
  }
  for (const ScheduleEntry& entry : witness.schedule) {
    if (!is_on_grid(entry.time)) return false;
  }
  for (const FaultSpec& fault : witness.faults) {
    if (!is_on_grid(fault.trigger.time) || !is_on_grid(fault.length.lo) || !is_on_grid(fault.by.lo)) return false;
    if (fault.restart_after && !is_on_grid(fault.restart_after->lo)) return false;
  }
  return true;
}

struct Tally {
  std::uint64_t stories = 0, complete = 0, runs = 0;
  std::map<std::string_view, std::uint64_t> violated;
  std::uint64_t violations = 0, margins = 0;
};

/// How far above a margin the least value lies that breaks this property on a grid of half a millisecond.
Duration apart_on_finer_grid(const Scenario& scenario, std::string_view property, Duration margin) {
  auto on_grid = explore_grid(scenario, catalogue(), 500_us, {.max_traces = 100'000});
  const ExploredProperty& finer = std::get<Exploration>(on_grid).property(property);
  return finer.thresholds.empty() ? Duration::seconds(1) : finer.thresholds.front().infimum.value - margin;
}

/// Whether what no replay shows needs moments less than a millisecond apart, of a lock that stores whole ones: `check`
/// says so, and that it may be no error.
bool is_between_milliseconds(const Exploration& exact) {
  return std::any_of(exact.properties.begin(), exact.properties.end(), [](const ExploredProperty& property) {
    return property.why.find("whole milliseconds") != std::string::npos;
  });
}

/// What the two say of one story, where they contradict each other; empty: nowhere.
std::string contradictions(const Scenario& scenario, Tally& tally) {
  // A lock that is never free again is probed for two minutes of each run.
  const bool may_be_stuck = scenario.lock.algorithm == "setnx-ts-inverted";
  auto on_grid = explore_grid(scenario, catalogue(), 1_ms, {.max_traces = may_be_stuck ? 5U : 3'500U});
  if (const auto* problem = std::get_if<Diagnostic>(&on_grid)) return problem->to_string();
  const auto& grid = std::get<Exploration>(on_grid);
  auto explored = explore(scenario, catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&explored)) return problem->to_string();
  const auto& exact = std::get<Exploration>(explored);
  ++tally.stories;
  tally.runs += grid.counts.traces;
  tally.complete += grid.counts.complete ? 1 : 0;

  std::string wrong;
  const auto say = [&](std::string_view property, const std::string& what) {
    wrong += std::string(property) + ": " + what + "\n";
  };
  if (!exact.counts.complete) say("all", "the exploration is not complete");
  if (exact.unconfirmed != 0 && !is_between_milliseconds(exact))
    say("all", std::to_string(exact.unconfirmed) + " unconfirmed");
  for (const ExploredProperty& coarse : grid.properties) {
    const ExploredProperty& fine = exact.property(coarse.name);
    if (fine.verdict == Verdict::unknown && coarse.verdict == Verdict::violated)
      say(fine.name, "the grid breaks it, the explorer does not know: " + fine.why);
    if (coarse.verdict == Verdict::violated && fine.verdict == Verdict::holds)
      say(fine.name, "only the grid breaks it: " + coarse.why);
    if (fine.verdict != Verdict::violated) continue;
    ++tally.violated[fine.name];
    ++tally.violations;
    if (!fine.witness) {
      say(fine.name, "violated, but no witness");
      continue;
    }
    if (grid.counts.complete && coarse.verdict == Verdict::holds && is_on_grid(*fine.witness, scenario)) {
      say(fine.name, "the grid did not meet the witness:\n" + to_toml(*fine.witness));
    }
    if (coarse.verdict != Verdict::violated) continue;
    for (const Threshold& margin : coarse.thresholds) {
      const MaySpec& may = scenario.may.front();
      const Duration from = may.kind == Kind::crash ? may.restart_after->lo : may.length.lo;
      // Downwards the grid tells the lowest value that breaks, not the one that is next to zero.
      if (from < 0_ms) continue;
      if (fine.thresholds.size() != 1) {
        say(fine.name, std::to_string(fine.thresholds.size()) + " margins");
        continue;
      }
      const checker::Extent exactly = fine.thresholds.front().infimum;
      const Duration least = std::max(margin.infimum.value, from);
      const std::string both = sim::to_string(exactly.value) + (exactly.attained ? "" : " (not attained)") +
                               " against " + sim::to_string(least) + " on the grid";
      ++tally.margins;
      if (exactly.attained ? exactly.value > least : exactly.value >= least) say(fine.name, "margin " + both);
      // All bounds are whole ticks: a margin that is attained is attained on the grid, and else the next tick is beyond it.
      // Only several strict inequalities in one cycle need more than one tick: then half a tick comes half as close.
      const Duration apart = least - exactly.value;
      if (!grid.counts.complete || apart <= (exactly.attained ? 0_ms : 1_ms)) continue;
      if (exactly.attained || apart_on_finer_grid(scenario, fine.name, exactly.value) * 2 > apart)
        say(fine.name, "early margin " + both);
    }
  }
  return wrong;
}

/// `one_in`: of so many stories the grid is complete for one at least.
void compare(const std::vector<Scenario>& stories, std::size_t one_in) {
  Tally tally;
  std::size_t wrong = 0;
  for (const Scenario& story : stories) {
    const std::string found = contradictions(story, tally);
    if (found.empty()) continue;
    ++wrong;
    if (wrong <= 3)
      FAIL_CHECK(story.id << "\n" << found << "--- of\n" << to_toml(story));
    else
      FAIL_CHECK(story.id << " " << found.substr(0, 200));
  }
  std::string by_property;
  for (const auto& [name, count] : tally.violated) by_property += " " + std::string(name) + " " + std::to_string(count);
  WARN(tally.runs << " runs, " << tally.complete << " of " << tally.stories << " complete, " << tally.margins
                  << " margins; broken:" << by_property);
  CHECK(wrong == 0);
  if (stories.size() < 33) return;  // too few to say that they are not vacuous
  CHECK(tally.violations >= stories.size() / 4);
  CHECK(tally.complete > stories.size() / one_in);
}

void compare(Kind kind, std::uint64_t first = 0, std::uint64_t count = kStories) {
  std::vector<Scenario> stories;
  for (std::uint64_t seed = first; seed < first + count; ++seed) stories.push_back(tiny_story(seed, kind));
  compare(stories, 4);
}

/// Pauses strike a client that works, once or twice, and may begin at any moment of that.
Scenario worked_story(std::uint64_t seed) {
  Scenario story = tiny_story(seed, Kind::pause);
  MaySpec& may = story.may.front();
  if (may.who.front() == "redis") may.who = {"A"};
  may.during = sim::Activity::work;
  if (seed % 3 == 0) may.times = 2;
  return story;
}

constexpr std::array kCommon{Kind::pause,     Kind::crash, Kind::lose, Kind::delay,
                             Kind::partition, Kind::jump,  Kind::skew};

}  // namespace

TEST_CASE("grid and explorer agree on stories with pauses") { compare(Kind::pause); }
TEST_CASE("grid and explorer agree on stories with crashes") { compare(Kind::crash); }
TEST_CASE("grid and explorer agree on stories with losses") { compare(Kind::lose); }
TEST_CASE("grid and explorer agree on stories with delays") { compare(Kind::delay); }
TEST_CASE("grid and explorer agree on stories with partitions") { compare(Kind::partition); }
TEST_CASE("grid and explorer agree on stories with faults while somebody acquires or releases") {
  for (const Kind kind : {Kind::pause, Kind::crash, Kind::lose, Kind::delay})
    compare(kind, kFirstLimited, kStories / 3);
}
TEST_CASE("grid and explorer agree on stories with jumps") { compare(Kind::jump); }
TEST_CASE("grid and explorer agree on stories with skew") { compare(Kind::skew); }

TEST_CASE("grid and explorer agree on stories with faults of every other kind of the table") {
  for (const Kind kind : sim::kFaultKinds) {
    if (std::find(kCommon.begin(), kCommon.end(), kind) == kCommon.end()) compare(kind);
  }
}

TEST_CASE("grid and explorer agree on stories with pauses of work") {
  std::vector<Scenario> stories;
  for (std::uint64_t seed = 0; seed < kStories; ++seed) stories.push_back(worked_story(seed));
  compare(stories, 4);
}

TEST_CASE("grid and explorer agree on stories with faults of two kinds") {
  std::vector<std::array<Kind, 2>> kinds;
  for (const Kind one : kCommon) {
    for (const Kind other : kCommon) {
      if (one != other) kinds.push_back({one, other});
    }
  }
  const auto story = [&](std::uint64_t seed) {
    const auto [one, other] = kinds[seed % kinds.size()];
    return with_another_fault(tiny_story(seed, one), seed, other);
  };
  std::vector<Scenario> stories;
  for (std::uint64_t seed = 0; seed < 4 * kinds.size(); seed += sim::cases<std::uint64_t>(1, 16))
    stories.push_back(story(seed));
  // These had found something out: somebody who crashes in a pause.
  for (const std::uint64_t seed : {504U, 588U, 720U, 1470U}) {
    if (!sim::takes_few_cases()) stories.push_back(story(seed));
  }
  compare(stories, 20);
}

TEST_CASE("grid and explorer agree on stories with faults of three kinds") {
  std::vector<Scenario> stories;
  std::uint64_t seed = 0;
  for (std::uint64_t round = 0; round < sim::cases<std::uint64_t>(4, 1); ++round) {
    for (std::size_t i = 0; i < kCommon.size(); ++i) {
      for (std::size_t j = i + 1; j < kCommon.size(); ++j) {
        for (std::size_t k = j + 1; k < kCommon.size(); ++k, ++seed) {
          // The twelfth alone takes a minute.
          if (sim::takes_few_cases() && seed % 3 != 1) continue;
          const Scenario with_two = with_another_fault(tiny_story(seed, kCommon[i]), seed, kCommon[j]);
          stories.push_back(with_another_fault(with_two, seed + 1, kCommon[k]));
        }
      }
    }
  }
  compare(stories, 100);
}

}  // namespace lockstep::scenarios::grid_faults_test
