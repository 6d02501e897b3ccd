#pragma once

// A property's name on a page.

#include <string>
#include <string_view>

namespace lockstep::reports::site {

/// Markup: the name that files use, in Chinese behind its Chinese name, with what it means beside the pointer. What is
/// no property's name stands as it is.
std::string property_markup(std::string_view name);

}  // namespace lockstep::reports::site
