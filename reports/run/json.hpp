#pragma once

// The machine-readable documents. Each is one JSON object with "lockstep": 1 (the version of this format) and
// "command"; later versions only add keys. Nothing in them depends on when, where or how fast they were made, so the
// same input gives the same bytes; only "seconds" of `check` does, and it can be left out.

#include <cstddef>
#include <span>
#include <string>

#include "models/locks/catalogue.hpp"
#include "reports/check/explored.hpp"
#include "reports/listing/listing.hpp"
#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// `lockstep run --json`. "verdict" is "holds", "violated" or "unknown"; "expected" is one of these, or null if the
/// file does not say; "at" is a true time such as "163ms", or null; "evidence" are steps of the execution.
std::string run_json(std::span<const Story> stories);

/// Stories of directories that `check` does not explore.
struct LeftOut {
  std::size_t for_cost = 0;  ///< slow or rare ones, which --all explores, too
  std::size_t not_explorable = 0;
};

/// `lockstep check --json`. "bound" is "max-traces", "max-events", "max-seconds", "interrupted" or null; "traces" are
/// runs on a grid; "witness" is the text of a scenario file that `run` replays, or null; "infimum" is a duration such
/// as "71ms", and "attained" says whether that value itself breaks the property. `times` false: "seconds" is null.
std::string check_json(std::span<const ExploredStory> stories, bool times, LeftOut left_out = {});

/// `lockstep list … --json`.
std::string scenarios_json(std::span<const scenarios::Scenario> scenarios);
std::string algorithms_json(std::span<const models::locks::Entry> entries);
std::string properties_json();
std::string faults_json();
/// "files" are those of the given stories that reproduce the failure; "told" false: no document says so, it was
/// deduced.
std::string failures_json(std::span<const scenarios::Scenario> scenarios, const ConfirmedFiles& confirmed);

}  // namespace lockstep::reports
