#pragma once

// An execution that `check` looks at, run on its own.

#include <cstdint>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Not the execution of the file but the one that `draw_checked` draws with this seed. A property that was not tried in
/// it is as expected.
std::variant<Outcome, Diagnostic> run_sample(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                             std::uint64_t seed, const RunOptions& options = {});

}  // namespace lockstep::scenarios
