// Pages of algorithms, the history, the market, and their pictures.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <string>

#include "reports/site/findings/measured.hpp"
#include "reports/site/frame/page_testing.hpp"
#include "reports/site/locks/algorithm_page.hpp"
#include "reports/site/locks/algorithm_texts.hpp"
#include "reports/site/locks/figure.hpp"
#include "reports/site/locks/graph_picture.hpp"
#include "reports/site/locks/history_page.hpp"
#include "reports/text/embedded_text.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "scenarios/workers/in_parallel.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::reports::site::algorithm_page_test {
namespace {

using scenarios::testing::catalogue;

constexpr std::array<std::string_view, 6> kFolders{"redis-lock-java", "lock-summary",          "redisson-reentrant",
                                                   "redisson-source", "redis-in-action-notes", "several-locks"};

Story story_named(std::string_view id) {
  for (const std::string_view folder : kFolders) {
    const std::string file = in_tree("scenarios/stories/" + std::string(folder) + "/" + std::string(id) + ".toml");
    auto loaded = scenarios::load(file, catalogue());
    auto* scenario = std::get_if<scenarios::Scenario>(&loaded);
    if (scenario == nullptr) continue;
    auto outcome = std::get<scenarios::Outcome>(scenarios::run(*scenario, catalogue()));
    return {std::move(*scenario), std::move(outcome)};
  }
  FAIL("no story " << id);
  return {};
}

FoldedGraph graph_with(std::size_t nodes, const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  FoldedGraph graph;
  for (std::size_t i = 0; i < nodes; ++i) graph.nodes.push_back({.lines = {"node " + std::to_string(i)}});
  for (const auto& [from, to] : edges) graph.edges.push_back({.from = from, .to = to, .events = {"x"}});
  return graph;
}

}  // namespace

TEST_CASE("algorithm texts: every algorithm of the catalogue has all of them, and its own source") {
  for (const models::locks::Entry& entry : catalogue().entries()) {
    INFO(entry.id);
    const AlgorithmText* text = find_algorithm_text(entry.id);
    REQUIRE(text != nullptr);
    for (const std::string_view part : {text->summary_zh, text->how, text->how_zh}) REQUIRE_FALSE(part.empty());
    REQUIRE_FALSE(text->keys.empty());
    REQUIRE_FALSE(text->files.empty());
    bool names_it = false;
    for (const std::string_view file : text->files) {
      INFO(file);
      const auto source = find_embedded_text(file);
      REQUIRE(source.has_value());
      names_it = names_it || source->find("\"" + std::string(entry.id) + "\"") != std::string_view::npos;
    }
    REQUIRE(names_it);
    for (const models::locks::ParameterSpec& spec : entry.parameters) {
      INFO(spec.meaning);
      REQUIRE_FALSE(parameter_meaning_zh(spec.meaning).empty());
    }
  }
}

TEST_CASE("algorithm texts: keys are those that a run leaves on the server while the lock is held") {
  for (const models::locks::Entry& entry : catalogue().entries()) {
    INFO(entry.id);
    scenarios::Scenario world = scenarios::matrix_world(
        entry, scenarios::matrix_faults().front(), scenarios::matrix_questions().front(), scenarios::MatrixWorld::two);
    world.clients.resize(1);
    const auto outcome = std::get<scenarios::Outcome>(scenarios::run(world, catalogue(), {.key_states = true}));
    const AlgorithmText& text = *find_algorithm_text(entry.id);
    REQUIRE_FALSE(outcome.key_states.empty());
    for (const scenarios::KeyState& state : outcome.key_states) {
      const bool is_told = std::any_of(text.keys.begin(), text.keys.end(), [&](const KeyLayout& key) {
        // "{lock}:…:rwlock_timeout:…": what comes before the first part that is not told; "lock, or lock/1, …": both.
        const std::string name(key.name.substr(0, key.name.find("…")));
        return key.name == state.key || (name.size() < key.name.size() && state.key.starts_with(name)) ||
               key.name.starts_with(state.key + ",") || key.name.ends_with("/item");
      });
      INFO(state.key);
      REQUIRE(is_told);
    }
  }
}

TEST_CASE("history: each step's story is of its algorithm and breaks something, but for the last") {
  for (const HistoryStep& step : history_steps()) {
    INFO(step.algorithm << " " << step.story);
    const Story story = story_named(step.story);
    REQUIRE(story.scenario.lock.algorithm == step.algorithm);
    const ListedStory listed{"x", "x", &story, nullptr};
    REQUIRE_FALSE(broken_properties(listed).empty());
    if (!step.repair.empty()) continue;
    // Two still believe; the resource is not damaged.
    REQUIRE(breaks(listed, "mutual-exclusion"));
    REQUIRE(was_judged(listed, "fencing"));
    REQUIRE_FALSE(breaks(listed, "fencing"));
  }
}

