// Runs in the formats of other tools, read by what is not ours: nlohmann's JSON, pugixml, Boost's reader of DOT; and our reader of EDN.

#include "reports/export/export.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"
#include "checker/linearizability/linearizability.hpp"
#include "checker/properties/properties.hpp"
#include "reports/export/causality.hpp"
#include "reports/export/hostile_story_testing.hpp"
#include "reports/export/markdown.hpp"
#include "reports/export/run_stories_testing.hpp"
#include "reports/run/forged_story.hpp"
#include "reports/run/junit.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports::export_test {
namespace {

using nlohmann::json;

std::string written(std::string_view format, const Story& story, Language language = Language::en) {
  return find_export_format(format)->write(
      {.stories = {&story, 1}, .not_run = {}, .language = language, .version = "1"}, "run.md");
}

struct DotNode {
  std::string label, group;
};
struct DotEdge {
  std::string label;
};
using DotGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, DotNode, DotEdge>;

DotGraph read_dot(const std::string& text) {
  DotGraph graph;
  boost::dynamic_properties properties(boost::ignore_other_properties);
  properties.property("label", boost::get(&DotNode::label, graph));
  properties.property("group", boost::get(&DotNode::group, graph));
  properties.property("label", boost::get(&DotEdge::label, graph));
  REQUIRE(boost::read_graphviz(text, graph, properties));
  return graph;
}

struct GraphmlNode {
  std::string process, text;
};

std::vector<GraphmlNode> read_graphml(const std::string& text) {
  pugi::xml_document document;
  REQUIRE(document.load_string(text.c_str()));
  std::map<std::string, std::string> names;
  for (const pugi::xml_node key : document.child("graphml").children("key"))
    names[key.attribute("id").value()] = key.attribute("attr.name").value();
  std::vector<GraphmlNode> nodes;
  for (const pugi::xml_node node : document.child("graphml").child("graph").children("node")) {
    GraphmlNode& read = nodes.emplace_back();
    for (const pugi::xml_node data : node.children("data")) {
      const std::string& name = names[data.attribute("key").value()];
      if (name == "process") read.process = data.text().get();
      if (name == "text") read.text = data.text().get();
    }
  }
  return nodes;
}

std::int64_t itf_number(const json& value) { return std::stoll(value.at("#bigint").get<std::string>()); }

/// Of a map with names as arguments.
json itf_at(const json& map, const std::string& argument) {
  for (const json& pair : map.at("#map")) {
    if (pair.at(0) == argument) return pair.at(1);
  }
  FAIL(argument << " is not in " << map.dump());
  return {};
}

bool is_violated(const Story& story, std::string_view property) {
  const auto& all = story.outcome.properties;
  return std::any_of(all.begin(), all.end(), [&](const scenarios::Judgement& j) {
    return j.finding.property == property && j.finding.verdict == checker::Verdict::violated;
  });
}

/// Cells of a row of a table. A reader drops cells that its heading has no column for, so it does not tell that a text has made one.
std::size_t cells_of(std::string_view row) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < row.size(); ++i) bars += row[i] == '|' && (i == 0 || row[i - 1] != '\\') ? 1 : 0;
  return bars - 1;
}

/// No byte that a terminal would obey, but for line breaks.
bool is_harmless(std::string_view text) {
  const bool has_noncharacter = text.find("\xEF\xBF\xBE") != std::string_view::npos;
  const bool has_control = has_noncharacter || std::any_of(text.begin(), text.end(), [](char c) {
                             return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
                           });
  return !has_control && text.find("\xE2\x80\xAE") == std::string_view::npos &&
         text.find("\xE2\x80\xA8") == std::string_view::npos && text.find('\xFF') == std::string_view::npos;
}

}  // namespace

TEST_CASE("export: kinds are found by their names") {
  std::set<std::string_view> names;
  for (const ExportFormat& format : export_formats()) {
    CHECK(find_export_format(format.name) == &format);
    names.insert(format.name);
  }
  CHECK(names.size() == 9);
  CHECK(find_export_format("pdf") == nullptr);
}

TEST_CASE("export: the same run gives the same bytes") {
  const std::string file = in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml");
  const Story one = testing::run_for_exports(file);
  const Story other = testing::run_for_exports(file);
  for (const ExportFormat& format : export_formats()) {
    INFO(format.name);
    CHECK(!written(format.name, one).empty());
    CHECK(written(format.name, one) == written(format.name, other));
  }
  CHECK(markdown_picture(one, Language::en) == markdown_picture(other, Language::en));
}

