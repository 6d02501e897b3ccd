// State graphs: counted by hand, read back from their files, and the same ends whatever the search leaves out.

#include "checker/graphs/state_graph.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <pugixml.hpp>
#include <set>

#include "checker/graphs/state_graph_format.hpp"
#include "checker/testing/toys/toy_world.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::state_graph_test {
namespace {

using namespace sim::literals;
using sim::Duration;
using Labels = std::set<std::string>;

struct Explored {
  StateGraph graph;
  Labels ends;  ///< of all traces that the explorer visited, straight from the world
  ExplorerCounts counts;
};

/// `make(explorer)` gives the toy world.
template <class Make>
Explored explored(const Make& make, bool reduction, std::uint32_t pauses = 0, std::size_t states_max = 2'000,
                  std::uint64_t traces_max = 200'000) {
  sim::DefaultDecisions nobody;
  const auto sample = make(nobody);
  toy::World* subject = nullptr;
  StateGraphOptions options;
  options.clients = sample->clients();
  options.names = {"A", "B", "C", "D", "E"};
  options.servers = [&] { return subject->outcome(); };
  options.reduced = reduction;
  options.states_max = states_max;
  options.traces_max = traces_max;
  StateGraphCollector collector(options);
  ExplorerOptions settings;
  settings.reduction = reduction;
  settings.observer = &collector;
  if (pauses > 0) {
    settings.faults.push_back(
        {.who = sample->clients(), .range = {0_ms, Duration::microseconds(4)}, .restart_after = {}, .times = pauses});
  }
  Explorer explorer(settings);
  const auto world = make(explorer);
  subject = world.get();
  Explored result;
  result.counts = explorer.explore(*world, [&](Explorer& e) {
    result.ends.insert(world->outcome());
    return collector.visit(e);
  });
  result.graph = collector.graph();
  return result;
}

auto random_world(std::uint64_t seed) {
  return [seed](sim::Decisions& decisions) { return std::make_unique<toy::World>(seed, decisions); };
}

/// Two clients that put once into one server; no lease runs out.
auto two_puts(Duration start_within, Duration latency_max) {
  return [=](sim::Decisions& decisions) {
    return std::make_unique<toy::World>(
        toy::World::Round{
            .clients = 2, .servers = 1, .start_within = start_within, .latency = {1_ms, latency_max}, .lease = 100_s},
        decisions);
  };
}

auto two_free_puts() { return two_puts(1_s, 1_s); }

template <class Keep>
Labels labels(const StateGraph& graph, const Keep& keep) {
  Labels kept;
  for (const StateGraph::State& state : graph.states) {
    if (keep(state)) kept.insert(state.label);
  }
  return kept;
}

Labels all_labels(const StateGraph& graph) {
  return labels(graph, [](const StateGraph::State&) { return true; });
}

Labels end_labels(const StateGraph& graph) {
  return labels(graph, [](const StateGraph::State& state) { return state.end; });
}

/// Without the lines of the clients.
Labels outcomes(const Labels& of_states) {
  Labels outcomes;
  for (const std::string& label : of_states) outcomes.insert(label.substr(label.rfind('\n') + 1));
  return outcomes;
}

bool is_within(const Labels& part, const Labels& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

std::uint64_t traces_out_of(const StateGraph& graph, std::size_t state) {
  std::uint64_t traces = 0;
  for (const StateGraph::Transition& t : graph.transitions) traces += t.from == state ? t.traces : 0;
  return traces;
}

}  // namespace

TEST_CASE("state graph: two clients and one server, with any delays up to a second, counted by hand") {
  // Each client goes through four states (not started, asks, is answered, done): 16 pairs. In 4 of them the server was
  // asked twice, in either order: 20 states. Steps of one client: 4 starts, 4 arrivals, 2 + 4 answers: 28 in all.
  // Any interleaving of three and three events: 20 traces.
  const StateGraph graph = explored(two_free_puts(), false).graph;
  CHECK(graph.states.size() == 20);
  CHECK(graph.transitions.size() == 28);
  CHECK(graph.traces == 20);
  CHECK(graph.out_of_order == 0);
  CHECK(end_labels(graph).size() == 2);
  CHECK(std::all_of(graph.states.begin(), graph.states.end(), [](const auto& s) { return s.possible; }));
  CHECK(std::count_if(graph.states.begin(), graph.states.end(), [](const auto& s) { return s.initial; }) == 1);
  CHECK(graph.states.front().initial);
  CHECK(graph.states.front().label == "A: not started\nB: not started\n| | | ");
  CHECK(traces_out_of(graph, 0) == 20);
  CHECK(all_labels(graph).contains("A: PUT ← C\nB: PUT → C\n| | 11 | "));
  CHECK(end_labels(graph).contains("A: done\nB: done\n11 early done | 11 early done | 11 21 | "));
  CHECK(std::any_of(graph.transitions.begin(), graph.transitions.end(),
                    [](const auto& t) { return t.from == 0 && t.event == "A starts" && t.traces == 10; }));
}

TEST_CASE("state graph: orders that no delays give are not in the full graph") {
  // Both start at 0ms, ask at 1ms and know at 2ms: only events of the same moment change places.
  const StateGraph graph = explored(two_puts(0_ms, 1_ms), false).graph;
  CHECK(graph.states.size() == 14);
  CHECK(graph.transitions.size() == 16);
  CHECK(graph.traces == 8);
  CHECK(graph.out_of_order == 12);
}

TEST_CASE("state graph: the reduced search draws one path for each trace") {
  const StateGraph graph = explored(two_free_puts(), true).graph;
  CHECK(graph.traces == 2);
  CHECK(end_labels(graph) == end_labels(explored(two_free_puts(), false).graph));
  const std::vector<std::string> notes = graph.notes();
  CHECK(std::any_of(notes.begin(), notes.end(),
                    [](const std::string& note) { return note.find("--no-reduction") != std::string::npos; }));
}

TEST_CASE("state graph: reduced and full searches end in the same states, and what the reduced one calls possible is") {
  const std::uint64_t worlds = sim::cases<std::uint64_t>(400, 60);
  std::size_t judged = 0;
  std::size_t impossible = 0;
  std::size_t left_out = 0;
  for (std::uint64_t seed = 0; seed < worlds; ++seed) {
    const std::uint32_t pauses = seed % 4 == 0 ? 1 : 0;
    INFO("seed " << seed);
    const Explored full = explored(random_world(seed), false, pauses, 20'000, 3'000);
    if (!full.counts.complete) continue;
    ++judged;
    const Explored reduced = explored(random_world(seed), true, pauses);
    REQUIRE(reduced.counts.complete);
    REQUIRE(end_labels(reduced.graph) == end_labels(full.graph));
    REQUIRE(outcomes(end_labels(full.graph)) == full.ends);
    REQUIRE(outcomes(end_labels(reduced.graph)) == reduced.ends);
    const Labels possible = labels(reduced.graph, [](const auto& s) { return s.possible; });
    REQUIRE(is_within(possible, all_labels(full.graph)));
    REQUIRE(is_within(all_labels(full.graph), labels(full.graph, [](const auto& s) { return s.possible; })));
    impossible += reduced.graph.states.size() - possible.size();
    left_out += full.graph.out_of_order;
    // Every trace leaves the initial state once, and an end state has no way out.
    REQUIRE(traces_out_of(full.graph, 0) == full.graph.traces);
    REQUIRE(full.graph.traces + full.graph.out_of_order == full.counts.traces);
  }
  CHECK(judged > worlds / 2);
  CHECK(impossible > 0);
  CHECK(left_out > 0);
}

TEST_CASE("state graph: whatever a run passes through is in the full graph") {
  std::size_t seen = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Explored full = explored(random_world(seed), false, 0, 20'000, 3'000);
    if (!full.counts.complete) continue;
    const Labels known = outcomes(all_labels(full.graph));
    for (std::uint64_t run = 0; run < 20; ++run) {
      sim::RandomDecisions decisions(sim::combine64(seed, run));
      toy::World world(seed, decisions);
      sim::Simulation simulation(world.world());
      world.begin();
      for (int tick = 0; tick < 60; ++tick) {
        simulation.run(sim::Instant::at(Duration::microseconds(tick)), 1'000);
        INFO("seed " << seed << ", run " << run << ", " << tick << "us: " << world.outcome());
        REQUIRE(known.contains(world.outcome()));
        ++seen;
      }
    }
  }
  CHECK(seen > 50'000);
}

TEST_CASE("state graph: a bound ends the collection and is named") {
  const StateGraph few_states = explored(two_free_puts(), false, 0, 19).graph;
  CHECK(few_states.bound == "more than 19 states");
  CHECK(few_states.states.size() == 19);
  CHECK(few_states.notes().back() == "not all of it: more than 19 states");
  CHECK(explored(two_free_puts(), false, 0, 20).graph.bound.empty());
  CHECK(explored(two_free_puts(), false, 0, 20, 19).graph.bound == "more than 19 traces");
  CHECK(explored(two_free_puts(), false, 0, 20, 20).graph.bound.empty());
}

TEST_CASE("state graph: an observer changes nothing of the search") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Explorer alone({});
    toy::World world(seed, alone);
    const ExplorerCounts counts = alone.explore(world, [](Explorer&) { return true; });
    const ExplorerCounts observed = explored(random_world(seed), true).counts;
    CHECK(observed.traces == counts.traces);
    CHECK(observed.blocked == counts.blocked);
    CHECK(observed.infeasible == counts.infeasible);
    CHECK(observed.events == counts.events);
  }
}

