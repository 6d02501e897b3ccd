#pragma once

// The states of a small world, folded to what matters, as SVG: who wants, holds and gives back, and what the servers
// have.

#include <string>
#include <utility>
#include <vector>

#include "checker/graphs/state_graph.hpp"
#include "reports/site/frame/page.hpp"

namespace lockstep::reports::site {

struct FoldedGraph {
  struct Node {
    std::vector<std::string> lines;  ///< one for each process
    bool initial = false, end = false, violating = false;
    std::size_t states = 0;  ///< so many were folded into it
    bool operator==(const Node&) const = default;
  };
  struct Edge {
    std::size_t from = 0, to = 0;
    std::vector<std::string> events;  ///< each once
    bool operator==(const Edge&) const = default;
  };
  std::vector<Node> nodes;  ///< the initial one first
  std::vector<Edge> edges;  ///< no two between the same
};

/// States that differ only in what is on its way are one. `exchangeable`: two clients that differ in their names alone;
/// of a state and its mirror image one stands for both. Empty: none are.
FoldedGraph fold(const checker::StateGraph& graph, const std::pair<std::string, std::string>& exchangeable);

/// The layer of each node, from 0: edges lead downwards, but for those that close a circle.
std::vector<std::size_t> layers_of(const FoldedGraph& graph);

/// Both languages. `id`: the beginning of names within it.
std::string graph_svg(const FoldedGraph& graph, const std::string& id, const Text& title);

}  // namespace lockstep::reports::site
