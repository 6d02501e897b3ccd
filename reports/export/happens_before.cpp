#include "reports/export/happens_before.hpp"

#include <fmt/format.h>

#include <string_view>

#include "checker/graphs/dot.hpp"
#include "reports/export/causality.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

constexpr std::size_t kLabelColumnsMax = 60;

std::string_view name_of_kind(CausalEvent::Kind kind) {
  switch (kind) {
    case CausalEvent::Kind::step: return "step";
    case CausalEvent::Kind::operation: return "operation";
    case CausalEvent::Kind::send: return "send";
    case CausalEvent::Kind::fault: return "fault";
  }
  return "step";
}

std::string process_of(const Story& story, const CausalEvent& event) {
  return printable(name_of(story.outcome, event.process));
}

std::string attributes_of(const Story& story, const CausalEvent& event) {
  const std::string process = process_of(story, event);
  const std::string label = fmt::format("{} {}\n{}", process, time_text(event.at), clip(event.text, kLabelColumnsMax));
  std::string attributes = fmt::format("label={}, group={}", checker::dot_quoted(label), checker::dot_quoted(process));
  if (event.kind == CausalEvent::Kind::fault) attributes += ", style=dashed";
  if (event.is_evidence) attributes += ", style=filled, fillcolor=\"#f6b8b0\"";
  return attributes;
}

std::string attributes_of(const CausalEdge& edge) {
  if (!edge.is_message) return "color=\"#808080\", arrowhead=none, weight=100";
  return fmt::format("label={}", checker::dot_quoted(clip(edge.name, kLabelColumnsMax)));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      default: out += c;
    }
  }
  return out;
}

constexpr std::string_view kGraphmlBegin =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns")"
    R"( xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance")"
    R"( xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns)"
    R"( http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="key0" for="node" attr.name="evidence" attr.type="boolean" />
  <key id="key1" for="node" attr.name="kind" attr.type="string" />
  <key id="key2" for="edge" attr.name="message" attr.type="string" />
  <key id="key3" for="node" attr.name="process" attr.type="string" />
  <key id="key4" for="edge" attr.name="relation" attr.type="string" />
  <key id="key5" for="node" attr.name="step" attr.type="long" />
  <key id="key6" for="node" attr.name="text" attr.type="string" />
  <key id="key7" for="node" attr.name="time_ns" attr.type="long" />
  <key id="key8" for="graph" attr.name="title" attr.type="string" />
  <graph id="G" edgedefault="directed" parse.nodeids="canonical" parse.edgeids="canonical" parse.order="nodesfirst">
)";

std::string data(int key, std::string_view text) {
  return fmt::format("      <data key=\"key{}\">{}</data>\n", key, escaped(text));
}

}  // namespace

std::string happens_before_dot(const Story& story) {
  const Causality causality = causality_of(story);
  std::string out = fmt::format(
      "digraph G {{\ngraph [labelloc=t, labeljust=l, fontname=\"sans-serif\", label={}];\n"
      "node [shape=box, fontname=\"sans-serif\", fontsize=10];\nedge [fontname=\"sans-serif\", fontsize=9];\n",
      checker::dot_quoted(clip(story.scenario.title.en, 2 * kLabelColumnsMax)));
  for (std::size_t i = 0; i < causality.events.size(); ++i)
    out += fmt::format("{} [{}];\n", i, attributes_of(story, causality.events[i]));
  for (const CausalEdge& edge : causality.edges)
    out += fmt::format("{}->{}  [{}];\n", edge.from, edge.to, attributes_of(edge));
  return out + "}\n";
}

std::string happens_before_graphml(const Story& story) {
  const Causality causality = causality_of(story);
  std::string out(kGraphmlBegin);
  out += fmt::format("   <data key=\"key8\">{}</data>\n", escaped(printable(story.scenario.title.en)));
  for (std::size_t i = 0; i < causality.events.size(); ++i) {
    const CausalEvent& event = causality.events[i];
    out += fmt::format("    <node id=\"n{}\">\n", i) + data(0, event.is_evidence ? "1" : "0") +
           data(1, name_of_kind(event.kind)) + data(3, process_of(story, event)) + data(5, std::to_string(event.step)) +
           data(6, event.text) + data(7, std::to_string(event.at.offset().count_ns())) + "    </node>\n";
  }
  for (std::size_t i = 0; i < causality.edges.size(); ++i) {
    const CausalEdge& edge = causality.edges[i];
    out += fmt::format("    <edge id=\"e{}\" source=\"n{}\" target=\"n{}\">\n", i, edge.from, edge.to) +
           data(2, edge.name) + data(4, edge.is_message ? "message" : "program-order") + "    </edge>\n";
  }
  return out + "  </graph>\n</graphml>\n";
}

}  // namespace lockstep::reports
