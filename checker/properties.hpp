#pragma once

// All properties that Lockstep can judge: for `lockstep list properties`, for scenario files that expect something of
// one, and for reports. Adding a property is one entry here and one checker.

#include <span>
#include <string_view>

#include "checker/verdict.hpp"

namespace lockstep::checker {

struct Property {
  std::string_view name;     ///< as in scenario files and findings
  View view;                 ///< whose truth it is about
  std::string_view meaning;  ///< one line, English
  std::string_view meaning_zh;
};

/// In the order in which people read them: belief, server, damage.
std::span<const Property> properties();

/// Null if there is none of this name.
const Property* find_property(std::string_view name);

}  // namespace lockstep::checker
