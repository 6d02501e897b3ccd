#pragma once

// The frame of a story that shows what was found in another one.

#include <string>
#include <string_view>

#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// The explored story without what went wrong: faults and a schedule are to be put in.
Scenario empty_witness(const Scenario& original);

/// What a witness is called, and what it says of where it is from: the story with this id.
void name_witness(Scenario& witness, const std::string& original);

/// That `check` found it in the story with this id.
Text lesson_of_witness(const std::string& original, std::string_view property);

}  // namespace lockstep::scenarios
