#pragma once

// A story whose every text would like to be something else.

#include <string>
#include <utility>

#include "reports/run/forged_story.hpp"

namespace lockstep::reports::testing {

/// Bytes that would end, or begin, something in any of the formats.
inline std::string hostile_text() {
  std::string text =
      "\"; DROP <script>alert('1')</script> & ]]> {{x}} | `a` [b](javascript:c) \\ \\\" \n\r\n\t$d$ %s \x1b[31m ";
  text +=
      "\xE2\x80\xAE"
      "desrever"
      "\xE2\x80\xA8"
      "\xFF\xC0\x80"
      "\xEF\xBF\xBE";
  text.push_back('\0');
  return text + std::string(10'000, 'x');
}

inline Story hostile_story() {
  ForgedStory forged;
  Story& story = forged.story();
  const std::string text = hostile_text();
  scenarios::Scenario& scenario = story.scenario;
  scenario.title = scenario.story = scenario.lesson = {text, text};
  scenario.file = scenario.id = scenario.lock.algorithm = scenario.lock.key = text;
  scenario.reproduces = {text};
  for (scenarios::Lane& lane : story.outcome.lanes) lane.name += text;
  for (sim::TraceRecord& r : story.outcome.trace.records) r.name = r.text = text;
  for (sim::Operation& o : story.outcome.history.operations) o.object = text;
  for (sim::Effect& e : story.outcome.history.effects) e.object = text;
  for (scenarios::Judgement& j : story.outcome.properties) {
    j.finding.why = text;
    j.as_expected = false;
  }
  story.outcome.key_states.push_back(
      {.step = 1, .at = ForgedStory::ms(1), .server = ForgedStory::redis, .key = text, .type = "string", .text = text});
  story.outcome.notes = {text};
  return std::move(story);
}

}  // namespace lockstep::reports::testing
