#pragma once

// What happened in a run, in sentences: title, story and lesson of a witness.

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/deployment/outcome.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Fills `witness.title`, `story` and `lesson`. `original` is what was explored.
void tell(Scenario& witness, const Scenario& original, const Outcome& outcome, std::string_view property);

}  // namespace lockstep::scenarios
