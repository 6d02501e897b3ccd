// The state graph of stories.

#include "scenarios/exploring/state_graph.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"

namespace lockstep::scenarios::state_graph_test {
namespace {

using checker::StateGraph;

std::string story(const std::string& ttl, int clients, const std::string& more = "") {
  std::string text = R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "set-nx-px-lua"
ttl = ")" + ttl + R"("
[network]
latency = ["1ms", "10ms"]
)" + more;
  for (int i = 0; i < clients; ++i) {
    text += "[[client]]\nname = \"" + std::string(1, static_cast<char>('A' + i)) +
            "\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"20ms\"\nattempts = 1\n";
  }
  return text;
}

const std::string kPause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";

Scenario scenario_of(const std::string& text) {
  auto scenario = parse(text, "story.toml", models::locks::Catalogue::built_in());
  if (const auto* problem = std::get_if<Diagnostic>(&scenario)) FAIL(problem->to_string());
  return std::get<Scenario>(scenario);
}

StateGraph graph_of(const std::string& text, bool reduction, const StateGraphBounds& bounds = {}) {
  auto graph = explored_states(scenario_of(text), models::locks::Catalogue::built_in(), reduction, bounds);
  if (const auto* problem = std::get_if<Diagnostic>(&graph)) FAIL(problem->to_string());
  return std::get<StateGraph>(graph);
}

const std::vector<std::string>& small_stories() {
  static const std::vector<std::string> stories{
      story("100ms", 2),
      story("10ms", 2),
      story("100ms", 2, kPause),
      story("100ms", 2, "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"71ms\"]\n"),
      story("100ms", 2, "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"71.001ms\"]\n"),
  };
  return stories;
}

template <class Keep>
std::set<std::string> labels(const StateGraph& graph, const Keep& keep) {
  std::set<std::string> kept;
  for (const StateGraph::State& state : graph.states) {
    if (keep(state)) kept.insert(state.label);
  }
  return kept;
}

}  // namespace

TEST_CASE("state graph of a story: one client alone is a chain, in words that people know") {
  const std::string dot = std::get<std::string>(state_graph(
      scenario_of(story("100ms", 1)), models::locks::Catalogue::built_in(), checker::GraphFormat::dot, false));
  INFO(dot);
  const std::size_t body = dot.find("\n0 [");
  REQUIRE(body != std::string::npos);
  CHECK(dot.substr(body + 1) == R"(0 [label="A: not started\lredis: empty\l", penwidth=2.5];
1 [label="A: acquire lock, SET → redis\lredis: empty\l"];
2 [label="A: acquire lock, SET ← redis\lredis: lock = A-1, with a lease\l"];
3 [label="A: holds lock, works\lredis: lock = A-1, with a lease\l"];
4 [label="A: release lock, EVAL → redis\lredis: lock = A-1, with a lease\l"];
5 [label="A: release lock, EVAL ← redis\lredis: empty\l"];
6 [label="A: done\lredis: empty\l", peripheries=2];
0->1  [label="A starts"];
1->2  [label="A.SET → redis"];
2->3  [label="A.SET ← redis"];
3->4  [label="A work done"];
4->5  [label="A.EVAL → redis"];
5->6  [label="A.EVAL ← redis"];
}
)");
}

TEST_CASE("state graph of a story: a violating state is there exactly if mutual exclusion can be violated") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  for (const std::string& text : small_stories()) {
    INFO(text);
    // The graph is of all states, by name.
    const auto exploration = std::get<Exploration>(explore(scenario_of(text), catalogue, {.exchanges_names = false}));
    const bool is_violated = exploration.property("mutual-exclusion").verdict == checker::Verdict::violated;
    const StateGraph all = graph_of(text, false);
    const StateGraph reduced = graph_of(text, true);
    const auto is_violating = [](const StateGraph::State& s) { return s.violating; };
    CHECK(std::any_of(all.states.begin(), all.states.end(), is_violating) == is_violated);
    CHECK((all.violating_traces > 0) == is_violated);
    CHECK(reduced.violating_traces == exploration.property("mutual-exclusion").violating_traces);
    for (const std::string& label : labels(all, is_violating)) {
      CHECK(label.find("A: holds lock") != std::string::npos);
      CHECK(label.find("B: holds lock") != std::string::npos);
    }
  }
}

