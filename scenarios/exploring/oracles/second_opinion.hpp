#pragma once

// A second opinion on an exploration: concrete runs, judged by the checkers of concrete runs. They share the world with
// the explorer, and nothing of what turns its traces into verdicts.

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/running/effort.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Plays some tens to some hundreds of runs with random delays and faults within what the file allows, many of them
/// just below a margin that was found, or just beyond it. What a run breaks is violated: a property that the search
/// called kept, with the run as the witness; or one that breaks with less than its margin, which is then the run's, and
/// not exact. Each of these counts as a disagreement. What was unknown, and would be judged, is violated without one.
///
/// Which runs are played depends on the story alone, and how many on the events of the exploration, not on time; but
/// `max_seconds`, `began` and `interrupted` of `options` end it. Where `max_seconds` cut the search, runs go on until
/// then. `Exploration::random_runs` says how many there were. `effort`: more of it for tests and hunts,
/// less where searches are short.
void second_opinion(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                    const ExplorationOptions& options, Exploration& exploration, Effort effort = {});

}  // namespace lockstep::scenarios
