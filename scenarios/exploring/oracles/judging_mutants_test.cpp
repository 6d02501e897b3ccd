// Judges that are broken on purpose, each in one place, so that they call kept what can be broken, or say a wrong margin: concrete runs tell on every one
// of them. On stories that were drawn, and on stories whose right margins scenarios/testing/margins_by_hand_test.cpp has.

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "scenarios/checking/check.hpp"
#include "scenarios/exploring/oracles/hunted_story.hpp"
#include "scenarios/exploring/oracles/second_opinion.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/testing/broken_search.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::judging_mutants_test {
namespace {

using testing::catalogue;

using checker::JudgingMutant;
using checker::SearchMutant;

const std::uint64_t kStories = sim::cases<std::uint64_t>(100, 0);

/// Whether runs contradict this search. Nothing: there is nothing to contradict, since it came to no end.
std::optional<Exploration> judged(const Scenario& scenario, ExplorationOptions options, std::uint64_t effort) {
  auto result = explore(scenario, catalogue(), options);
  auto* exploration = std::get_if<Exploration>(&result);
  if (exploration == nullptr || !exploration->counts.complete) return std::nullopt;
  second_opinion(scenario, catalogue(), {}, *exploration, {effort});
  return std::move(*exploration);
}

/// On the first of the hunted stories on which runs contradict this search; there is one.
/// `seeds`: only these, and more runs.
void check_found(const char* name, JudgingMutant judge, SearchMutant search = SearchMutant::none,
                 std::vector<std::uint64_t> seeds = {}) {
  const std::uint64_t effort = seeds.empty() ? 1 : 4;
  for (std::uint64_t seed = 0; effort == 1 && seed < kStories; ++seed) seeds.push_back(seed);
  ExplorationOptions options;
  options.max_traces = 500;
  options.max_events = 20'000;
  options.alter_search = testing::broken(judge, search);
  if (kStories == 0) return;
  for (const std::uint64_t seed : seeds) {
    const auto exploration = judged(hunted_story(seed), options, effort);
    if (!exploration || exploration->disagreements == 0) continue;
    WARN(name << " is contradicted by runs of story " << seed);
    return;
  }
  FAIL(name << " is contradicted by no run");
}

Scenario story_of(const std::string& text) {
  const std::string head =
      "title = { en = \"t\", zh = \"t\" }\nstory = { en = \"s\", zh = \"s\" }\nlesson = { en = \"l\", zh = \"l\" }\n";
  auto loaded = parse(head + text, "by-hand.toml", catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(loaded));
}

/// A is valid until 97ms, and paused while it works: B has the lock at 106ms at the earliest.
std::string validity(const std::string& pause) {
  return "[lock]\nalgorithm = \"redlock-seq\"\nttl = \"100ms\"\n[network]\nlatency = \"1ms\"\n[servers]\ncount = 3\n"
         "[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"120ms\"\nattempts = 1\n"
         "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"1s\"]\n" +
         pause;
}

std::string clocks(const std::string& skew) {
  return "[lock]\nalgorithm = \"getset-java\"\nttl = \"200ms\"\n[network]\nlatency = [\"2ms\", \"7ms\"]\n[[client]]\n"
         "name = [\"A\", \"B\"]\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"30ms\"\nattempts = 1\n[[may]]\nkind = "
         "\"skew\"\n" +
         skew;
}

/// Redlock with all servers asked, of whom one may die: the lock does not come back.
const std::string kAllOfThree =
    "[lock]\nalgorithm = \"redlock-seq\"\nttl = \"200ms\"\nquorum = 3\n[network]\nlatency = \"1ms\"\ntimeout = "
    "\"20ms\"\n[servers]\ncount = 3\n[[client]]\nname = \"A\"\nhold = \"20ms\"\nattempts = 1\n[[may]]\nkind = "
    "\"crash\"\nserver = \"redis2\"\n";

/// The mutant's judgement of this story is contradicted, and that of the right judge is not.
void check_found_by_hand(const std::string& text, JudgingMutant judge, SearchMutant search = SearchMutant::none) {
  const Scenario scenario = story_of(text);
  for (const bool is_right : {true, false}) {
    ExplorationOptions options;
    options.alter_search =
        is_right ? testing::broken(JudgingMutant::none, SearchMutant::none) : testing::broken(judge, search);
    const auto exploration = judged(scenario, options, sim::cases<std::uint64_t>(4, 1));
    REQUIRE(exploration);
    for (const ExploredProperty& property : exploration->properties) {
      if (!property.why.empty()) UNSCOPED_INFO(property.name << ": " << property.why);
      for (const Threshold& threshold : property.thresholds) {
        UNSCOPED_INFO(threshold.parameter << ' ' << sim::to_string(threshold.infimum.value));
      }
    }
    if (is_right) {
      CHECK(exploration->disagreements == 0);
    } else if (!sim::takes_few_cases()) {
      CHECK(exploration->disagreements > 0);
    }
  }
}

}  // namespace

