#pragma once

// Strings as TOML writes them.

#include <span>
#include <string>
#include <string_view>

namespace lockstep::scenarios::toml_text {

/// In quotes, on one line: what TOML calls a basic string. Requires: UTF-8.
std::string basic_string(std::string_view text);
/// The same; but if it is too long for one line, in triple quotes, over several lines that say one.
std::string paragraph(std::string_view text);
/// `["a", "b"]`; if that is too long for one line after `indent` columns, one element a line. The elements are TOML.
std::string array(std::span<const std::string> elements, std::size_t indent);

}  // namespace lockstep::scenarios::toml_text
