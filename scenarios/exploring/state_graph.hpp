#pragma once

// The state graph of a story, as `check --graph FILE` writes it. What a state is: `checker/graphs/state_graph.hpp`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "checker/graphs/state_graph.hpp"
#include "checker/graphs/state_graph_format.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Bounds of what people can look at, and of the time that it takes to get there.
struct StateGraphBounds {
  std::size_t states_max = 2'000;
  std::uint64_t traces_max = 200'000;
};

/// Explores the story as `explore` does and returns its states and transitions. A diagnostic when it cannot be explored,
/// or when a bound was hit: a part of a graph would look like the whole.
std::variant<checker::StateGraph, Diagnostic> explored_states(const Scenario& scenario,
                                                              const models::locks::Catalogue& catalogue, bool reduction,
                                                              const StateGraphBounds& bounds = {});

/// The same as the text of a file, which ends in a newline. Equal stories give equal bytes.
std::variant<std::string, Diagnostic> state_graph(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                                  checker::GraphFormat format, bool reduction);

}  // namespace lockstep::scenarios