TEST_CASE("export: chrome-trace: slices of a thread never cross, and every arrow begins and ends in one") {
  for (const Story& story : testing::stories_for_exports()) {
    INFO(story.scenario.file);
    const json document = json::parse(written("chrome-trace", story));
    struct Span {
      double from, to;
    };
    using Thread = std::pair<std::int64_t, std::int64_t>;
    std::map<Thread, std::vector<Span>> slices;
    std::set<Thread> named;
    std::map<std::int64_t, std::string> flows;
    for (const json& event : document.at("traceEvents")) {
      const Thread thread{event.at("pid"), event.at("tid")};
      if (event.at("ph") == "X")
        slices[thread].push_back({event.at("ts"), event.at("ts").get<double>() + event.at("dur").get<double>()});
      if (event.at("name") == "thread_name") named.insert(thread);
    }
    for (auto& [thread, spans] : slices) {
      CHECK(named.contains(thread));
      std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.from < b.from; });
      for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i - 1].to <= spans[i].from + 1e-3);
    }
    for (const json& event : document.at("traceEvents")) {
      if (event.at("ph") != "s" && event.at("ph") != "f") continue;
      flows[event.at("id")] += event.at("ph");
      const std::vector<Span>& spans = slices[{event.at("pid"), event.at("tid")}];
      CHECK(std::any_of(spans.begin(), spans.end(), [&](const Span& s) { return s.from == event.at("ts"); }));
    }
    const Causality causality = causality_of(story);
    CHECK(flows.size() == static_cast<std::size_t>(std::count_if(causality.edges.begin(), causality.edges.end(),
                                                                 [](const CausalEdge& e) { return e.is_message; })));
    for (const auto& [id, phases] : flows) CHECK(phases == "sf");
  }
}