TEST_CASE("judging mutants: a deadline that ends the hold of somebody paused is found out") {
  check_found("deadlines_in_pauses", JudgingMutant::deadlines_in_pauses);
  check_found_by_hand(validity(""), JudgingMutant::deadlines_in_pauses);
}

TEST_CASE("judging mutants: a deadline too early is found out") {
  check_found_by_hand(validity("during = \"work\"\n"), JudgingMutant::early_deadlines);
}

TEST_CASE("judging mutants: a deadline too late is found out when its margin is to be shown") {
  ExplorationOptions options;
  options.alter_search = testing::broken(JudgingMutant::late_deadlines);
  const auto exploration = judged(story_of(validity("")), options, 1);
  REQUIRE(exploration);
  // The pause may begin 3ms later, at 100ms, and be that much shorter, it thinks: 6ms. No run shows that.
  const ExploredProperty& property = exploration->property("mutual-exclusion");
  INFO(property.why);
  for (const Threshold& threshold : property.thresholds) CHECK_FALSE(threshold.is_exact);
}

TEST_CASE("judging mutants: a pause within work that begins at its end alone is found out") {
  check_found("pauses_begin_late", JudgingMutant::pauses_begin_late);
}

TEST_CASE("judging mutants: the wrong owner is found out") { check_found("own_by_all", JudgingMutant::own_by_all); }

TEST_CASE("judging mutants: a search that lets nobody die in a pause is found out") {
  const std::string unsaid =
      "[lock]\nalgorithm = \"set-nx-px-plain-del\"\nttl = \"4ms\"\n[[client]]\nname = [\"A\", \"B\"]\n"
      "acquire_at = [\"0ms\", \"2ms\"]\nattempts = 1\n[[may]]\nkind = \"pause\"\nserver = \"redis\"\n"
      "length = [\"0ms\", \"20ms\"]\n[[may]]\nkind = \"crash\"\nserver = \"redis\"\nrestart_after = "
      "\"2ms\"\n";
  check_found_by_hand(unsaid, JudgingMutant::none, SearchMutant::survive_pauses);
  check_found_by_hand(unsaid, JudgingMutant::none, SearchMutant::last_words);
}

TEST_CASE("judging mutants: a pause too few is found out") {
  check_found("one_pause_each", JudgingMutant::none, SearchMutant::one_pause_each);
  // Most of what adjoining pauses do, one can do in other places of the trace.
  check_found("single_pauses", JudgingMutant::single_pauses, SearchMutant::none, {182, 462, 752, 1839, 2750, 2946});
}

TEST_CASE("judging mutants: a margin from the first way of each trace alone is found out") {
  check_found("first_way", JudgingMutant::first_way, SearchMutant::none, {462, 752, 1670, 1839, 2750});
}

TEST_CASE("judging mutants: a skew that is forgotten is found out") {
  check_found_by_hand(clocks("by = [\"-1s\", \"1s\"]\ntimes = 2\n"), JudgingMutant::one_clock_is_right);
}

TEST_CASE("judging mutants: a probe that is left out is found out") {
  check_found_by_hand(kAllOfThree, JudgingMutant::no_probe);
}

}  // namespace lockstep::scenarios::judging_mutants_test
