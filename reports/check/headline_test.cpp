// The first sentence of a report: that it says what was found, and nothing else.

#include "reports/check/headline.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "scenarios/checking/check.hpp"
#include "scenarios/format/loader.hpp"

namespace lockstep::reports::headline_test {
namespace {

using checker::Verdict;
using scenarios::ExploredProperty;
using scenarios::Threshold;

/// A search in which this property came out so, and all others hold and were asked for by nobody.
ExploredStory story_with(Verdict verdict, std::vector<Threshold> thresholds = {}) {
  ExploredStory story;
  story.scenario.may.push_back({.kind = sim::FaultKind::pause});
  story.exploration.counts.complete = true;
  story.exploration.counts.traces = 12;
  for (const char* name : {"mutual-exclusion", "own-release", "capacity"}) {
    ExploredProperty& property = story.exploration.properties.emplace_back();
    property.name = name;
    property.verdict = Verdict::holds;
  }
  ExploredProperty& mutex = story.exploration.properties.front();
  mutex.verdict = verdict;
  mutex.claim = scenarios::Claim::stated;
  mutex.thresholds = std::move(thresholds);
  return story;
}

Threshold pause_of(sim::Duration value, bool attained, bool is_exact = true) {
  return {.parameter = "pause", .infimum = {value, attained}, .is_exact = is_exact};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using namespace sim::literals;

}  // namespace

TEST_CASE("headline: a margin is told with what is known below it") {
  const Headline above = headline(story_with(Verdict::violated, {pause_of(71_ms, false)}), Language::en);
  CHECK(above.verdict == Verdict::violated);
  CHECK(
      above.text ==
      "Breaks once a client is paused for more than 71ms: two clients hold the lock at once. Up to that nothing breaks "
      "it.");
  const Headline from = headline(story_with(Verdict::violated, {pause_of(71_ms, true)}), Language::en);
  CHECK(has(from.text, "paused for 71ms or more"));
  // Nothing is said of what is below where that is not known.
  CHECK_FALSE(
      has(headline(story_with(Verdict::violated, {pause_of(71_ms, false, false)}), Language::en).text, "Up to"));
  ExploredStory cut = story_with(Verdict::violated, {pause_of(71_ms, false)});
  cut.exploration.counts.complete = false;
  CHECK_FALSE(has(headline(cut, Language::en).text, "Up to that"));
  CHECK(has(headline(cut, Language::en).text, "The search was cut: less may break it, too."));
}

TEST_CASE("headline: what breaks without a fault says so, and from which work on if that is known") {
  ExploredStory story = story_with(Verdict::violated, {pause_of(0_ms, true)});
  CHECK(headline(story, Language::en).text == "Breaks even without a pause: two clients hold the lock at once.");
  // A border of the fault alone says nothing of that.
  story.formulas.borders.push_back({.length = "pause", .works_less = true, .at = {8_s, false}, .work = 2_s});
  CHECK(headline(story, Language::en).text == "Breaks even without a pause: two clients hold the lock at once.");
  story.formulas.borders.push_back({.length = "greatest hold", .is_work = true, .at = {10_s, false}, .work = 10_s});
  CHECK(headline(story, Language::en).text ==
        "Breaks once a job takes more than 10s; or, with jobs of 2s, once a client is paused for more than 8s: two "
        "clients "
        "hold the lock at once.");
  CHECK(has(headline(story, Language::zh).text, "工作时间超过 10s时"));
}

TEST_CASE("headline: how long several hold it is told as far as it is known") {
  const auto text_of = [](scenarios::WorstCase worst, Language language = Language::en) {
    ExploredStory story = story_with(Verdict::violated, {pause_of(71_ms, false)});
    story.exploration.properties.front().worst = std::move(worst);
    return headline(story, language).text;
  };
  CHECK(has(text_of({5004_ms, true, 5004_ms, {}}), "two clients hold the lock at once, for up to 5004ms. Up to that"));
  CHECK(has(text_of({5004_ms, false, 5004_ms, {}}), "at once, for 5004ms or longer."));
  CHECK(has(text_of({sim::Duration::forever(), true, sim::Duration::forever(), {}}), "at once, and nothing ends it."));
  CHECK(has(text_of({5004_ms, true, 5004_ms, {}}, Language::zh), "，最长 5004ms"));
}

TEST_CASE("headline: what holds says of how much, and what was never met") {
  ExploredStory story = story_with(Verdict::holds);
  const Headline holds = headline(story, Language::en);
  CHECK(holds.verdict == Verdict::holds);
  CHECK(has(holds.text, "never two holders"));
  CHECK(has(holds.text, "12 traces"));
  story.exploration.marks.push_back({"somebody found the lock taken", 0, "有人发现锁已被占用"});
  CHECK(has(headline(story, Language::en).text, "But never reached: somebody found the lock taken."));
}

TEST_CASE("headline: no answer is none") {
  ExploredStory story = story_with(Verdict::unknown);
  ExploredProperty& mutex = story.exploration.properties.front();
  mutex.as_expected = false;
  mutex.why = scenarios::kNotBrokenSoFar;
  story.exploration.counts.complete = false;
  story.exploration.bound = "max-traces";
  story.exploration.random_runs = 1'000;
  const Headline cut = headline(story, Language::en);
  CHECK(cut.verdict == Verdict::unknown);
  CHECK(has(cut.text, "Not proved: nothing broke so far (12 traces, not complete: --max-traces was reached"));
  CHECK(has(cut.text, "random runs did not break it either"));
  mutex.verdict = Verdict::not_judged;
  mutex.why = "nobody got the lock";
  CHECK(headline(story, Language::en).verdict == Verdict::not_judged);
  // A grid proves nothing of what lies between.
  ExploredStory grid = story_with(Verdict::holds);
  grid.tick = 1_ms;
  CHECK(headline(grid, Language::en).verdict != Verdict::holds);
}

TEST_CASE("headline: what is claimed and broken comes before what holds, and what is promised to nobody after") {
  ExploredStory story = story_with(Verdict::holds);
  ExploredProperty& release = story.exploration.properties[1];
  release.verdict = Verdict::violated;
  CHECK(headline(story, Language::en).verdict == Verdict::holds);
  release.claim = scenarios::Claim::stated;
  CHECK(headline(story, Language::en).verdict == Verdict::violated);
  CHECK(has(headline(story, Language::en).text, "own-release is broken"));
  // A lock that only promises its fencing tokens.
  ExploredStory fenced = story_with(Verdict::violated);
  fenced.exploration.properties[0].claim = scenarios::Claim::none;
  fenced.exploration.properties[1].claim = scenarios::Claim::stated;
  CHECK(headline(fenced, Language::en).verdict == Verdict::holds);
  CHECK(has(headline(fenced, Language::en).text, "Two clients can hold it at once"));
}

}  // namespace lockstep::reports::headline_test
