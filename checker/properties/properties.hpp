#pragma once

// All properties that Lockstep can judge: for `lockstep list properties`, for scenario files that expect something of
// one, and for reports. Adding a property is one entry here and one checker.

#include <span>
#include <string_view>

#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

struct Property {
  std::string_view name;     ///< as in scenario files and findings
  View view;                 ///< whose truth it is about
  std::string_view meaning;  ///< one line, English
  std::string_view meaning_zh;
};

/// In the order in which people read them: belief, server, damage.
std::span<const Property> properties();

/// Whether it says nothing where nobody ever got the lock: then it is unknown, for this reason.
bool needs_a_holder(std::string_view property);
inline constexpr std::string_view nothing_was_tried = "nothing was tried: nobody ever got the lock";

/// Null if there is none of this name.
const Property* find_property(std::string_view name);

}  // namespace lockstep::checker
