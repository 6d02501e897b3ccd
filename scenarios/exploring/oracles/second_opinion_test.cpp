// Concrete runs against the search: what they share is the world alone, so each can tell on the other.

#include "scenarios/exploring/oracles/second_opinion.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "scenarios/checking/check.hpp"
#include "scenarios/exploring/oracles/explored_verdicts.hpp"
#include "scenarios/exploring/oracles/hunted_lock.hpp"
#include "scenarios/exploring/oracles/hunted_story.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/random_run.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::second_opinion_test {
namespace {

using testing::catalogue;
using testing::parsed;

using checker::Verdict;
using sim::Duration;
using namespace sim::literals;

/// The key lives from 1ms at the earliest; A knows of it when it works. The margin of the pause is 71ms.
const std::string kMargin = R"(
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
)";
const std::string kPause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";

Exploration explored(const Scenario& scenario, bool second = false) {
  CheckOptions options;
  options.second_opinion = second;
  options.exploration.max_events = 300'000;
  auto result = check(scenario, catalogue(), options);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Exploration>(std::move(result));
}

ExploredProperty& property_of(Exploration& exploration, std::string_view name) {
  return *std::find_if(exploration.properties.begin(), exploration.properties.end(),
                       [&](const ExploredProperty& p) { return p.name == name; });
}

/// What a search would say that has missed all violations of this property.
void call_it_kept(ExploredProperty& property) {
  property.verdict = Verdict::holds;
  property.why = "all executions keep it";
  property.thresholds.clear();
  property.by.clear();
  property.witness.reset();
  property.violating_traces = 0;
}

/// `run` says of the witness, as a file, that it breaks this property.
void check_witness(const ExploredProperty& property) {
  REQUIRE(property.witness);
  CHECK(property.witness->may.empty());
  const auto read = parse(to_toml(*property.witness), "witness.toml", catalogue());
  REQUIRE(std::holds_alternative<Scenario>(read));
  const auto result = run(std::get<Scenario>(read), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  const Outcome& outcome = std::get<Outcome>(result);
  CHECK(outcome.as_expected);
  const auto judgement = std::find_if(outcome.properties.begin(), outcome.properties.end(),
                                      [&](const Judgement& j) { return j.finding.property == property.name; });
  CHECK(judgement->finding.verdict == Verdict::violated);
}

Duration longest_pause(const Scenario& scenario) {
  Duration longest;
  for (const FaultSpec& fault : scenario.faults) {
    if (fault.kind == FaultSpec::Kind::pause) longest = std::max(longest, fault.length.lo);
  }
  return longest;
}

/// Random runs of random stories, each written down and run again.
struct WrittenRuns {
  std::uint64_t runs = 0;
  std::map<std::string, std::uint64_t> broken;
  std::set<FaultSpec::Kind> kinds;

  void check(const Scenario& scenario, std::uint64_t seed) {
    RandomRuns random(scenario, catalogue());
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto findings = random.run(sim::combine64(seed, i), std::nullopt);
      if (!findings) continue;
      const std::uint64_t events = random.events();
      const Scenario story = random.story();
      CHECK(random.events() == events);
      for (const FaultSpec& fault : story.faults) kinds.insert(fault.kind);
      const auto result = run(story, catalogue());
      INFO(seed << " " << i << "\n" << to_toml(story));
      if (const auto* problem = std::get_if<Diagnostic>(&result)) {
        FAIL_CHECK(problem->to_string());
        continue;
      }
      const Outcome& outcome = std::get<Outcome>(result);
      for (std::size_t p = 0; p < findings->size(); ++p) {
        const checker::Finding& here = (*findings)[p];
        const checker::Finding& there = outcome.properties[p].finding;
        if (here.property == "recoverable") continue;  // nobody probed here
        CHECK(here.verdict == there.verdict);
        CHECK(here.why == there.why);
        if (here.verdict == Verdict::violated) ++broken[std::string(here.property)];
      }
      ++runs;
    }
  }
};

constexpr std::uint64_t kEffort =
    20;  // what is to be found here is rare on purpose: it takes the end of several ranges at once

const std::uint64_t kStories = sim::cases<std::uint64_t>(200, 15);

}  // namespace

