// What people and programs are told of an exploration. Nothing was explored here: the results are made by hand.

#include "reports/check/exploration.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "reports/run/forged_story.hpp"
#include "reports/run/json.hpp"
#include "reports/run/junit.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports::exploration_test {
namespace {

using checker::Verdict;
using scenarios::MaySpec;
using namespace sim::literals;

scenarios::ExploredProperty property(std::string_view name, Verdict verdict, std::string why) {
  scenarios::ExploredProperty property;
  property.name = name;
  property.verdict = verdict;
  property.why = std::move(why);
  return property;
}

/// Two clients, a pause that breaks the lock from 71ms on, and a property that holds.
ExploredStory forged() {
  ExploredStory story;
  const ForgedStory run;
  story.scenario = run.story().scenario;
  story.scenario.network.latency = {1_ms, 10_ms};
  for (const char* name : {"A", "B"}) {
    scenarios::ClientSpec client;
    client.name = name;
    client.acquire_at = {0_ms, sim::Duration::seconds(1)};
    client.hold = sim::DurationRange::exactly(20_ms);
    story.scenario.clients.push_back(client);
  }
  MaySpec pause;
  pause.length = {0_ms, sim::Duration::seconds(10)};
  pause.who = {"A", "B"};
  story.scenario.may.push_back(pause);

  scenarios::Exploration& found = story.exploration;
  found.counts = {.traces = 1234, .blocked = 5, .infeasible = 6, .events = 7890, .complete = true};
  found.seconds = 1.5;
  scenarios::ExploredProperty broken =
      property("mutual-exclusion", Verdict::violated, "B got the lock while A believed");
  broken.violating_traces = 24;
  broken.by = {"A", "B"};
  broken.thresholds = {{"pause", {71_ms, false}}};
  broken.witness = story.scenario;
  broken.expected = scenarios::Expectation{.property = "mutual-exclusion", .verdict = Verdict::violated};
  broken.expected->from.emplace("pause", "71ms");
  found.properties = {broken, property("own-release", Verdict::holds, "in every trace"),
                      property("no-lost-update", Verdict::not_judged, "no resource in this story"),
                      property("fencing", Verdict::not_judged, "no resource in this story")};
  found.marks = {{"a lease ran out while its holder believed", 812, "租期在持有者仍相信时到期"},
                 {"a server crashed", 0, "服务器崩溃过"}};
  story.witness_files = {"title = \"the witness\"\n", "", "", ""};
  story.replay = run.story();
  return story;
}

/// The same with a region of so many steps: with a pause of 10 less, a delay of 1 more.
ExploredStory with_steps(std::int64_t steps) {
  ExploredStory story = forged();
  const sim::DurationRange range{0_ms, 1_s};
  checker::Frontier region({{"pause", range}, {"delay", range}, {"restart_after", {0_ms, 9_ms}, false}});
  const std::vector<std::size_t> numbers{0, 1, 2};
  for (std::int64_t step = 0; step < steps; ++step) {
    checker::ParameterSpace space(checker::DifferenceConstraints(), {},
                                  std::vector{range, range, region.axes()[2].range});
    space.require({-1'000'000 * (100 - 10 * step), {1, 0, 0}, true});
    space.require({-1'000'000 * (1 + step), {0, 1, -1}, false});
    region.add(space, numbers);
  }
  scenarios::ExploredProperty& broken = story.exploration.properties[0];
  broken.frontier = checker::to_string(region);
  broken.region = region;
  broken.is_region_exact = true;
  return story;
}

ExploredStory surprising() {
  ExploredStory story = forged();
  story.exploration.properties[0].expected->from.begin()->second = "91ms";
  story.exploration.properties[0].as_expected = story.exploration.as_expected = false;
  return story;
}

/// A bound ended it before anything was found.
ExploredStory open() {
  ExploredStory story = forged();
  story.exploration.counts.complete = false;
  story.exploration.bound = "max-seconds";
  story.exploration.properties[0].verdict = Verdict::unknown;
  story.exploration.properties[0].thresholds.clear();
  story.exploration.properties[0].witness.reset();
  story.exploration.properties[0].as_expected = story.exploration.as_expected = false;
  return story;
}

std::string text_of(const ExploredStory& story, ExplorationOptions options = {}) {
  options.full = true;
  return to_string(exploration(story, options), false);
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("exploration: one story says what was explored, what broke from where on, and what was reached") {
  const std::string text = text_of(forged());
  INFO(text);
  CHECK(contains(text, "every order and every delay"));
  CHECK(contains(text, "latency 1ms to 10ms; A, B from 0ms to 1s, working 20ms"));
  CHECK(contains(text, "at most one pause of 0ms to 10s, of A or B"));
  CHECK(contains(text, "1234 traces in 1.50 s, complete"));
  CHECK(contains(text, "✗ mutual-exclusion violated by A, B, as expected"));
  CHECK(contains(text, "for every pause above 71ms, and for none up to it"));
  CHECK(contains(text, "✓ holds (all executions): own-release\n"));
  CHECK(contains(text, "– not judged: no-lost-update, fencing (no resource in this story)"));
  CHECK(contains(text,
                 "reached: a lease ran out while its holder believed (812 traces)\nnever reached: a server crashed"));
  CHECK(contains(text, "A run in which mutual-exclusion breaks:"));
  CHECK(contains(text, "is paused for 150ms"));  // the timeline
  CHECK(contains(text, "lockstep check stories/pause.toml --witness FILE"));
  CHECK(contains(text_of(forged(), {.witness = "w.toml"}), "lockstep run w.toml"));
  CHECK(!contains(text_of(forged(), {.times = false}), "1.50 s"));
}

TEST_CASE("exploration: what the file has and an exploration does not look at is said") {
  ExploredStory story = forged();
  story.scenario.faults.clear();
  CHECK(!contains(text_of(story), "left out"));
  story.scenario.faults.resize(2);
  MaySpec nothing;
  nothing.at.line = 41;
  story.scenario.may.push_back(nothing);
  const std::string text = text_of(story);
  INFO(text);
  CHECK(contains(text, "left out  [[fault]] (2), which happens in `run` alone; here what [[may]] says\n"));
  CHECK(contains(text, "left out  [[may]] of line 41: a pause of length 0 is none\n"));
}

TEST_CASE("exploration: a threshold that is attained begins with its value") {
  ExploredStory story = forged();
  story.exploration.properties[0].thresholds[0].infimum.attained = true;
  CHECK(contains(text_of(story), "for every pause of 71ms or more, and for none below"));
  // Only a complete search of all delays knows that there is nothing below.
  ExploredStory cut = story;
  cut.exploration.counts.complete = false;
  story.tick = 1_ms;
  for (const ExploredStory& partial : {cut, story}) {
    CHECK(contains(text_of(partial), "with a pause of 71ms; less may break it, too"));
    CHECK(!contains(text_of(partial), "none below"));
  }
  // What breaks with none of it needs no other words, in a search that was cut either.
  for (ExploredStory always : {story, cut}) {
    always.exploration.properties[0].thresholds[0].infimum.value = sim::Duration::zero();
    CHECK(contains(text_of(always), "breaks even without a pause"));
    CHECK(!contains(text_of(always), "0ms or more"));
  }
}

TEST_CASE("exploration: what a search that was cut has not broken is one line, with the bound") {
  ExploredStory story = forged();
  story.exploration.counts.complete = false;
  story.exploration.bound = "max-seconds";
  for (scenarios::ExploredProperty& property : story.exploration.properties) {
    if (property.verdict != checker::Verdict::holds) continue;
    property.verdict = checker::Verdict::unknown;
    property.why = scenarios::kNotBrokenSoFar;
    property.expected.reset();
  }
  const std::string text = text_of(story);
  INFO(text);
  CHECK(contains(text, "? not proved: "));
  CHECK(contains(text, "  not broken so far; the search ended when --max-seconds was reached\n"));
  CHECK(!contains(text, "still open"));
  story.exploration.counts.traces = 0;
  CHECK(contains(text_of(story), "  no execution was looked at to its end; the search ended when --max-seconds"));
}

TEST_CASE("exploration: a margin below 0 says below, and one that needs other faults says so") {
  ExploredStory story = forged();
  scenarios::Threshold& threshold = story.exploration.properties[0].thresholds[0];
  threshold.parameter = "skew";
  threshold.infimum = {-sim::Duration::milliseconds(947), false};
  threshold.is_downward = true;
  CHECK(threshold_text(story, threshold, Language::en) == "for every skew below -947ms, and for none from it to 0");
  threshold.infimum.attained = true;
  CHECK(threshold_text(story, threshold, Language::en) == "for every skew of -947ms or less, and for none nearer to 0");
  threshold.infimum = {sim::Duration::zero(), true};
  threshold.together_with = {"pause"};
  threshold.alone = checker::Extent{-sim::Duration::milliseconds(161), false};
  CHECK(threshold_text(story, threshold, Language::en) ==
        "alone for every skew below -161ms; with enough of pause, for none at all");
  threshold.infimum = {-sim::Duration::milliseconds(20), false};
  threshold.alone.reset();
  CHECK(threshold_text(story, threshold, Language::en) ==
        "for no skew alone; together with pause, for some below -20ms");
}

TEST_CASE("exploration: a surprise is one, and what a bound has hidden is not") {
  CHECK(contains(text_of(surprising()), "NOT as expected: violated, from pause 91ms on was expected"));
  const std::string text = text_of(open());
  CHECK(contains(text, "still open: violated, from pause 71ms on is expected"));
  CHECK(contains(text, "not complete: --max-seconds was reached"));
  CHECK(!contains(text, "NOT"));
  ExploredStory counted = forged();
  counted.exploration.expected_traces = 1235;
  counted.exploration.as_expected = false;
  CHECK(contains(text_of(counted), "NOT as expected: expected 1235 traces, explored 1234"));
}

TEST_CASE("exploration: in Chinese only what the explorer says itself stays English") {
  ExploredStory story = forged();
  for (auto& p : story.exploration.properties) p.why.clear();
  story.replay.reset();
  const std::string text = text_of(story, {.language = Language::zh});
  INFO(text);
  CHECK(contains(text, "最多 1 次： A、B 停顿 0ms 到 10s"));
  CHECK(contains(text, "被 A, B 破坏") == false);
  CHECK(contains(text, "被 A、B 破坏，符合预期"));
  CHECK(contains(text, "pause 只要超过 71ms 就会被破坏，不超过就不会"));
  CHECK(contains(text, "租期在持有者仍相信时到期（812 条轨迹）"));
  for (const char* english : {"violated", "explored", "latency", "reached", "expected", "complete", "trace"})
    CHECK(!contains(text, english));
}

TEST_CASE("exploration: each kind of fault has its words") {
  scenarios::Scenario scenario;
  const auto words = [&](MaySpec may) {
    scenario.may = {std::move(may)};
    return faults_in_words(scenario, Language::en).front();
  };
  MaySpec may{.kind = MaySpec::Kind::crash, .times = 2};
  CHECK(words(may) == "at most 2 crashes of any client, for good");
  may.restart_after = sim::DurationRange{1_ms, 5_ms};
  may.keep = true;
  may.who = {"redis"};
  CHECK(words(may) == "at most 2 crashes of redis, back after 1ms to 5ms with its data");
  CHECK(words({.kind = MaySpec::Kind::lose, .who = {"A", "B", "C"}}) ==
        "at most one message lost on connections of A, B or C");
  CHECK(words({.kind = MaySpec::Kind::pause, .length = {0_ms, 5_ms}, .during = sim::Activity::work}) ==
        "at most one pause of 0ms to 5ms, of any client at work");
  CHECK(words({.kind = MaySpec::Kind::jump, .length = {-5_ms, 5_ms}}) ==
        "at most one jump of the clock of any server, by -5ms to 5ms");
  CHECK(words({.kind = MaySpec::Kind::skew, .length = {0_ms, 5_ms}, .times = 3}) ==
        "at most 3 clocks off from the start by 0ms to 5ms, of any client");
}

TEST_CASE("exploration: many are a table with its surprises, and fit the width") {
  const std::vector<ExploredStory> stories{forged(), surprising(), open()};
  for (const Language language : {Language::en, Language::zh}) {
    for (const std::size_t width : {60, 80, 100, 140}) {
      for (const Line& line : explorations(stories, {.width = width, .language = language}))
        CHECK(line.width() <= width);
      for (const Line& line : exploration(surprising(), {.width = width, .language = language})) {
        INFO(to_string({line}, false));
        CHECK(line.width() <= width);
      }
    }
  }
  const std::string text = to_string(explorations(stories, {}), false);
  INFO(text);
  CHECK(contains(text, "✗ mutual-exclusion: pause > 71ms"));
  CHECK(contains(text, "1234+"));
  CHECK(
      contains(text, "mutual-exclusion: violated by A, B; NOT as expected: violated, from pause 91ms on was expected"));
  CHECK(contains(text, "3 stories: 1 as expected, 1 NOT, 1 still open; 1 not complete: --max-seconds was reached"));
}

TEST_CASE("exploration: the JSON document has the keys that programs rely on") {
  const std::vector<ExploredStory> stories{forged(), open()};
  const auto json = nlohmann::json::parse(check_json(stories, true, {.for_cost = 3, .not_explorable = 2}));
  CHECK(json["lockstep"] == 1);
  CHECK(json["command"] == "check");
  CHECK(json["summary"]["left_out"] == 3);
  CHECK(json["summary"]["not_explorable"] == 2);
  const auto& result = json["results"][0];
  CHECK(result["file"] == "stories/pause.toml");
  CHECK(result["as_expected"] == true);
  CHECK(result["complete"] == true);
  CHECK(result["bound"].is_null());
  CHECK(result["traces"] == 1234);
  CHECK(result["blocked"] == 5);
  CHECK(result["infeasible"] == 6);
  CHECK(result["events"] == 7890);
  CHECK(result["seconds"] == 1.5);
  CHECK(result["unconfirmed"] == 0);
  CHECK(result["expected_traces"].is_null());
  CHECK(result["marks"][0]["traces"] == 812);
  const auto& property = result["properties"][0];
  CHECK(property["property"] == "mutual-exclusion");
  CHECK(property["verdict"] == "violated");
  CHECK(property["expected"] == "violated");
  CHECK(property["violating_traces"] == 24);
  CHECK(property["by"] == std::vector<std::string>{"A", "B"});
  CHECK(property["witness"] == "title = \"the witness\"\n");
  CHECK(property["thresholds"] ==
        nlohmann::json::parse(R"([{"parameter":"pause","infimum":"71ms","attained":false,"exact":true}])"));
  CHECK(result["properties"][1]["witness"].is_null());
  CHECK_FALSE(property.contains("worst"));
  std::vector<ExploredStory> lasting = stories;
  lasting.front().exploration.properties.front().worst =
      scenarios::WorstCase{sim::Duration::milliseconds(5004), true, sim::Duration::milliseconds(5004), {}};
  CHECK(nlohmann::json::parse(check_json(lasting, false))["results"][0]["properties"][0]["worst"] ==
        nlohmann::json::parse(R"({"longest":"5004ms","exact":true})"));
  CHECK(json["results"][1]["bound"] == "max-seconds");
  CHECK(nlohmann::json::parse(check_json(stories, false))["results"][0]["seconds"].is_null());
}

TEST_CASE("exploration: in JUnit a contradiction is a failure, and a bound is an error") {
  const std::vector<ExploredStory> stories{forged(), surprising(), open()};
  pugi::xml_document document;
  REQUIRE(document.load_string(junit_xml("lockstep check", junit_cases(stories)).c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  CHECK(std::string(suite.attribute("name").value()) == "lockstep check");
  CHECK(suite.attribute("tests").as_int() == 3);
  CHECK(suite.attribute("failures").as_int() == 1);
  CHECK(suite.attribute("errors").as_int() == 1);
  pugi::xml_node testcase = suite.child("testcase");
  CHECK(!testcase.first_child());
  testcase = testcase.next_sibling();
  CHECK(contains(testcase.child("failure").text().get(), "for every pause above 71ms"));
  CHECK(contains(testcase.child("failure").text().get(), "lockstep check stories/pause.toml"));
  CHECK(contains(testcase.next_sibling().child("error").attribute("message").value(), "--max-seconds was reached"));
}

TEST_CASE("exploration: a region of several pieces is told, and of many its corners") {
  const auto text = [](const ExploredStory& story, Language language) {
    return frontier_text(story, story.exploration.properties[0], language);
  };
  ExploredStory story = with_steps(2);
  const std::string pieces =
      "delay - restart_after >= 1ms and pause > 100ms or delay - restart_after >= 2ms and pause > 90ms";
  CHECK(text(story, Language::en) == "together: for " + pieces + ", and for nothing else");
  CHECK(text(story, Language::zh) == "合在一起：" + pieces + "，其余不会");
  story.exploration.properties[0].is_region_exact = false;
  CHECK_THAT(text(story, Language::en), Catch::EndsWith("; others may break it, too"));
  const nlohmann::json told = nlohmann::json::parse(check_json({&story, 1}, false, {}));
  const nlohmann::json& frontier = told["results"][0]["properties"][0]["frontier"];
  CHECK(frontier["exact"] == false);
  CHECK_FALSE(frontier.contains("polygons"));
  REQUIRE(frontier["pieces"].size() == 2);
  const nlohmann::json& piece = frontier["pieces"][0];
  CHECK(piece["bounds"][0]["coefficients"] == nlohmann::json{{"delay", 1}, {"restart_after", -1}});
  CHECK(piece["bounds"][0]["more_than_ns"] == 1'000'000);
  CHECK(piece["bounds"][0]["attained"] == true);
  CHECK(piece["corners"][0] == nlohmann::json{{"pause", "100ms"}, {"delay", "1ms"}, {"restart_after", "0ms"}});

  const ExploredStory many = with_steps(8);
  CHECK(text(many, Language::en) ==
        "together: in 8 pieces, all of which --json tells; they begin at corners such as pause 30ms + delay 8ms; "
        "pause 40ms + delay 7ms; pause 30ms + delay 17ms + restart_after 9ms; pause 50ms + delay 6ms; "
        "pause 40ms + delay 16ms + restart_after 9ms; pause 60ms + delay 5ms, and for nothing else");
}

}  // namespace lockstep::reports::exploration_test