TEST_CASE("state graph: the observer sees every feasible event once each time that it is executed, and no other") {
  struct Counter final : ExplorationObserver {
    void began(const Explorer&) override { ++begun; }
    void executed(const Explorer& explorer, std::uint32_t position, bool is_replay) override {
      ++(is_replay ? replayed : fresh);
      in_order = in_order && explorer.world().step() == position + 1;
    }
    std::uint64_t begun = 0, fresh = 0, replayed = 0;
    bool in_order = true;
  };
  std::uint64_t with_infeasible = 0;
  std::uint64_t replayed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Counter seen;
    ExplorerOptions options;
    options.observer = &seen;
    Explorer explorer(options);
    toy::World world(seed, explorer);
    const ExplorerCounts counts = explorer.explore(world, [](Explorer&) { return true; });
    REQUIRE(seen.in_order);
    REQUIRE(seen.begun == counts.traces + counts.blocked + counts.infeasible);
    REQUIRE((seen.fresh + seen.replayed == counts.events) == (counts.infeasible == 0));
    with_infeasible += counts.infeasible > 0 ? 1 : 0;
    replayed += seen.replayed;
  }
  CHECK(with_infeasible > 0);
  CHECK(replayed > 0);
}

TEST_CASE("state graph: in which order things set out is not part of a state") {
  std::size_t lines_with_several = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const StateGraph graph = explored(random_world(seed), true).graph;
    for (const StateGraph::State& state : graph.states) {
      std::size_t begin = 0;
      // The clients' lines; the last one is the world's outcome.
      for (std::size_t end = state.label.find('\n'); end != std::string::npos; end = state.label.find('\n', begin)) {
        std::vector<std::string> parts;
        const std::string line = state.label.substr(begin, end - begin);
        std::size_t at = line.find(": ") + 2;
        for (std::size_t comma = line.find(", "); comma != std::string::npos; comma = line.find(", ", at)) {
          parts.push_back(line.substr(at, comma - at));
          at = comma + 2;
        }
        parts.push_back(line.substr(at));
        REQUIRE(std::is_sorted(parts.begin(), parts.end()));
        lines_with_several += parts.size() > 1 ? 1 : 0;
        begin = end + 1;
      }
    }
  }
  CHECK(lines_with_several > 0);
}

