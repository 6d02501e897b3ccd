#pragma once

// A state graph as a file: DOT for Graphviz (`dot -Tsvg`), GraphML for yEd, Gephi, networkx.
//
// Equal graphs give equal bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace lockstep::checker {

struct StateGraph;

enum class GraphFormat : std::uint8_t { dot, graphml };

/// By the file's ending, ".dot" or ".graphml"; else one sentence for the user: what is wrong, and what would be right.
std::variant<GraphFormat, std::string> graph_format_of(std::string_view file);

/// DOT: what begins has a thick border, ends have a double one, violating states are red and say so, states that no
/// delays give are dashed. An edge that more than one trace goes over bears their number.
///
/// GraphML: of nodes `label`, `initial`, `end`, `violating`, `possible`; of edges `event`, `traces`; of the graph
/// `notes`.
std::string to_text(const StateGraph& graph, GraphFormat format);

}  // namespace lockstep::checker