TEST_CASE("algorithm pages: all pages about locks are sound, and their links lead to pages and places that are there") {
  std::deque<Story> stories;
  Findings findings;
  findings.catalogue = &catalogue();
  std::vector<scenarios::Scenario> scenarios;
  for (const HistoryStep& step : history_steps()) {
    const Story& story = stories.emplace_back(story_named(step.story));
    findings.stories.push_back({"x.toml", "stories/" + story.scenario.id + ".html", &story, nullptr});
  }
  scenarios::MatrixOptions options{.algorithms = {"set-nx-px-lua", "fenced-write"},
                                   .faults = {"none", "pause", "crash"}};
  options.max_traces = 200;
  options.max_events = 10'000;
  options.runs = 5;
  const auto matrix = std::get<scenarios::Matrix>(scenarios::matrix(catalogue(), options));
  findings.matrix = &matrix;
  const auto one_after_the_other = [](std::size_t count, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = 0; i < count; ++i) work(i);
  };
  const std::vector<Page> pages = pages_about_locks(findings, one_after_the_other);
  REQUIRE(pages.size() == catalogue().entries().size() + 4);
  std::map<std::string, std::string> html;
  for (const Page& page : pages) {
    INFO(page.path);
    html[page.path] = html_of(page);
    testing::require_sound(html[page.path]);
  }
  for (const Page& page : pages) {
    std::string_view body = page.body;
    for (std::size_t at = body.find("href=\""); at != std::string_view::npos; at = body.find("href=\"", at + 1)) {
      std::string to(body.substr(at + 6, body.find('"', at + 6) - at - 6));
      INFO(page.path << " → " << to);
      if (page.path.find('/') != std::string::npos) {
        REQUIRE(to.starts_with("../"));
        to.erase(0, 3);
      }
      const std::string place = to.find('#') == std::string::npos ? "" : to.substr(to.find('#') + 1);
      to = to.substr(0, to.find('#'));
      if (to.starts_with("stories/")) continue;
      REQUIRE(html.contains(to));
      if (!place.empty()) REQUIRE(html[to].find("id=\"" + place + "\"") != std::string::npos);
    }
  }
}

TEST_CASE("graph picture: one client of set-nx-px-lua alone passes through states that can be counted by hand") {
  std::vector<ListedGraph> graphs(count_of_graphs(catalogue()));
  scenarios::in_parallel(graphs.size(), 2, [&](std::size_t i) { graphs[i] = graph_at(catalogue(), i); });
  REQUIRE(graphs.size() == 2 * catalogue().entries().size());
  const auto of = [&](std::string_view id, std::size_t clients) -> const ListedGraph& {
    return *std::find_if(graphs.begin(), graphs.end(),
                         [&](const ListedGraph& g) { return g.algorithm == id && g.clients == clients; });
  };
  for (const ListedGraph& graph : graphs) {
    INFO(graph.algorithm << " " << graph.clients << " " << graph.why);
    REQUIRE((graph.why.empty() ? graph.graph.states.size() : 1) > 0);
  }
  // docs/manual/state-graphs.md: not started; acquire (asked), acquire (answered), holds, release (asked), release (answered), done.
  REQUIRE(of("set-nx-px-lua", 1).graph.states.size() == 7);
  const FoldedGraph folded = fold(of("set-nx-px-lua", 1).graph, {});
  // Without what is on its way the server still tells both halves of an acquire and of a release apart.
  REQUIRE(folded.nodes.size() == 7);
  REQUIRE(folded.edges.size() == 6);
  REQUIRE(folded.nodes.front().initial);
  // Two clients, and no fault: nobody ever holds it beside another.
  const checker::StateGraph& two = of("set-nx-px-lua", 2).graph;
  REQUIRE(std::none_of(two.states.begin(), two.states.end(), [](const auto& state) { return state.violating; }));
  // Mirror images: fewer than all, and no fewer than half.
  const std::size_t all = fold(two, {}).nodes.size();
  const std::size_t without_mirrors = fold(two, {"A", "B"}).nodes.size();
  REQUIRE(without_mirrors < all);
  REQUIRE(2 * without_mirrors >= all);
}