TEST_CASE("state graph of a story: holds that only touch are met, and not marked") {
  // With 71ms of pause A can give the lock back in the instant in which B learns that it has it. Whichever is handled first,
  // the holds are [.., t) and [t, ..). With less, A is always earlier.
  const auto both_hold = [](const StateGraph::State& s) {
    return s.label.find("A: holds") != std::string::npos && s.label.find("B: holds") != std::string::npos;
  };
  const auto graph_up_to = [](const std::string& length) {
    return graph_of(story("100ms", 2, "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"" + length + "\"]\n"), false);
  };
  CHECK(labels(graph_up_to("70.999ms"), both_hold).empty());
  const StateGraph touching = graph_up_to("71ms");
  CHECK_FALSE(labels(touching, both_hold).empty());
  CHECK(touching.violating_traces == 0);
}

TEST_CASE(
    "state graph of a story: with and without reduction the same ends, and no state that all orders do not have") {
  for (const std::string& text : small_stories()) {
    INFO(text);
    const StateGraph all = graph_of(text, false);
    const StateGraph reduced = graph_of(text, true);
    const auto is_end = [](const StateGraph::State& s) { return s.end; };
    CHECK(labels(all, is_end) == labels(reduced, is_end));
    const auto known = labels(all, [](const auto&) { return true; });
    for (const std::string& label : labels(reduced, [](const auto& s) { return s.possible; })) {
      CHECK(known.contains(label));
    }
    const auto violating = labels(all, [](const auto& s) { return s.violating; });
    for (const std::string& label : labels(reduced, [](const auto& s) { return s.violating; })) {
      CHECK(violating.contains(label));
    }
  }
}

TEST_CASE("state graph of a story: deadlines, resources and several servers are told") {
  std::string text = story("200ms", 2, "[servers]\ncount = 3\n[resource]\nkind = \"counter\"\n");
  text.replace(text.find("set-nx-px-lua"), 13, "redlock-seq");
  const StateGraph graph = graph_of(text, true, {.states_max = 20'000});
  const auto some_state_says = [&](const std::string& what) {
    return std::any_of(graph.states.begin(), graph.states.end(),
                       [&](const StateGraph::State& s) { return s.label.find(what) != std::string::npos; });
  };
  CHECK(some_state_says("A: holds lock until its deadline, read resource, READ → resource"));
  CHECK(some_state_says("redis3: lock = B-1, with a lease"));
  CHECK(some_state_says("resource: 2"));
  CHECK(graph.violating_traces == 0);
}

TEST_CASE("state graph of a story: too many states are an answer, not a file") {
  const auto result =
      explored_states(scenario_of(story("100ms", 2)), models::locks::Catalogue::built_in(), false, {.states_max = 10});
  REQUIRE(std::holds_alternative<Diagnostic>(result));
  CHECK(std::get<Diagnostic>(result).to_string() ==
        "story.toml: its state graph has more than 10 states, too many to look at; let fewer clients take part, with "
        "fewer "
        "rounds and attempts, no [[may]], or leave out --no-reduction");
}

TEST_CASE("state graph of a story: a story that goes on and on is refused") {
  std::string text = story("100ms", 1);
  text += "rounds = 300\n";
  const auto result =
      state_graph(scenario_of(text), models::locks::Catalogue::built_in(), checker::GraphFormat::dot, true);
  REQUIRE(std::holds_alternative<Diagnostic>(result));
  CHECK(std::get<Diagnostic>(result).message ==
        "it has a trace of more than 1000 events, too long for a state graph; let its clients have fewer rounds and "
        "attempts");
}

TEST_CASE("state graph of a story: what exploration does not know is refused") {
  const auto result =
      state_graph(scenario_of(story("100ms", 2, "[[may]]\nkind = \"jump\"\nclient = \"A\"\nby = [\"0ms\", \"9ms\"]\n")),
                  models::locks::Catalogue::built_in(), checker::GraphFormat::dot, true);
  CHECK(std::holds_alternative<Diagnostic>(result));
}

}  // namespace lockstep::scenarios::state_graph_test
