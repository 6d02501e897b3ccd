#pragma once

// What both `fuzz` and `check` are asked for, with messages for what there is not.

#include <string>

#include "library/lockstep.hpp"

namespace lockstep {

/// Throws `Error`: the catalogue has none of this name.
const models::locks::Entry& entry_of(const Catalogue& catalogue, const std::string& algorithm);
/// With the other algorithm unless `algorithm` is empty; the story then expects nothing.
scenarios::Scenario story_of(const Story& story, const std::string& algorithm, const Catalogue& catalogue);
/// Throws `Error`: nobody judges a property of this name.
void must_be_property(std::string_view name);
/// Seconds since some moment, for bounds.
double seconds_now();

}  // namespace lockstep
