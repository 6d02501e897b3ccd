#include "checker/wait_for.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/hawick_circuits.hpp>
#include <boost/graph/strong_components.hpp>
#include <map>
#include <set>
#include <tuple>

#include "checker/dot.hpp"
#include "checker/evidence.hpp"
#include "checker/ownership.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view property = "no-deadlock";

/// Vertices are the processes that occur, ascending, so that the order of vertices is that of processes.
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, sim::ProcessId>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

Graph graph_of(const std::vector<WaitFor>& relation) {
  std::set<sim::ProcessId> processes;
  std::set<std::pair<sim::ProcessId, sim::ProcessId>> edges;
  for (const WaitFor& wait : relation) {
    processes.insert({wait.waiter, wait.holder});
    edges.insert({wait.waiter, wait.holder});
  }
  Graph graph;
  std::map<sim::ProcessId, Vertex> vertex_of;
  for (const sim::ProcessId process : processes) vertex_of[process] = boost::add_vertex(process, graph);
  for (const auto& [waiter, holder] : edges) boost::add_edge(vertex_of[waiter], vertex_of[holder], graph);
  return graph;
}

struct EnoughCycles {};

struct Collector {
  WaitCycles& found;
  std::size_t cycles_max;

  template <class Path>
  void cycle(const Path& path, const Graph& graph) {
    if (found.cycles.size() == cycles_max) {
      found.all = false;
      // A visitor has no other way to end the search.
      throw EnoughCycles();
    }
    WaitCycle& cycle = found.cycles.emplace_back();
    for (const Vertex vertex : path) cycle.push_back(graph[vertex]);
  }
};

bool has_crashed_since(const sim::History& history, const sim::Operation& open) {
  return std::any_of(history.interruptions.begin(), history.interruptions.end(), [&](const sim::Interruption& i) {
    return i.kind == sim::Interruption::Kind::crash && i.process == open.process && i.step >= open.invoked_in;
  });
}

/// What makes each process of the circle wait for the next: of several reasons the first.
std::vector<WaitFor> reasons(const WaitCycle& cycle, const std::vector<WaitFor>& relation) {
  std::vector<WaitFor> chosen;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const sim::ProcessId next = cycle[(i + 1) % cycle.size()];
    chosen.push_back(*std::find_if(relation.begin(), relation.end(), [&](const WaitFor& wait) {
      return wait.waiter == cycle[i] && wait.holder == next;
    }));
  }
  return chosen;
}

Finding violated(const WaitCycles& cycles, const std::vector<WaitFor>& relation, const sim::History& history,
                 const Names& names) {
  Finding finding{.property = property, .view = View::belief, .verdict = Verdict::violated};
  finding.by = cycles.cycles.front();
  std::vector<sim::Instant> moments;
  for (const WaitFor& wait : reasons(finding.by, relation)) {
    const sim::Operation& open = *find_operation(history, wait.acquire);
    const sim::Operation& hold = *find_operation(history, wait.hold);
    moments.insert(moments.end(), {open.invoked, hold.completed});
    finding.evidence.insert(finding.evidence.end(), {open.invoked_in, hold.completed_in});
    if (!finding.why.empty()) finding.why += "; ";
    finding.why += fmt::format(
        "{} waits for {}, which {}", name_of(names, wait.waiter), wait.object,
        wait.holder == wait.waiter ? "it holds itself" : fmt::format("{} holds", name_of(names, wait.holder)));
  }
  std::sort(finding.evidence.begin(), finding.evidence.end());
  finding.evidence.erase(std::unique(finding.evidence.begin(), finding.evidence.end()), finding.evidence.end());
  const bool is_concrete = std::all_of(moments.begin(), moments.end(), [](sim::Instant i) { return i.anchor() == 0; });
  if (is_concrete) {
    finding.at = *std::max_element(moments.begin(), moments.end(),
                                   [](sim::Instant a, sim::Instant b) { return compare(a, b) < 0; });
  }
  if (const std::size_t others = cycles.cycles.size() - 1; others > 0) {
    finding.why +=
        fmt::format("; and {}{}", cycles.all ? "" : "more than ", counted(others, "other circle", "other circles"));
  }
  return finding;
}

