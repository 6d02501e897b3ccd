#pragma once

// The families of a story as a document, for pages that let somebody move a pause to and fro. docs/margins.md has every
// key.

#include <span>
#include <string>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/families/families.hpp"
#include "scenarios/families/no_return.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports {

/// `lockstep check --margins-json`. Times are whole nanoseconds; a moment that moves is [at_zero, slope]: at_zero +
/// slope * p. The same input gives the same bytes.
std::string margins_json(const scenarios::Scenario& scenario, const scenarios::Exploration& exploration,
                         const scenarios::StoryFamilies& families, std::span<const scenarios::NoReturn> points);

}  // namespace lockstep::reports
