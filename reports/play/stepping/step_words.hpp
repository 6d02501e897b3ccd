#pragma once

// What can happen next, in words.

#include "reports/picture/diagram.hpp"
#include "scenarios/stepping/stepping.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports::play {

/// "A's SET reaches redis: SET lock A-1 NX PX 100 → OK". `run`: with this event, when it has been played; else of the
/// place before it, and `diagram` is null.
scenarios::Text step_words(const scenarios::NextStep& step, const Story& run, const picture::Diagram* diagram);

/// "1ms to 3ms".
scenarios::Text step_times(const scenarios::NextStep& step);

}  // namespace lockstep::reports::play
