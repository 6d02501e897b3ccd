#pragma once

// The margin that `check` gives is that of all executions; that of a witness's family is its own. Where they differ,
// another witness is looked for, with no more than the margin allows.

#include <optional>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/families/family.hpp"

namespace lockstep::scenarios {

/// Whether a family begins to break the property just where the threshold says.
bool agrees(const Family& family, std::string_view property, const Threshold& threshold);

/// A witness of the property whose faults of the threshold's parameter are hardly larger than it. Nothing: none was
/// found within some work, or not in whole nanoseconds.
std::optional<FamilyStory> closest_witness(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                           std::string_view property, const Threshold& threshold);

}  // namespace lockstep::scenarios
