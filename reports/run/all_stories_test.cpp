// The timelines of all stories of the repository: what they must not do whatever the story.

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "models/locks/catalogue.hpp"
#include "reports/run/timeline.hpp"
#include "reports/text/text.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::reports::all_stories_test {
namespace {

const std::vector<Story>& all_stories() {
  static const std::vector<Story> all = [] {
    const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
    std::vector<Story> stories;
    std::size_t found_so_far = 0;
    for (const std::filesystem::path path : repository_stories()) {
      // With sanitizers one of eight.
      if (sim::takes_few_cases() && found_so_far++ % 8 != 0) continue;
      Story story{std::get<scenarios::Scenario>(scenarios::load(path, catalogue)), {}};
      story.outcome = std::get<scenarios::Outcome>(scenarios::run(story.scenario, catalogue, {.trace = true}));
      stories.push_back(std::move(story));
    }
    return stories;
  }();
  return all;
}

std::vector<std::string> shown(const Story& story, std::size_t width) {
  std::istringstream in(to_string(timeline(story, {.width = width}), false));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_violated(const Story& story, std::string_view property) {
  const auto& all = story.outcome.properties;
  return std::any_of(all.begin(), all.end(), [&](const scenarios::Judgement& judgement) {
    return judgement.finding.property == property && judgement.finding.verdict == checker::Verdict::violated;
  });
}

}  // namespace

TEST_CASE("all stories: an alarm is raised where a lock's rule is broken, and nowhere else") {
  std::size_t alarms = 0;
  std::size_t calm = 0;
  for (const Story& story : all_stories()) {
    INFO(story.scenario.file);
    const std::vector<std::string> lines = shown(story, 100);
    const bool has_alarm =
        std::any_of(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("!! "); });
    CHECK(has_alarm == (is_violated(story, "mutual-exclusion") || is_violated(story, "capacity")));
    ++(has_alarm ? alarms : calm);
  }
  CHECK(alarms > (sim::takes_few_cases() ? 2 : 50));
  CHECK(calm > (sim::takes_few_cases() ? 2 : 50));
}

TEST_CASE("all stories: no line runs over, and whatever is cut leaves no quote open, in terminals narrow and wide") {
  for (const Story& story : all_stories()) {
    // A quote within a quote would be counted.
    const auto& records = story.outcome.trace.records;
    const bool has_inner = std::any_of(records.begin(), records.end(), [](const sim::TraceRecord& record) {
      return record.text.find("\\\"") != std::string::npos;
    });
    for (const std::size_t width : {40, 80}) {
      INFO(story.scenario.file << " in " << width << " columns");
      const std::vector<std::string> lines = shown(story, width);
      CHECK(std::all_of(lines.begin(), lines.end(), [&](const std::string& l) { return display_width(l) <= width; }));
      std::size_t quotes = 0;
      for (const std::string& line : lines)
        quotes += static_cast<std::size_t>(std::count(line.begin(), line.end(), '"'));
      CHECK((has_inner || quotes % 2 == 0));
    }
  }
}

}  // namespace lockstep::reports::all_stories_test
