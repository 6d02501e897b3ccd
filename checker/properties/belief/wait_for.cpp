#include "checker/properties/belief/wait_for.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/hawick_circuits.hpp>
#include <boost/graph/strong_components.hpp>
#include <map>
#include <set>
#include <tuple>

#include "checker/graphs/dot.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/interruptions.hpp"

namespace lockstep::checker {
namespace {

/// Vertices are the processes that occur, ascending, so that the order of vertices is that of processes.
using WaitGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, sim::ProcessId>;
using WaitVertex = boost::graph_traits<WaitGraph>::vertex_descriptor;

WaitGraph graph_of(const std::vector<WaitFor>& edges) {
  std::set<sim::ProcessId> processes;
  std::set<std::pair<sim::ProcessId, sim::ProcessId>> pairs;
  for (const WaitFor& wait : edges) {
    processes.insert({wait.waiter, wait.holder});
    pairs.insert({wait.waiter, wait.holder});
  }
  WaitGraph graph;
  std::map<sim::ProcessId, WaitVertex> vertex_of;
  for (const sim::ProcessId process : processes) vertex_of[process] = boost::add_vertex(process, graph);
  for (const auto& [waiter, holder] : pairs) boost::add_edge(vertex_of[waiter], vertex_of[holder], graph);
  return graph;
}

struct EnoughCycles {};

struct Collector {
  WaitCycles& found;
  std::size_t cycles_max;

  template <class Path>
  void cycle(const Path& path, const WaitGraph& graph) {
    if (found.cycles.size() == cycles_max) {
      found.all = false;
      // A visitor has no other way to end the search.
      throw EnoughCycles();
    }
    WaitCycle& cycle = found.cycles.emplace_back();
    for (const WaitVertex vertex : path) cycle.push_back(graph[vertex]);
  }
};

/// Everybody who waits in a circle is in one strongly connected part with whom it waits for, and the other way round.
class Parts {
 public:
  explicit Parts(const std::vector<WaitFor>& edges) : graph_(graph_of(edges)), part_(boost::num_vertices(graph_)) {
    if (part_.empty()) return;
    boost::strong_components(graph_,
                             boost::make_iterator_property_map(part_.begin(), boost::get(boost::vertex_index, graph_)));
  }
  const WaitGraph& graph() const { return graph_; }
  WaitVertex vertex_of(sim::ProcessId process) const {
    WaitVertex vertex = 0;
    while (graph_[vertex] != process) ++vertex;
    return vertex;
  }
  bool is_in_circle(const WaitFor& wait) const {
    return part_[vertex_of(wait.waiter)] == part_[vertex_of(wait.holder)];
  }

