// What `check` prints of one story in short: a screen, in which no verdict that decides anything is missing.

#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "reports/check/exploration.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/exploring/trace_marks.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::reports::short_test {
namespace {

using checker::Verdict;

std::string text_of(const ExploredStory& story, ExplorationOptions options) {
  return to_string(exploration(story, options), false);
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// As `check` explores it, with a run of what breaks. Nothing: it cannot be explored, or takes long.
std::optional<ExploredStory> explored(const std::filesystem::path& path) {
  const models::locks::Catalogue& catalogue = scenarios::testing::catalogue();
  ExploredStory story;
  story.scenario = std::get<scenarios::Scenario>(scenarios::load(path, catalogue));
  if (story.scenario.cost != scenarios::Cost::fast) return std::nullopt;
  auto found = scenarios::check(story.scenario, catalogue, {.second_opinion = false});
  if (!std::holds_alternative<scenarios::Exploration>(found)) return std::nullopt;
  story.exploration = std::get<scenarios::Exploration>(std::move(found));
  if (const auto shown = shown_witness(story)) {
    const scenarios::Scenario& witness = *story.exploration.properties[*shown].witness;
    auto outcome = scenarios::run(witness, catalogue, {.trace = true});
    story.replay = {witness, std::get<scenarios::Outcome>(std::move(outcome))};
  }
  return story;
}

}  // namespace

TEST_CASE("exploration in short: each story of the repository fits on a screen and hides no verdict") {
  std::size_t shown = 0, found_so_far = 0;
  for (const std::filesystem::path path : repository_stories()) {
    // The searches take half a minute for all of them.
    if (sim::takes_few_cases() && found_so_far++ % 16 != 0) continue;
    const std::optional<ExploredStory> story = explored(path);
    if (!story) continue;
    ++shown;
    for (const Language language : {Language::en, Language::zh}) {
      const Lines lines = exploration(*story, {.language = language});
      const std::string text = to_string(lines, false);
      INFO(path << "\n" << text);
      CHECK(lines.size() <= kShortLinesMax);
      CHECK(contains(text, "--full"));
      for (const scenarios::ExploredProperty& property : story->exploration.properties)
        CHECK(contains(text, property.name));
      const std::string full = text_of(*story, {.language = language, .full = true});
      CHECK(exploration(*story, {.language = language, .full = true}).size() > lines.size());
      // In Chinese a line may end within a word.
      for (const scenarios::Mark& mark : story->exploration.marks) {
        if (language == Language::en) CHECK(contains(full, mark.name.substr(0, mark.name.find(' '))));
      }
      // A run that was found breaks what it was found for: that is nobody's expectation.
      if (language == Language::en && contains(full, "NOT as claimed") && story->replay) {
        const std::string run = full.substr(full.find("A run in which"));
        CHECK_FALSE(contains(run, "as expected"));
      }
    }
  }
  CHECK(shown > 10);
}

}  // namespace lockstep::reports::short_test
