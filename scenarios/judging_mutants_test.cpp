// Judges that are broken on purpose, each in one place, so that they call kept what can be broken: concrete runs tell on every one of them.

#include <catch2/catch.hpp>

#include "scenarios/check.hpp"
#include "scenarios/hunted_story.hpp"
#include "scenarios/second_opinion.hpp"
#include "sim/test_effort.hpp"

namespace lockstep::scenarios::judging_mutants_test {
namespace {

using checker::ExplorerOptions;
using checker::JudgingMutant;

constexpr std::uint64_t kStories = sim::cases<std::uint64_t>(100, 0);

/// The first of the hunted stories on which runs contradict this search; nothing if none does.
std::optional<std::uint64_t> first_contradicted(JudgingMutant judge, ExplorerOptions::Mutant search,
                                                std::uint64_t effort) {
  static const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  for (std::uint64_t seed = 0; seed < kStories; ++seed) {
    const Scenario scenario = hunted_story(seed);
    ExplorationOptions options;
    options.max_traces = 500;
    options.max_events = 20'000;
    options.judging_mutant = judge;
    options.search_mutant = search;
    auto result = explore(scenario, catalogue, options);
    auto* exploration = std::get_if<Exploration>(&result);
    if (exploration == nullptr || !exploration->counts.complete) continue;
    second_opinion(scenario, catalogue, {}, 0, *exploration, effort);
    if (exploration->disagreements > 0) return seed;
  }
  return std::nullopt;
}

void check_found(const char* name, JudgingMutant judge,
                 ExplorerOptions::Mutant search = ExplorerOptions::Mutant::none) {
  if (kStories == 0) return;
  const std::optional<std::uint64_t> seed = first_contradicted(judge, search, 1);
  INFO(name);
  REQUIRE(seed);
  WARN(name << " is contradicted by runs of story " << *seed);
}

}  // namespace

TEST_CASE("judging mutants: a deadline that ends the hold of somebody paused is found out") {
  check_found("deadlines_in_pauses", JudgingMutant::deadlines_in_pauses);
}

TEST_CASE("judging mutants: a pause within work that begins at its end alone is found out") {
  check_found("pauses_begin_late", JudgingMutant::pauses_begin_late);
}

TEST_CASE("judging mutants: the wrong owner is found out") { check_found("own_by_all", JudgingMutant::own_by_all); }

TEST_CASE("judging mutants: a pause too few is found out") {
  check_found("one_pause_each", JudgingMutant::none, ExplorerOptions::Mutant::one_pause_each);
}

}  // namespace lockstep::scenarios::judging_mutants_test