// --- Files.

namespace {

struct ReadVertex {
  std::string id, label;
};
struct ReadEdge {
  std::string label;
};
using ReadGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, ReadVertex, ReadEdge>;

ReadGraph read_dot(const std::string& text) {
  ReadGraph graph;
  boost::dynamic_properties properties(boost::ignore_other_properties);
  properties.property("node_id", boost::get(&ReadVertex::id, graph));
  properties.property("label", boost::get(&ReadVertex::label, graph));
  properties.property("label", boost::get(&ReadEdge::label, graph));
  REQUIRE(boost::read_graphviz(text, graph, properties));
  return graph;
}

/// A state with everything that a file format could stumble over.
StateGraph awkward() {
  StateGraph graph;
  graph.states.push_back({.label = "A: \"x\" \\l <&>\nredis: 键 = \\\"", .initial = true, .possible = true});
  graph.states.push_back({.label = "B", .end = true, .violating = true});
  graph.transitions.push_back({.from = 0, .to = 1, .event = "A.SET → \"redis\"", .traces = 3});
  graph.transitions.push_back({.from = 0, .to = 1, .event = "A <b> & c", .traces = 1});
  graph.transitions.push_back({.from = 1, .to = 1, .event = "loop", .traces = 1});
  graph.traces = 3;
  graph.violating_traces = 1;
  return graph;
}

}  // namespace

