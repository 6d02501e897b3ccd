#include "checker/graphs/state_graph_format.hpp"

#include <fmt/format.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <sstream>

#include "checker/graphs/dot.hpp"
#include "checker/graphs/state_graph.hpp"

namespace lockstep::checker {
namespace {

using State = StateGraph::State;
using Transition = StateGraph::Transition;
/// Edges are kept in the order in which they were added, for the whole graph: that is the order of a directed graph's
/// edge list.
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, State, Transition,
                                    boost::no_property, boost::vecS>;

Graph boost_graph_of(const StateGraph& states) {
  Graph graph;
  for (const State& state : states.states) boost::add_vertex(state, graph);
  for (const Transition& transition : states.transitions) {
    boost::add_edge(transition.from, transition.to, transition, graph);
  }
  return graph;
}

std::string dot_attributes(const State& state) {
  std::string label = state.label;
  if (state.violating) label += "\ntwo can believe at once to hold the same lock";
  std::string attributes = fmt::format("label={}", dot_quoted(label));
  if (state.initial) attributes += ", penwidth=2.5";
  if (state.end) attributes += ", peripheries=2";
  // An attribute that is said twice counts once: the style is one list.
  std::vector<std::string_view> style;
  if (state.violating) style.push_back("filled");
  if (!state.possible) style.push_back("dashed");
  if (!style.empty()) attributes += fmt::format(", style=\"{}\"", fmt::join(style, ","));
  if (state.violating) attributes += ", fillcolor=\"#f6b8b0\"";
  if (!state.possible) attributes += ", color=\"#808080\", fontcolor=\"#808080\"";
  return attributes;
}

std::string dot_attributes(const Transition& transition) {
  const std::string count = transition.traces > 1 ? fmt::format(" ×{}", transition.traces) : "";
  return fmt::format("label={}", dot_quoted(transition.event + count));
}

std::string dot_of(const StateGraph& states) {
  const Graph graph = boost_graph_of(states);
  std::ostringstream out;
  boost::write_graphviz(
      out, graph, [&](std::ostream& to, Graph::vertex_descriptor v) { to << " [" << dot_attributes(graph[v]) << ']'; },
      [&](std::ostream& to, const Graph::edge_descriptor& e) { to << " [" << dot_attributes(graph[e]) << ']'; },
      [&](std::ostream& to) {
        to << "graph [labelloc=t, labeljust=l, fontname=\"sans-serif\", label="
           << dot_quoted(fmt::format("{}", fmt::join(states.notes(), "\n"))) << "];\n"
           << "node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
           << "edge [fontname=\"sans-serif\", fontsize=9];\n";
      });
  return out.str();
}

std::string graphml_of(const StateGraph& states) {
  Graph graph = boost_graph_of(states);
  boost::dynamic_properties properties;
  properties.property("notes",
                      boost::make_constant_property<Graph*>(fmt::format("{}", fmt::join(states.notes(), "\n"))));
  properties.property("label", boost::get(&State::label, graph));
  properties.property("initial", boost::get(&State::initial, graph));
  properties.property("end", boost::get(&State::end, graph));
  properties.property("violating", boost::get(&State::violating, graph));
  properties.property("possible", boost::get(&State::possible, graph));
  properties.property("event", boost::get(&Transition::event, graph));
  properties.property("traces", boost::get(&Transition::traces, graph));
  std::ostringstream out;
  boost::write_graphml(out, graph, properties, true);
  return out.str();
}

}  // namespace

std::variant<GraphFormat, std::string> graph_format_of(std::string_view file) {
  if (file.ends_with(".dot")) return GraphFormat::dot;
  if (file.ends_with(".graphml")) return GraphFormat::graphml;
  const std::size_t name = file.find_last_of('/') + 1;
  const std::size_t dot = file.find_last_of('.');
  const std::string ending =
      dot == std::string_view::npos || dot < name ? "has no ending" : fmt::format("ends in \"{}\"", file.substr(dot));
  return fmt::format("{}: a graph is written as \".dot\" (Graphviz) or \".graphml\", but this name {}; call it {}.dot",
                     file, ending, file.substr(0, dot == std::string_view::npos || dot < name ? file.size() : dot));
}

std::string to_text(const StateGraph& graph, GraphFormat format) {
  return format == GraphFormat::dot ? dot_of(graph) : graphml_of(graph);
}

}  // namespace lockstep::checker
