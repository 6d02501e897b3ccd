#pragma once

// All properties that Lockstep can judge: for `lockstep list properties`, for scenario files that expect something of
// one, for whoever judges runs and explorations, and for reports. Adding a property is one file and its line in
// entries.hpp.

#include <span>
#include <string_view>

#include "checker/properties/property.hpp"

namespace lockstep::checker {

/// In the order in which people read them.
std::span<const Property> properties();

/// Whether the history has anything of what the property is about (`Property::is_seen`).
bool is_seen(const Property& property, const OrderedHistory& history);

/// Null if there is none of this name.
const Property* find_property(std::string_view name);

/// Requires: there is one of this name. Stops the program if there is none: that is our bug.
const Property& property_named(std::string_view name);
/// Its position in the table. The same requirement.
std::size_t position_of_property(std::string_view name);

}  // namespace lockstep::checker
