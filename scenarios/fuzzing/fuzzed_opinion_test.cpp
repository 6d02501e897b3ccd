// What a search proves, no campaign breaks; and a search that is broken on purpose is contradicted by one.

#include "scenarios/fuzzing/fuzzed_opinion.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <variant>

#include "scenarios/exploring/oracles/hunted_story.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/broken_search.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::fuzzed_opinion_test {
namespace {

using checker::JudgingMutant;
using testing::catalogue;

constexpr std::uint64_t kRuns = 500;

/// Nothing: the search came to no end.
std::optional<FuzzedOpinion> opinion_on(const Scenario& story, JudgingMutant mutant) {
  ExplorationOptions options;
  options.max_traces = 500;
  options.max_events = 20'000;
  options.alter_search = testing::broken(mutant);
  const auto result = explore(story, catalogue(), options);
  const auto* exploration = std::get_if<Exploration>(&result);
  if (exploration == nullptr || !exploration->counts.complete) return std::nullopt;
  return fuzzed_opinion(story, catalogue(), *exploration, kRuns);
}

/// Of the hunted stories from `first` on, the first disagreement of a mutant's search with its campaign.
std::optional<FuzzedOpinion::Disagreement> first_disagreement(JudgingMutant mutant, std::uint64_t stories) {
  for (std::uint64_t seed = 0; seed < stories; ++seed) {
    const auto opinion = opinion_on(hunted_story(seed), mutant);
    if (opinion && !opinion->disagreements.empty()) return opinion->disagreements.front();
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE(
    "fuzzed opinion: what a search proves of hunted stories no campaign breaks, and most of what it breaks is broken") {
  const std::uint64_t kStories = sim::cases<std::uint64_t>(40, 16);
  std::size_t complete = 0;
  std::size_t broken_too = 0;
  std::size_t not_broken = 0;
  for (std::uint64_t seed = 0; seed < kStories; ++seed) {
    const Scenario story = hunted_story(seed);
    const auto opinion = opinion_on(story, JudgingMutant::none);
    if (!opinion) continue;
    ++complete;
    broken_too += opinion->broken_too.size();
    not_broken += opinion->not_broken.size();
    INFO(seed << "\n" << to_toml(story));
    for (const auto& disagreement : opinion->disagreements)
      FAIL_CHECK(disagreement.property << ": " << disagreement.why << "\n" << disagreement.file);
  }
  CHECK(complete > kStories / 2);
  CHECK(broken_too > not_broken);
}

TEST_CASE("fuzzed opinion: searches that are broken on purpose are contradicted, with a file that shows it") {
  if (sim::takes_few_cases()) return;
  for (const JudgingMutant mutant : {JudgingMutant::own_by_all, JudgingMutant::deadlines_in_pauses}) {
    const auto found = first_disagreement(mutant, 60);
    INFO(static_cast<int>(mutant));
    REQUIRE(found);
    CHECK(found->run > 0);
    const auto shown = parse(found->file, "found.toml", catalogue());
    REQUIRE(std::holds_alternative<Scenario>(shown));
    const auto result = run(std::get<Scenario>(shown), catalogue());
    REQUIRE(std::holds_alternative<Outcome>(result));
    for (const Judgement& judgement : std::get<Outcome>(result).properties) {
      if (judgement.finding.property == found->property) CHECK(judgement.finding.verdict == checker::Verdict::violated);
    }
  }
}

}  // namespace lockstep::scenarios::fuzzed_opinion_test