TEST_CASE("graph picture: names are exchanged as words, and a state and its mirror image are one") {
  checker::StateGraph graph;
  graph.states = {{.label = "A: holds lock, works\nB: done\nredis: lock = A-1", .initial = true},
                  {.label = "A: done\nB: holds lock, works\nredis: lock = B-1"},
                  {.label = "A: holds lock\nB: done\nredis: lock = ABBA"}};
  graph.transitions = {
      {.from = 0, .to = 1, .event = "x"}, {.from = 1, .to = 2, .event = "y"}, {.from = 0, .to = 2, .event = "y"}};
  const FoldedGraph folded = fold(graph, {"A", "B"});
  REQUIRE(folded.nodes.size() == 2);
  REQUIRE(folded.nodes[0].states == 2);
  REQUIRE(folded.nodes[0].lines == std::vector<std::string>{"A: done", "B: holds lock", "redis: lock = B-1"});
  REQUIRE(folded.nodes[1].lines == std::vector<std::string>{"A: done", "B: holds lock", "redis: lock = ABBA"});
  REQUIRE(folded.edges.size() == 1);
  REQUIRE(folded.edges[0].events == std::vector<std::string>{"y"});
  REQUIRE(fold(graph, {}).nodes.size() == 3);
}

TEST_CASE("graph picture: edges lead downwards, but for those that close a circle") {
  REQUIRE(layers_of(graph_with(4, {{0, 1}, {0, 2}, {1, 2}, {2, 3}})) == std::vector<std::size_t>{0, 1, 2, 3});
  REQUIRE(layers_of(graph_with(3, {{0, 1}, {1, 2}, {2, 1}})) == std::vector<std::size_t>{0, 1, 2});
  REQUIRE(layers_of(graph_with(2, {{0, 0}, {0, 1}})) == std::vector<std::size_t>{0, 1});
  const std::string svg = graph_svg(graph_with(3, {{0, 1}, {1, 2}, {2, 1}}), "g", {"t", "t"});
  pugi::xml_document document;
  REQUIRE(document.load_string(svg.c_str()));
  REQUIRE(document.select_nodes("//rect").size() == 3);
  REQUIRE(document.select_nodes("//path[@class='way']").size() == 2);
  REQUIRE(document.select_nodes("//path[@class='way back']").size() == 1);
}

TEST_CASE("figure: values stand where the scale says, and a gap is a gap") {
  const Figure figure{.id = "f",
                      .title = {"t", "t"},
                      .sizes_name = {"n", "n"},
                      .sizes = {"1", "2", "4"},
                      .curves = {{{"a", "a"}, {100, std::nullopt, 200}}, {{"b", "b"}, {0, 50, 100}}},
                      .format = [](std::uint64_t n) { return std::to_string(n); }};
  pugi::xml_document document;
  REQUIRE(document.load_string(("<x>" + figure_html(figure) + "</x>").c_str()));
  const pugi::xml_node svg = document.child("x").child("figure").child("svg");
  // 200 is the top of the scale, 100 its middle, 0 its bottom.
  const auto circles = svg.select_nodes("circle");
  REQUIRE(circles.size() == 2);
  const int middle = circles[0].node().attribute("cy").as_int();
  const int top = circles[1].node().attribute("cy").as_int();
  const int bottom = svg.select_node("line").node().attribute("y1").as_int();
  REQUIRE(middle - top == bottom - middle);
  REQUIRE(svg.select_nodes("rect").size() == 3);
  // The gap cuts the first curve into two.
  REQUIRE(svg.select_nodes("polyline[@class='curve c0']").size() == 2);
  REQUIRE(svg.select_nodes("polyline[@class='curve c1']").size() == 1);

  Figure empty = figure;
  empty.curves = {{{"a", "a"}, {std::nullopt, std::nullopt, std::nullopt}}};
  REQUIRE(figure_html(empty).empty());
}

TEST_CASE("market page: what it shows is what was measured, and without a market it says so") {
  Findings findings;
  findings.catalogue = &catalogue();
  testing::require_sound(html_of(market_page(findings)));
  auto loaded = scenarios::load(in_tree("scenarios/stories/market/lock.toml"), catalogue());
  const auto& scenario = std::get<scenarios::Scenario>(loaded);
  scenarios::MarketRun run{.sellers = 5, .buyers = 1, .listed = 4321, .bought = 987, .retries = 7, .messages = 1974};
  run.is_sound = false;
  findings.markets.push_back({scenario, {run}});
  const std::string html = html_of(market_page(findings));
  testing::require_sound(html);
  const std::string text = testing::text_of_page(testing::read_back(html));
  for (const std::string_view figure : {"4321", "987", "2.00", "✗ yes"}) {
    INFO(figure);
    REQUIRE(text.find(figure) != std::string::npos);
  }
}

}  // namespace lockstep::reports::site::algorithm_page_test
