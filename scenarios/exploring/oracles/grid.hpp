#pragma once

// A story by brute force: every run in which all times are multiples of a tick. It shares nothing with the explorer but
// the world, so that each can tell on the other; and it is hopeless for anything but the smallest stories.

#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

/// Runs the story under `sim::Simulation` once for each combination of: every delay that is a multiple of `tick` or an
/// end of its range; every order of simultaneous events; and every fault that `[[may]]` allows: a pause before or after
/// any event of a process, a crash before any (one with a restart: at any tick before any event of any process), the
/// loss of any message, a jump of a clock before any event, skew from the start; lengths again in ticks and ends. Each
/// run is judged by the checkers of concrete runs. The probe, which comes when everybody is done, runs with the
/// shortest delays only.
///
/// `counts.traces` is the number of runs, and `violating_traces` that of the violating ones. A threshold is the least
/// grid value among them (of several faults of one run, the largest counts), or zero where a run breaks without such a
/// fault. "holds" speaks of the grid. `parameter`, `max_traces`, `max_events`, `max_seconds`, `interrupted` and
/// `progress` are those of `options`. Requires: tick > 0.
std::variant<Exploration, Diagnostic> explore_grid(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                                   sim::Duration tick, const ExplorationOptions& options = {});

}  // namespace lockstep::scenarios