TEST_CASE("state graph: DOT read back has the same vertices and edges") {
  for (const StateGraph& graph : {explored(two_free_puts(), false).graph, awkward()}) {
    const ReadGraph again = read_dot(to_text(graph, GraphFormat::dot));
    REQUIRE(boost::num_vertices(again) == graph.states.size());
    REQUIRE(boost::num_edges(again) == graph.transitions.size());
    std::multiset<std::pair<std::string, std::string>> expected;
    std::multiset<std::pair<std::string, std::string>> found;
    for (const auto& t : graph.transitions) expected.emplace(std::to_string(t.from), std::to_string(t.to));
    for (const auto& e : boost::make_iterator_range(boost::edges(again))) {
      found.emplace(again[boost::source(e, again)].id, again[boost::target(e, again)].id);
    }
    CHECK(found == expected);
  }
}

TEST_CASE("state graph: what DOT says of states and edges") {
  const std::string text = to_text(awkward(), GraphFormat::dot);
  INFO(text);
  CHECK(text.find(R"(0 [label="A: \"x\" \\l <&>\lredis: 键 = \\\"\l", penwidth=2.5];)") != std::string::npos);
  CHECK(text.find(R"(0->1  [label="A.SET → \"redis\" ×3"];)") != std::string::npos);
  CHECK(text.find("peripheries=2, style=\"filled,dashed\"") != std::string::npos);
  CHECK(text.find("two can believe at once") != std::string::npos);
  CHECK(text.find("--no-reduction") != std::string::npos);
}

TEST_CASE("state graph: GraphML read back is the same graph") {
  for (const StateGraph& graph : {explored(two_free_puts(), false).graph, awkward()}) {
    const std::string text = to_text(graph, GraphFormat::graphml);
    pugi::xml_document document;
    REQUIRE(document.load_buffer(text.data(), text.size()));
    const pugi::xml_node root = document.child("graphml");
    const auto data = [&](const pugi::xml_node& of, const std::string& name, const std::string& what) {
      const pugi::xml_node key = root.find_child([&](const pugi::xml_node& k) {
        return std::string_view(k.name()) == "key" && k.attribute("attr.name").value() == name &&
               k.attribute("for").value() == what;
      });
      return std::string(of.find_child_by_attribute("data", "key", key.attribute("id").value()).text().get());
    };
    StateGraph again;
    for (const pugi::xml_node& node : root.child("graph").children("node")) {
      const auto is = [&](const std::string& name) { return data(node, name, "node") == "1"; };
      CHECK(node.attribute("id").value() == "n" + std::to_string(again.states.size()));
      again.states.push_back({data(node, "label", "node"), is("initial"), is("end"), is("violating"), is("possible")});
    }
    for (const pugi::xml_node& edge : root.child("graph").children("edge")) {
      again.transitions.push_back({std::stoul(edge.attribute("source").value() + 1),
                                   std::stoul(edge.attribute("target").value() + 1), data(edge, "event", "edge"),
                                   std::stoull(data(edge, "traces", "edge"))});
    }
    CHECK(again.states == graph.states);
    CHECK(again.transitions == graph.transitions);
    CHECK(data(root.child("graph"), "notes", "graph").find("trace") != std::string::npos);
  }
}

TEST_CASE("state graph: the same exploration gives the same bytes") {
  for (const GraphFormat format : {GraphFormat::dot, GraphFormat::graphml}) {
    CHECK(to_text(explored(random_world(3), false).graph, format) ==
          to_text(explored(random_world(3), false).graph, format));
  }
}

TEST_CASE("state graph: the file's ending says the format") {
  CHECK(std::get<GraphFormat>(graph_format_of("a/b.dot")) == GraphFormat::dot);
  CHECK(std::get<GraphFormat>(graph_format_of("a.dot/b.graphml")) == GraphFormat::graphml);
  CHECK(std::get<std::string>(graph_format_of("out/b.svg")) ==
        "out/b.svg: a graph is written as \".dot\" (Graphviz) or \".graphml\", but this name ends in \".svg\"; call it "
        "out/b.dot");
  CHECK(std::get<std::string>(graph_format_of("a.x/b")) ==
        "a.x/b: a graph is written as \".dot\" (Graphviz) or \".graphml\", but this name has no ending; call it "
        "a.x/b.dot");
  CHECK(std::holds_alternative<std::string>(graph_format_of("")));
}

}  // namespace lockstep::checker::state_graph_test
