#pragma once

// Bellman and Ford's algorithm from all variables at once, for systems whose bounds are computed as they are looked at.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace lockstep::checker {

/// Finds a cycle of negative weight. Keeps its memory from call to call.
template <class Value>
class NegativeCycle {
 public:
  /// The edges of one such cycle, by number, in reverse; empty if there is none. Edge i leads from `edges[i].from` to
  /// `edges[i].to`.
  template <class Edges, class Weight>
  const std::vector<std::uint32_t>& find(std::size_t variables, const Edges& edges, const Weight& weight_of) {
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    cycle_.clear();
    distance_.assign(variables, Value{});
    by_.assign(variables, kNone);
    weights_.clear();
    for (const auto& edge : edges) weights_.push_back(weight_of(edge));
    std::uint32_t last = 0;
    bool changed = true;
    for (std::size_t round = 0; changed && round <= variables; ++round) {
      changed = false;
      for (std::uint32_t i = 0; i < edges.size(); ++i) {
        const Value shorter = distance_[edges[i].from] + weights_[i];
        if (!(shorter < distance_[edges[i].to])) continue;
        distance_[edges[i].to] = shorter;
        by_[edges[i].to] = i;
        last = edges[i].to;
        changed = true;
      }
    }
    if (!changed) return cycle_;
    // After as many rounds as there are variables, a way back of that many steps is on a cycle.
    for (std::size_t i = 0; i < variables; ++i) last = edges[by_[last]].from;
    for (std::uint32_t at = last;;) {
      cycle_.push_back(by_[at]);
      at = edges[by_[at]].from;
      if (at == last) return cycle_;
    }
  }

 private:
  std::vector<Value> weights_;
  std::vector<Value> distance_;
  std::vector<std::uint32_t> by_;  ///< the edge that last shortened it
  std::vector<std::uint32_t> cycle_;
};

}  // namespace lockstep::checker
