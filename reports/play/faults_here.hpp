#pragma once

// What may go wrong at a row of a diagram: "pause A here" as a [[fault]] with a trigger that means this moment,
// whatever else is changed in the story.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/picture/diagram.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports::play {

struct FaultHere {
  std::string id;  ///< "pause-sent", "lose-request": unique in its row
  scenarios::Text label;
  scenarios::FaultSpec fault;
};

/// In the order in which they are offered; none for a row about what can neither stop nor be lost. `length`: of pauses.
std::vector<FaultHere> faults_here(const Story& story, const picture::Diagram& diagram, std::size_t row,
                                   sim::Duration length);

/// The story's run with one more fault; nothing if it cannot be run.
using RunWith = std::function<std::optional<scenarios::Outcome>(const scenarios::FaultSpec&)>;

/// The fault with its trigger made sure of: run with it, the story shows it at that very moment. Which step it is may
/// be counted wrongly where an answer came that nobody waited for any more; then it is the step before, or the true
/// time instead of any step. Requires: `here` came from this row.
scenarios::FaultSpec made_sure(const picture::Diagram& diagram, std::size_t row, const FaultHere& here,
                               const RunWith& run);

}  // namespace lockstep::reports::play
