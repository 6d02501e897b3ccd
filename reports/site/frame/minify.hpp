#pragma once

// Scripts and styles without what only their authors read: each page has its own copy, since a page's policy knows them
// by their hashes.

#include <string>
#include <string_view>

namespace lockstep::reports::site {

/// Without comments and needless spaces. Lines stay where a missing semicolon would matter. Requires: a regular
/// expression comes behind an operator, a bracket that opens, or a comma.
std::string minified_script(std::string_view text);

/// Without comments, line ends and needless spaces. Requires: no comment within a text in quotes.
std::string minified_style(std::string_view text);

}  // namespace lockstep::reports::site
