#pragma once

// Text inside Graphviz files.

#include <string>
#include <string_view>

namespace lockstep::checker {

/// A quoted string of the DOT language that shows `text` as it is; lines end in `\l`, which aligns them to the left, if
/// there are several.
std::string dot_quoted(std::string_view text);

}  // namespace lockstep::checker
