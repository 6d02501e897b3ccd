// Diagrams of every story: against the trace, the checker's intervals and what servers hold, and as XML that a parser of others reads.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <variant>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <pugixml.hpp>

#include "checker/properties/ownership.hpp"
#include "reports/picture/axis.hpp"
#include "reports/picture/drawing.hpp"
#include "reports/run/forged_story.hpp"
#include "reports/site/story/steps.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::reports::picture::diagram_test {
namespace {

Story told(scenarios::Scenario scenario) {
  auto outcome = scenarios::run(scenario, scenarios::testing::catalogue(), {.trace = true, .key_states = true});
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&outcome)) FAIL(problem->to_string());
  return {std::move(scenario), std::get<scenarios::Outcome>(std::move(outcome))};
}

std::vector<std::filesystem::path> files() {
  const std::vector<std::string> stories = repository_stories();
  return {stories.begin(), stories.end()};
}

Story loaded(const std::string& file) {
  auto result = scenarios::load(file, scenarios::testing::catalogue());
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&result)) FAIL(problem->to_string());
  return told(std::get<scenarios::Scenario>(std::move(result)));
}

pugi::xml_document read_svg(const std::string& svg) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_string(svg.c_str());
  INFO(result.description() << " at " << result.offset << ": "
                            << svg.substr(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset - 80, 0)),
                                          160));
  REQUIRE(result);
  return document;
}