 private:
  WaitGraph graph_;
  std::vector<std::size_t> part_;
};

/// By process: its want that goes on, and its last attempt.
struct OpenWant {
  std::size_t want;
  const sim::Operation* last;
};

}  // namespace

std::vector<Want> collect_wants(const sim::History& history) {
  std::vector<Want> wants;
  std::map<sim::ProcessId, OpenWant> open;
  const Crashes crashes(history.interruptions);
  // What ends a want, unless its process crashed before that.
  const auto end = [&](const OpenWant& known) {
    Want& want = wants[known.want];
    const sim::Operation& last = *known.last;
    const bool is_over = last.phase != sim::Phase::invoke;
    const auto* crash = crashes.first(want.process, want.from_step);
    if (crash != nullptr && crash->step < (is_over ? last.completed_in : sim::no_step)) {
      want.until = Ending{crash->from, crash->step};
    } else if (is_over) {
      want.until = Ending{last.completed, last.completed_in};
    }
  };
  for (const sim::Operation& operation : history.operations) {
    const auto known = open.find(operation.process);
    const bool is_attempt = operation.function == "acquire";
    if (known != open.end()) {
      const sim::Operation& last = *known->second.last;
      const auto* crash = crashes.first(operation.process, last.invoked_in);
      const bool goes_on = is_attempt && last.object == operation.object && !is_successful(last, "acquire") &&
                           (crash == nullptr || crash->step >= operation.invoked_in);
      if (goes_on) {
        known->second.last = &operation;
        continue;
      }
      end(known->second);
      open.erase(known);
    }
    if (!is_attempt) continue;
    open[operation.process] = {wants.size(), &operation};
    wants.push_back({operation.process, operation.object, operation.id, operation.invoked, operation.invoked_in, {}});
  }
  for (const auto& [process, known] : open) end(known);
  return wants;
}

std::optional<Ending> end_by_event(const Belief& hold) {
  std::optional<Ending> first;
  for (const auto* ending : {&hold.released, &hold.lost, &hold.crashed}) {
    if (*ending && (!first || (*ending)->step < first->step)) first = *ending;
  }
  return first;
}

Waits collect_waits(const sim::History& history) {
  Waits waits{collect_wants(history), collect_beliefs(history), {}};
  for (std::size_t w = 0; w < waits.wants.size(); ++w) {
    const Want& want = waits.wants[w];
    for (std::size_t h = 0; h < waits.holds.size(); ++h) {
      const Belief& hold = waits.holds[h];
      if (hold.object != want.object) continue;
      if (hold.process == want.process) {
        const std::optional<Ending> end = end_by_event(hold);
        if (end && end->step <= want.from_step) continue;
        if (want.until && want.until->step <= hold.from_step) continue;
      }
      waits.possible.push_back({w, h});
    }
  }
  std::sort(waits.possible.begin(), waits.possible.end(), [&](const Wait& a, const Wait& b) {
    return std::tuple(waits.waiter(a), waits.holder(a), a.want, a.hold) <
           std::tuple(waits.waiter(b), waits.holder(b), b.want, b.hold);
  });
  return waits;
}

bool WaitInterval::lasts(sim::Instant moment, sim::Duration length) const {
  if (compare(from, moment) > 0) return false;
  if (!to) return true;
  return length == sim::Duration::zero() ? compare(moment, *to) < 0 : compare(moment + length, *to) <= 0;
}

std::vector<WaitFor> edges_of(const Waits& waits, const std::vector<Wait>& some) {
  std::vector<WaitFor> edges;
  for (const Wait& wait : some) {
    edges.push_back({waits.waiter(wait), waits.holder(wait), std::string(waits.wants[wait.want].object)});
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

WaitCycles wait_for_cycles(const std::vector<WaitFor>& edges, std::size_t cycles_max) {
  WaitCycles found;
  const WaitGraph graph = graph_of(edges);
  try {
    boost::hawick_circuits(graph, Collector{found, cycles_max});
  } catch (const EnoughCycles&) {
  }
  std::sort(found.cycles.begin(), found.cycles.end(),
            [](const WaitCycle& a, const WaitCycle& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  return found;
}

std::string sentence_of(const WaitFor& wait, const Names& names) {
  return fmt::format(
      "{} waits for {}, which {}", name_of(names, wait.waiter), wait.object,
      wait.holder == wait.waiter ? "it holds itself" : fmt::format("{} holds", name_of(names, wait.holder)));
}

std::string wait_for_dot(const std::vector<WaitFor>& edges, const Names& names) {
  const Parts parts(edges);
  const WaitGraph& graph = parts.graph();
  std::set<sim::ProcessId> stuck;
  for (const WaitFor& wait : edges) {
    if (parts.is_in_circle(wait)) stuck.insert({wait.waiter, wait.holder});
  }
  std::string dot =
      "digraph wait_for {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n";
  for (const WaitVertex vertex : boost::make_iterator_range(boost::vertices(graph))) {
    dot += fmt::format("  {} [label={}{}];\n", vertex, dot_quoted(name_of(names, graph[vertex])),
                       stuck.contains(graph[vertex]) ? ", color=red, fontcolor=red" : "");
  }
  for (const WaitFor& wait : edges) {
    dot += fmt::format("  {} -> {} [label={}{}];\n", parts.vertex_of(wait.waiter), parts.vertex_of(wait.holder),
                       dot_quoted(wait.object), parts.is_in_circle(wait) ? ", color=red, fontcolor=red" : "");
  }
  return dot + "}\n";
}

}  // namespace lockstep::checker