TEST_CASE("export: chrome-trace: bars are what was believed, paused and leased, in microseconds") {
  const Story story =
      testing::run_for_exports(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"));
  const json document = json::parse(written("chrome-trace", story));
  std::set<std::tuple<std::string, std::int64_t, std::int64_t>> bars;
  for (const json& event : document.at("traceEvents")) {
    if (event.value("cat", "") == "bar") bars.emplace(event.at("name"), event.at("ts"), event.at("dur"));
  }
  CHECK(bars.contains({"believes to hold the lock", 2'000, 422'000}));   // A, until it gives it back at 424ms
  CHECK(bars.contains({"believes to hold the lock", 152'000, 22'000}));  // B
  CHECK(bars.contains({"paused", 2'000, 400'000}));
  CHECK(bars.contains({"lease: A", 1'000, 100'000}));
  CHECK(bars.contains({"lease is over: A", 101'000, 50'000}));
}

TEST_CASE(
    "export: itf: every state has every variable, and two believe at once exactly where mutual exclusion is violated") {
  std::size_t violated = 0;
  for (const Story& story : testing::stories_for_exports()) {
    INFO(story.scenario.file);
    const json document = json::parse(written("itf", story));
    CHECK(document.at("#meta").at("format") == "ITF");
    std::size_t index = 0;
    std::int64_t latest = 0;
    bool is_shared = false;
    for (const json& state : document.at("states")) {
      CHECK(state.at("#meta").at("index") == index++);
      CHECK(state.size() == document.at("vars").size() + 1);
      for (const json& name : document.at("vars")) CHECK(state.contains(name));
      CHECK(itf_number(state.at("time_ns")) >= latest);
      latest = itf_number(state.at("time_ns"));
      for (const json& pair : state.at("believes").at("#map"))
        is_shared = is_shared || pair.at(1).at("#set").size() > 1;
    }
    const bool several_may = story.outcome.places || std::any_of(story.outcome.history.operations.begin(),
                                                                 story.outcome.history.operations.end(),
                                                                 [](const sim::Operation& o) { return o.is_shared; });
    if (several_may) continue;
    CHECK(is_shared == is_violated(story, "mutual-exclusion"));
    violated += is_shared ? 1 : 0;
  }
  CHECK(violated > sim::cases<std::size_t>(20, 1));
}

TEST_CASE("export: itf: keys, clocks and status of a story that is known") {
  const Story story =
      testing::run_for_exports(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"));
  const json document = json::parse(written("itf", story));
  const auto at = [&](std::int64_t ms) {
    json last;
    for (const json& state : document.at("states")) {
      if (itf_number(state.at("time_ns")) <= ms * 1'000'000) last = state;
    }
    return last;
  };
  const json begins = at(0);
  CHECK(itf_at(begins.at("keys"), "redis").at("#map").empty());
  const json held = itf_at(itf_at(at(1).at("keys"), "redis"), "lock");
  CHECK(held.at("text") == "A-1");
  CHECK(itf_number(held.at("expires_ns")) == 101'000'000);
  CHECK(itf_at(at(2).at("status"), "A") == "paused");
  CHECK(itf_at(at(2).at("believes"), "lock").at("#set") == json({"A"}));
  CHECK(itf_at(at(152).at("believes"), "lock").at("#set") == json({"A", "B"}));
  CHECK(itf_at(itf_at(at(152).at("keys"), "redis"), "lock").at("text") == "B-1");
  CHECK(itf_at(at(402).at("status"), "A") == "runs");
  CHECK(itf_number(itf_at(at(402).at("clock_ns"), "B")) == 402'000'000);
  CHECK(itf_at(at(175).at("keys"), "redis").at("#map").empty());
}

TEST_CASE("export: dot and graphml are the graph of events, as other readers see it") {
  for (const Story& story : testing::stories_for_exports()) {
    const Causality causality = causality_of(story);
    if (causality.events.size() > 400) continue;
    INFO(story.scenario.file);
    const DotGraph dot = read_dot(written("dot", story));
    CHECK(boost::num_vertices(dot) == causality.events.size());
    CHECK(boost::num_edges(dot) == causality.edges.size());
    const std::vector<GraphmlNode> nodes = read_graphml(written("graphml", story));
    REQUIRE(nodes.size() == causality.events.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      CHECK(nodes[i].text == causality.events[i].text);
      CHECK(nodes[i].process == name_of(story.outcome, causality.events[i].process));
    }
  }
}

TEST_CASE("export: edn is judged as the run was") {
  const Story story =
      testing::run_for_exports(in_tree("scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml"));
  namespace formats = checker::history_formats;
  const checker::Model& model = *checker::find_model("owner-mutex");
  formats::Recorder recorder(model, {});
  const std::string edn = written("edn", story);
  const formats::ReadResult read =
      formats::read_history(formats::text_source(edn), formats::Format::automatic,
                            [&](const formats::Event& event) { return recorder.take(event); });
  REQUIRE(!read.trouble);
  CHECK(is_violated(story, "linearizable"));
  CHECK(checker::check_linearizable(recorder.finish().operations, model).verdict == checker::Verdict::violated);
}

TEST_CASE("export: junit is what --junit writes") {
  const std::vector<Story> stories{ForgedStory().story(), ForgedStory::unexpected()};
  CHECK(find_export_format("junit")->write({.stories = stories, .not_run = {}, .version = "1"}, "x") ==
        junit_xml("lockstep run", junit_cases(stories)));
}

TEST_CASE(
    "export: sarif has all that its schema requires, and says what was not as expected, where the file expects it") {
  Story story = ForgedStory::unexpected();
  story.scenario.file = "stories/ä b:100%.toml";
  story.outcome.properties.front().expected->position = {12, 3};
  scenarios::Judgement claimed{.finding = {.property = "own-release", .verdict = checker::Verdict::violated},
                               .claim = scenarios::Claim::stated,
                               .as_expected = false};
  story.scenario.lock.algorithm_at = {4, 13};
  story.outcome.properties.push_back(claimed);
  const std::vector<Story> stories{ForgedStory().story(), story};
  const scenarios::Diagnostic not_run{.file = "/x/pin.toml", .at = {7, 1}, .message = "this pin cannot be kept"};
  const json document = json::parse(
      find_export_format("sarif")->write({.stories = stories, .not_run = {&not_run, 1}, .version = "0.1.0"}, "x"));
  CHECK(document.at("version") == "2.1.0");
  REQUIRE(document.at("runs").size() == 1);
  const json& run = document["runs"][0];
  CHECK(run.at("tool").at("driver").at("name") == "lockstep");
  CHECK(run.at("columnKind") == "unicodeCodePoints");
  const json& rules = run["tool"]["driver"].at("rules");
  CHECK(rules.size() == checker::properties().size());
  for (const json& rule : rules) CHECK(!rule.at("shortDescription").at("text").get<std::string>().empty());
  REQUIRE(run.at("results").size() == 2);
  const json& result = run["results"][0];
  CHECK(result.at("ruleId") == "mutual-exclusion");
  CHECK(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id") == "mutual-exclusion");
  CHECK(result.at("level") == "error");
  CHECK(result.at("message").at("text").get<std::string>().find("expected: holds; observed: violated by A, B") !=
        std::string::npos);
  const json& physical = result.at("locations").at(0).at("physicalLocation");
  CHECK(physical.at("artifactLocation").at("uri") == "stories/%C3%A4%20b:100%25.toml");
  CHECK(physical.at("region") == json({{"startLine", 12}, {"startColumn", 3}}));
  CHECK(run["results"][1].at("ruleId") == "own-release");
  CHECK(run["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] == 4);
  const json& invocation = run.at("invocations").at(0);
  CHECK(invocation.at("executionSuccessful") == false);
  CHECK(invocation.at("toolExecutionNotifications").at(0).at("message").at("text") == "this pin cannot be kept");
  CHECK(invocation["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] ==
        "file:///x/pin.toml");
}

TEST_CASE("export: markdown tells the story, its verdicts and its steps in both languages, beside its picture") {
  const Story story = ForgedStory().story();
  const std::string english = written("markdown", story);
  CHECK(english.starts_with("# A pause outlives the lease\n\n"));
  CHECK(english.find("![The run as a space-time diagram](<run.svg>)") != std::string::npos);
  CHECK(english.find("| ✗ | mutual-exclusion | violated by A, B at 122ms | as expected | B got the lock at 122ms") !=
        std::string::npos);
  CHECK(english.find("| 122ms | B | **has the lock, and so has A** |") != std::string::npos);
  const std::string chinese = written("markdown", story, Language::zh);
  CHECK(chinese.starts_with("# 停顿超过了租约\n\n"));
  CHECK(chinese.find("| 时间 | 谁 | 做什么 |") != std::string::npos);
  CHECK(chinese.find("The run") == std::string::npos);
  pugi::xml_document picture;
  CHECK(picture.load_string(markdown_picture(story, Language::zh).c_str()));
  CHECK(picture.child("svg"));
}

TEST_CASE("export: the picture of a page lies beside it") {
  CHECK(picture_beside("run.md") == "run.svg");
  CHECK(picture_beside("a.b/run.markdown") == "a.b/run.svg");
  CHECK(picture_beside("a.md/run") == "a.md/run.svg");
  CHECK(picture_beside("run.svg") == "run.svg.svg");
  CHECK(picture_beside("out/.md") == "out/.md.svg");
}

TEST_CASE("export: hostile texts stay texts in every format") {
  const Story story = testing::hostile_story();
  for (const std::string_view kind : {"chrome-trace", "sarif"}) {
    const std::string text = written(kind, story);
    CHECK(json::accept(text));
    CHECK(is_harmless(text));
  }
  // Keys stay what they are, as far as JSON can hold them.
  const json itf = json::parse(written("itf", story));
  const std::string key =
      json::parse(json(story.scenario.lock.key).dump(-1, ' ', false, json::error_handler_t::replace));
  CHECK(itf_at(itf_at(itf["states"].back()["keys"], printable(story.outcome.lanes[2].name)), key)["type"] == "string");
  const std::string log = written("shiviz", story);
  CHECK(is_harmless(log));
  CHECK(static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n')) ==
        2 + 2 * causality_of(story).events.size());
  const std::string dot = written("dot", story);
  CHECK(is_harmless(dot));
  CHECK(boost::num_vertices(read_dot(dot)) == causality_of(story).events.size());
  const std::string graphml = written("graphml", story);
  CHECK(is_harmless(graphml));
  const std::vector<GraphmlNode> nodes = read_graphml(graphml);
  REQUIRE(nodes.size() == causality_of(story).events.size());
  CHECK(nodes.front().text == causality_of(story).events.front().text);
  pugi::xml_document junit;
  CHECK(junit.load_string(written("junit", story).c_str()));
  const std::string edn = written("edn", story);
  namespace formats = checker::history_formats;
  const formats::ReadResult read =
      formats::read_history(formats::text_source(edn), formats::Format::edn,
                            [](const formats::Event&) { return std::optional<formats::Complaint>(); });
  INFO((read.trouble ? read.trouble->message : ""));
  CHECK(!read.trouble);
}

TEST_CASE("export: hostile texts are no markup in Markdown") {
  const Story story = testing::hostile_story();
  for (const Language language : {Language::en, Language::zh}) {
    const std::string page = written("markdown", story, language);
    CHECK(is_harmless(page));
    const std::string own_image = "](<run.svg>)";
    for (std::size_t i = 2; i < page.size(); ++i) {
      const bool is_markup = std::string_view("<`[$&").find(page[i]) != std::string_view::npos && page[i - 1] != '\\';
      const bool is_ours = page.compare(i - 2, own_image.size(), own_image) == 0 ||
                           (page[i] == '[' && page[i - 1] == '!') || page.compare(i, 10, "`lockstep ") == 0 ||
                           page.compare(i, 2, "`\n") == 0;
      if (is_markup && !is_ours) FAIL(page.substr(i > 40 ? i - 40 : 0, 80));
    }
    std::istringstream lines(page);
    std::size_t rows = 0;
    std::size_t columns = 0;  // of the table that the line is in; 0: of none
    for (std::string line; std::getline(lines, line);) {
      const bool is_row = line.starts_with("| ");
      if (is_row && columns != 0) CHECK(cells_of(line) == columns);
      columns = !is_row ? 0 : columns == 0 ? cells_of(line) : columns;
      rows += is_row ? 1 : 0;
    }
    CHECK(rows > 10);
    pugi::xml_document picture;
    CHECK(picture.load_string(markdown_picture(story, language).c_str()));
  }
}

}  // namespace lockstep::reports::export_test
