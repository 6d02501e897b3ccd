#pragma once

// The frame of a story that shows what was found in another one.

#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// The explored story without what went wrong: faults and a schedule are to be put in.
Scenario empty_witness(const Scenario& original);

}  // namespace lockstep::scenarios