TEST_CASE("second opinion: what a run breaks is violated, whatever the search said") {
  const Scenario scenario = parsed(kMargin + kPause);
  Exploration exploration = explored(scenario);
  ExploredProperty& exclusion = property_of(exploration, "mutual-exclusion");
  REQUIRE(exclusion.verdict == Verdict::violated);
  call_it_kept(exclusion);
  second_opinion(scenario, catalogue(), {}, exploration, {kEffort});
  CHECK(exploration.disagreements == 1);
  CHECK(exclusion.verdict == Verdict::violated);
  CHECK(exclusion.why.starts_with("a disagreement: the search called it kept; "));
  CHECK(exclusion.by.size() == 2);
  check_witness(exclusion);
  REQUIRE(exclusion.thresholds.size() == 1);
  CHECK(exclusion.thresholds[0].parameter == "pause");
  CHECK(exclusion.thresholds[0].infimum.value > 71_ms);
  CHECK_FALSE(exclusion.thresholds[0].is_exact);
}

TEST_CASE("second opinion: a margin that a run undercuts is the run's, and not exact") {
  const Scenario scenario = parsed(kMargin + kPause);
  Exploration exploration = explored(scenario);
  ExploredProperty& exclusion = property_of(exploration, "mutual-exclusion");
  REQUIRE(exclusion.thresholds.size() == 1);
  REQUIRE(exclusion.thresholds[0].infimum == checker::Extent{71_ms, false});
  exclusion.thresholds[0].infimum = {90_ms, false};
  second_opinion(scenario, catalogue(), {}, exploration, {kEffort});
  CHECK(exploration.disagreements == 1);
  const Threshold& threshold = exclusion.thresholds[0];
  CHECK(threshold.infimum.value > 71_ms);
  CHECK(threshold.infimum.value <= 90_ms);
  CHECK_FALSE(threshold.is_exact);
  CHECK(exclusion.why == "a disagreement: the search found nothing below a pause of 90ms");
  check_witness(exclusion);
  CHECK(longest_pause(*exclusion.witness) == threshold.infimum.value);
}