/// Everybody who waits in a circle is in one strongly connected part with whom it waits for, and the other way round.
std::vector<std::size_t> parts_of(const Graph& graph) {
  std::vector<std::size_t> part(boost::num_vertices(graph));
  if (!part.empty()) {
    boost::strong_components(graph,
                             boost::make_iterator_property_map(part.begin(), boost::get(boost::vertex_index, graph)));
  }
  return part;
}

}  // namespace

std::vector<WaitFor> wait_for_relation(const sim::History& history) {
  std::vector<Belief> holds = collect_beliefs(history);
  std::erase_if(holds, [](const Belief& b) { return b.released || b.lost || b.crashed || b.deadline; });
  std::vector<WaitFor> relation;
  for (const sim::Operation& open : history.operations) {
    if (open.phase != sim::Phase::invoke || open.function != "acquire" || has_crashed_since(history, open)) continue;
    for (const Belief& hold : holds) {
      if (hold.object != open.object) continue;
      relation.push_back({open.process, hold.process, open.object, open.id, hold.acquire});
    }
  }
  std::sort(relation.begin(), relation.end(), [](const WaitFor& a, const WaitFor& b) {
    return std::tie(a.waiter, a.holder, a.object, a.acquire, a.hold) <
           std::tie(b.waiter, b.holder, b.object, b.acquire, b.hold);
  });
  return relation;
}

WaitCycles wait_for_cycles(const std::vector<WaitFor>& relation, std::size_t cycles_max) {
  WaitCycles found;
  const Graph graph = graph_of(relation);
  try {
    boost::hawick_circuits(graph, Collector{found, cycles_max});
  } catch (const EnoughCycles&) {
  }
  std::sort(found.cycles.begin(), found.cycles.end(),
            [](const WaitCycle& a, const WaitCycle& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  return found;
}

Finding no_deadlock(const sim::History& history, const Names& names) {
  const std::vector<WaitFor> relation = wait_for_relation(history);
  const WaitCycles cycles = wait_for_cycles(relation);
  if (!cycles.cycles.empty()) return violated(cycles, relation, history, names);

  Finding finding{.property = property, .view = View::belief, .verdict = Verdict::holds};
  std::set<sim::ProcessId> open;
  for (const sim::Operation& operation : history.operations) {
    if (operation.phase != sim::Phase::invoke || operation.function != "acquire") continue;
    if (!has_crashed_since(history, operation)) open.insert(operation.process);
  }
  if (open.empty()) {
    finding.why = "nobody waits";
    return finding;
  }
  finding.why = counted(open.size(), "process waits", "processes wait") + ", none of them in a circle";
  for (const WaitFor& wait : relation) open.erase(wait.waiter);
  for (const sim::ProcessId process : open) {
    finding.why += fmt::format("; {} waits for what nobody holds", name_of(names, process));
  }
  return finding;
}

std::string wait_for_dot(const sim::History& history, const Names& names) {
  const std::vector<WaitFor> relation = wait_for_relation(history);
  const Graph graph = graph_of(relation);
  const std::vector<std::size_t> part = parts_of(graph);
  const auto vertex_of = [&](sim::ProcessId process) {
    Vertex vertex = 0;
    while (graph[vertex] != process) ++vertex;
    return vertex;
  };
  const auto is_in_circle = [&](const WaitFor& wait) {
    return part[vertex_of(wait.waiter)] == part[vertex_of(wait.holder)];
  };

  std::set<sim::ProcessId> stuck;
  for (const WaitFor& wait : relation) {
    if (is_in_circle(wait)) stuck.insert({wait.waiter, wait.holder});
  }
  std::string dot =
      "digraph wait_for {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n";
  for (const Vertex vertex : boost::make_iterator_range(boost::vertices(graph))) {
    dot += fmt::format("  {} [label={}{}];\n", vertex, dot_quoted(name_of(names, graph[vertex])),
                       stuck.contains(graph[vertex]) ? ", color=red, fontcolor=red" : "");
  }
  for (const WaitFor& wait : relation) {
    dot += fmt::format("  {} -> {} [label={}{}];\n", vertex_of(wait.waiter), vertex_of(wait.holder),
                       dot_quoted(wait.object), is_in_circle(wait) ? ", color=red, fontcolor=red" : "");
  }
  return dot + "}\n";
}

}  // namespace lockstep::checker
