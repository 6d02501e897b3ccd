#include "reports/export/happens_before.hpp"

#include <fmt/format.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "checker/graphs/dot.hpp"
#include "reports/export/causality.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

constexpr std::size_t kLabelColumnsMax = 60;
constexpr std::string_view kMessage = "message";

struct Node {
  std::string process;
  std::int64_t time_ns = 0;
  std::int64_t step = 0;
  std::string kind;
  std::string text;
  bool evidence = false;
};
struct Arc {
  std::string relation;
  std::string message;
};
/// Edges are kept in the order in which they were added.
using EventGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Node, Arc, boost::no_property, boost::vecS>;

std::string_view name_of_kind(CausalEvent::Kind kind) {
  switch (kind) {
    case CausalEvent::Kind::step: return "step";
    case CausalEvent::Kind::operation: return "operation";
    case CausalEvent::Kind::send: return "send";
    case CausalEvent::Kind::fault: return "fault";
  }
  return "step";
}

EventGraph event_graph_of(const Story& story) {
  const Causality causality = causality_of(story);
  EventGraph graph;
  for (const CausalEvent& event : causality.events) {
    boost::add_vertex(Node{.process = printable(name_of(story.outcome, event.process)),
                           .time_ns = event.at.offset().count_ns(),
                           .step = event.step,
                           .kind = std::string(name_of_kind(event.kind)),
                           .text = event.text,
                           .evidence = event.is_evidence},
                      graph);
  }
  for (const CausalEdge& edge : causality.edges)
    boost::add_edge(edge.from, edge.to, Arc{std::string(edge.is_message ? kMessage : "program-order"), edge.name},
                    graph);
  return graph;
}

std::string attributes_of(const Node& node) {
  const std::string time = time_text(sim::Instant::at(sim::Duration::nanoseconds(node.time_ns)));
  const std::string label = fmt::format("{} {}\n{}", node.process, time, clip(node.text, kLabelColumnsMax));
  std::string attributes =
      fmt::format("label={}, group={}", checker::dot_quoted(label), checker::dot_quoted(node.process));
  if (node.kind == "fault") attributes += ", style=dashed";
  if (node.evidence) attributes += ", style=filled, fillcolor=\"#f6b8b0\"";
  return attributes;
}

std::string attributes_of(const Arc& arc) {
  if (arc.relation != kMessage) return "color=\"#808080\", arrowhead=none, weight=100";
  return fmt::format("label={}", checker::dot_quoted(clip(arc.message, kLabelColumnsMax)));
}

}  // namespace

std::string happens_before_dot(const Story& story) {
  const EventGraph graph = event_graph_of(story);
  std::ostringstream out;
  boost::write_graphviz(
      out, graph,
      [&](std::ostream& to, EventGraph::vertex_descriptor v) { to << " [" << attributes_of(graph[v]) << ']'; },
      [&](std::ostream& to, const EventGraph::edge_descriptor& e) { to << " [" << attributes_of(graph[e]) << ']'; },
      [&](std::ostream& to) {
        to << "graph [labelloc=t, labeljust=l, fontname=\"sans-serif\", label="
           << checker::dot_quoted(clip(story.scenario.title.en, 2 * kLabelColumnsMax)) << "];\n"
           << "node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
           << "edge [fontname=\"sans-serif\", fontsize=9];\n";
      });
  return out.str();
}

std::string happens_before_graphml(const Story& story) {
  EventGraph graph = event_graph_of(story);
  boost::dynamic_properties properties;
  properties.property("title", boost::make_constant_property<EventGraph*>(printable(story.scenario.title.en)));
  properties.property("process", boost::get(&Node::process, graph));
  properties.property("time_ns", boost::get(&Node::time_ns, graph));
  properties.property("step", boost::get(&Node::step, graph));
  properties.property("kind", boost::get(&Node::kind, graph));
  properties.property("text", boost::get(&Node::text, graph));
  properties.property("evidence", boost::get(&Node::evidence, graph));
  properties.property("relation", boost::get(&Arc::relation, graph));
  properties.property("message", boost::get(&Arc::message, graph));
  std::ostringstream out;
  boost::write_graphml(out, graph, properties, true);
  return out.str();
}

}  // namespace lockstep::reports