TEST_CASE(
    "second opinion: two pauses in one work break a lock that one does not, and a search that forgets the second is "
    "contradicted") {
  const Scenario scenario =
      parsed(kMargin + "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"40ms\"]\nduring = \"work\"\ntimes = 2\n");
  Exploration exploration = explored(scenario);
  ExploredProperty& exclusion = property_of(exploration, "mutual-exclusion");
  REQUIRE(exclusion.verdict == Verdict::violated);
  CHECK(exclusion.thresholds[0].infimum == checker::Extent{Duration::microseconds(35'500), false});
  call_it_kept(exclusion);
  second_opinion(scenario, catalogue(), {}, exploration, {kEffort});
  CHECK(exploration.disagreements == 1);
  CHECK(exclusion.verdict == Verdict::violated);
  check_witness(exclusion);
  CHECK(longest_pause(*exclusion.witness) <= 40_ms);
}

TEST_CASE("second opinion: margins of clocks that are off are undercut on the side on which they are") {
  const Scenario ahead = parsed(R"(
[lock]
algorithm = "getset-java"
ttl = "100ms"
attempts = 1
[network]
latency = ["1ms", "10ms"]
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
[[may]]
kind = "skew"
by = ["-1s", "1s"]
)");
  const Exploration right = explored(ahead);
  for (const bool up : {true, false}) {
    Exploration exploration = right;
    ExploredProperty& exclusion = property_of(exploration, "mutual-exclusion");
    REQUIRE(exclusion.thresholds.size() == 2);
    for (Threshold& threshold : exclusion.thresholds) {
      if ((threshold.infimum.value > 0_ms) == up) threshold.infimum.value += up ? 20_ms : -20_ms;
    }
    second_opinion(ahead, catalogue(), {}, exploration, {kEffort});
    CHECK(exploration.disagreements == 1);
    for (const Threshold& threshold : exclusion.thresholds) {
      CHECK(threshold.is_exact == ((threshold.infimum.value > 0_ms) != up));
      CHECK((threshold.infimum.value > 60_ms || threshold.infimum.value < -60_ms));
    }
    check_witness(exclusion);
  }
}

TEST_CASE("second opinion: a search that is right is not contradicted") {
  for (const std::string& faults :
       {std::string(), kPause, kPause + kPause,
        std::string("[[may]]\nkind = \"crash\"\nserver = \"redis\"\nrestart_after = [\"0ms\", \"1s\"]\n"),
        std::string("[[may]]\nkind = \"jump\"\nby = [\"-1s\", \"1s\"]\n"),
        std::string("[[may]]\nkind = \"skew\"\nclient = \"A\"\nby = [\"0ms\", \"1s\"]\n")}) {
    const Scenario scenario = parsed(kMargin + faults);
    const Exploration alone = explored(scenario);
    const Exploration both = explored(scenario, true);
    INFO(faults);
    CHECK(both.disagreements == 0);
    CHECK(verdicts_of(both) == verdicts_of(alone));
    CHECK(both.counts.events == alone.counts.events);
  }
}

TEST_CASE("second opinion: it depends on the story alone") {
  const Scenario scenario = parsed(kMargin + kPause);
  Scenario expecting = scenario;
  expecting.expect_check.push_back(
      {.property = "recoverable", .verdict = Verdict::holds, .violated_by = {}, .at = {}, .from = {}, .position = {}});
  const auto opinion_on = [&](const Scenario& story) {
    Exploration exploration = explored(scenario);
    for (ExploredProperty& property : exploration.properties) {
      if (property.verdict == Verdict::violated) call_it_kept(property);
    }
    second_opinion(story, catalogue(), {}, exploration);
    std::string text = verdicts_of(exploration);
    for (const ExploredProperty& property : exploration.properties)
      text += property.why + (property.witness ? to_toml(*property.witness) : std::string()) + "\n";
    return text;
  };
  const std::string first = opinion_on(scenario);
  CHECK(first == opinion_on(scenario));
  CHECK(first == opinion_on(expecting));
  CHECK(first.find("a disagreement") != std::string::npos);
}

TEST_CASE("second opinion: bounds of the search are its bounds") {
  const Scenario scenario = parsed(kMargin + kPause);
  Exploration exploration = explored(scenario);
  ExploredProperty& exclusion = property_of(exploration, "mutual-exclusion");
  call_it_kept(exclusion);
  ExplorationOptions interrupted;
  interrupted.interrupted = [] { return true; };
  second_opinion(scenario, catalogue(), interrupted, exploration);
  CHECK(exclusion.verdict == Verdict::holds);
  ExplorationOptions late;
  late.max_seconds = 1;
  late.stopwatch = [] { return 1.0; };
  late.began = 0;
  second_opinion(scenario, catalogue(), late, exploration);
  CHECK(exclusion.verdict == Verdict::holds);
  late.began = 0.5;
  second_opinion(scenario, catalogue(), late, exploration);
  CHECK(exclusion.verdict == Verdict::violated);
}

TEST_CASE("second opinion: a run that is written down happens again, step by step, and is judged alike") {
  WrittenRuns written;
  for (std::uint64_t seed = 0; seed < 3 * kStories; ++seed) written.check(hunted_story(seed), seed);
  CHECK(written.runs > 2 * 3 * kStories);
  CHECK(written.broken.size() >= 3);
  CHECK(written.kinds.size() >= (kStories >= 100 ? 4 : 2));  // pauses, crashes, jumps, losses
}

TEST_CASE("second opinion: the same of own locks, services and partitions") {
  WrittenRuns written;
  const auto folder = std::filesystem::temp_directory_path() / ("lockstep-written-" + std::to_string(::getpid()));
  const auto check = [&](std::uint64_t seed) {
    const Scenario story = hunted_lock_story(seed, catalogue(), folder);
    std::filesystem::remove_all(folder);
    written.check(story, seed);
  };
  // Servers whose pause begins as a time is up that they had set themselves, or had set before they crashed.
  for (const std::uint64_t seed : {511'897, 512'007, 41'732}) check(seed);
  const auto stories = sim::cases<std::uint64_t>(6'000, 90);
  for (std::uint64_t seed = 40'000; seed < 40'000 + stories; ++seed) check(seed);
  CHECK(written.runs > 2 * stories);
  CHECK(written.kinds.size() == 4);  // pauses, crashes, losses, partitions
}

TEST_CASE("second opinion: on random stories with hard faults the search and the runs agree") {
  std::uint64_t complete = 0;
  for (std::uint64_t seed = 0; seed < kStories; ++seed) {
    const Scenario scenario = hunted_story(seed);
    CheckOptions options;
    options.exploration.max_traces = 1'000;
    options.exploration.max_events = 100'000;
    const auto result = check(scenario, catalogue(), options);
    const auto* exploration = std::get_if<Exploration>(&result);
    if (exploration == nullptr) continue;
    complete += exploration->counts.complete ? 1 : 0;
    INFO(seed << "\n" << to_toml(scenario) << verdicts_of(*exploration));
    CHECK(exploration->disagreements == 0);
  }
  CHECK(complete > kStories / 2);
}

}  // namespace lockstep::scenarios::second_opinion_test