/// Two believe at once, by the checker's intervals alone.
bool has_overlap(const std::vector<checker::OwnershipInterval>& holds, const Diagram& diagram) {
  for (std::size_t i = 0; i < holds.size(); ++i) {
    for (std::size_t j = i + 1; j < holds.size(); ++j) {
      const auto &a = holds[i], &b = holds[j];
      if (a.object != b.object || a.process == b.process || (a.is_shared && b.is_shared)) continue;
      const sim::Duration from = std::max(a.from.offset(), b.from.offset());
      const bool both = (!a.to || from < a.to->offset()) && (!b.to || from < b.to->offset());
      if (both && from <= diagram.end.offset()) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("the diagram of a pause that outlives the lease") {
  const Story story = loaded(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"));
  const Diagram diagram = diagram_of(story);
  std::vector<std::string> lanes;
  for (const DiagramLane& lane : diagram.lanes) lanes.push_back(lane.name);
  CHECK(lanes == std::vector<std::string>{"A", "B", "redis", "resource"});
  REQUIRE(diagram.overlaps.size() == 1);
  // B has it from 152ms on, and gives it back at 174ms; A believes all the while.
  CHECK(time_text(diagram.overlaps[0].from.at) == "152ms");
  CHECK(time_text(diagram.overlaps[0].to->at) == "174ms");
  CHECK(diagram.overlaps[0].who == std::vector<std::string>{"A", "B"});
  const auto bar = [&](DiagramBar::Kind kind, std::size_t number) {
    for (const DiagramBar& b : diagram.bars) {
      if (b.kind == kind && number-- == 0)
        return fmt::format("{} {}-{}", name_of(story.outcome, b.process), time_text(b.from.at),
                           b.to ? time_text(b.to->at) : "");
    }
    return std::string("none");
  };
  CHECK(bar(DiagramBar::Kind::paused, 0) == "A 2ms-402ms");
  CHECK(bar(DiagramBar::Kind::lease, 0) == "redis 1ms-101ms");
  CHECK(bar(DiagramBar::Kind::overdue, 0) == "redis 101ms-151ms");
  CHECK(bar(DiagramBar::Kind::lease, 1) == "redis 151ms-175ms");
  CHECK(bar(DiagramBar::Kind::belief, 0) == "A 2ms-424ms");
  CHECK(bar(DiagramBar::Kind::belief, 1) == "B 152ms-174ms");
  CHECK(bar(DiagramBar::Kind::dead, 0) == "none");
}

TEST_CASE("of every story: the diagram shows what the trace, the checker and the servers say") {
  std::size_t messages = 0, overlaps = 0;
  for (const std::filesystem::path& file : files()) {
    INFO(file.string());
    const Story story = loaded(file.string());
    const Diagram diagram = diagram_of(story);
    messages += diagram.messages.size();
    overlaps += diagram.overlaps.size();
    for (const DiagramMessage& message : diagram.messages) {
      // Each is a message of the trace, with its times.
      const auto& records = story.outcome.trace.records;
      CHECK(std::any_of(records.begin(), records.end(), [&](const sim::TraceRecord& r) {
        return r.kind == sim::EventKind::message && r.from == message.from && r.process == message.to &&
               r.sent.offset() == message.sent.at.offset() && r.at.offset() == message.handled.at.offset() &&
               r.lost == message.is_lost && r.is_reply == message.is_reply;
      }));
      CHECK(diagram.lane_of(message.from));
      CHECK(diagram.lane_of(message.to));
      CHECK(message.row < diagram.rows.size());
    }
    if (!story.outcome.places && story.scenario.clients.size() < 9)
      CHECK(has_overlap(checker::ownership_intervals(story.outcome.history), diagram) == !diagram.overlaps.empty());

    // Time runs downwards on both axes, and rows have room on the one that is by event.
    for (const AxisKind kind : {AxisKind::by_event, AxisKind::to_scale}) {
      const Axis axis(diagram, kind, 50);
      for (std::size_t i = 1; i < diagram.rows.size(); ++i) {
        CHECK(axis.of_row(i) >= axis.of_row(i - 1));
        if (kind == AxisKind::by_event) CHECK(axis.has_room(i));
      }
      for (const DiagramMessage& message : diagram.messages) CHECK(axis.of(message.sent) <= axis.of(message.handled));
    }
    const pugi::xml_document svg = read_svg(page_svg(diagram, {.title_en = "t", .title_zh = "t"}));
    CHECK(svg.select_nodes("//*[@style]").empty());
    CHECK(svg.select_nodes("//text[@class = 'row' or starts-with(@class, 'row ')]").size() == diagram.rows.size());

    // What changes step by step ends as what the servers hold in the end.
    std::map<std::pair<std::string, std::string>, bool> told_keys, keys;
    for (const site::StepOfRun& step : site::steps_of(story, diagram)) {
      for (const site::KeyChange& change : step.changes)
        told_keys[{change.server, change.key}] = change.after.has_value();
    }
    if (diagram.rows.empty()) continue;
    const Event& last = diagram.rows.back().event;
    for (const scenarios::KeyState& state : story.outcome.key_states) {
      if (std::pair(state.at.offset(), state.step) <= std::pair(last.at.offset(), last.step))
        keys[{name_of(story.outcome, state.server), state.key}] = !state.type.empty();
    }
    for (const auto& [place, is_there] : keys) {
      INFO(place.first << " " << place.second);
      CHECK((told_keys.contains(place) ? told_keys[place] : false) == is_there);
    }
  }
  CHECK(messages > 3000);
  CHECK(overlaps > 20);
}

TEST_CASE("a diagram of hostile names is well-formed, and none of them is markup") {
  for (const std::string name : {"<script>alert(1)</script>", "\"><rect onload='x'/>", "]]>", "a&b",
                                 "\xE2\x80\xAE"
                                 "b",
                                 "</style>"}) {
    ForgedStory forged;
    Story story = forged.story();
    story.outcome.lanes[0].name = name;
    story.scenario.title = {name, name};
    for (const Language language : {Language::en, Language::zh}) {
      const pugi::xml_document svg =
          read_svg(file_svg(diagram_of(story), {.title_en = name, .title_zh = name}, language));
      CHECK(svg.select_nodes("//script | //*[@onload]").empty());
    }
  }
}

TEST_CASE("the picture of README is that of the story") {
  const Story story = loaded(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"));
  const scenarios::Text& title = story.scenario.title;
  const std::string svg = file_svg(diagram_of(story), {.title_en = title.en, .title_zh = title.zh}, Language::en);
  std::ifstream in(in_tree("docs/diagram.svg"));
  std::ostringstream kept;
  kept << in.rdbuf();
  INFO(
      "build/release/reports/diagram scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml > "
      "docs/diagram.svg");
  CHECK(kept.str() == svg);
}

}  // namespace lockstep::reports::picture::diagram_test
