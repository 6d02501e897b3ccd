#pragma once

// The nearest valid name, for messages about a name that is not one.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::scenarios {

/// The name of `valid` that needs the fewest edits (a letter inserted, left out, replaced, or two neighbours swapped;
/// capitals do not count). The earlier one of two that are equally near; nothing if `valid` is empty.
std::optional<std::string_view> nearest(std::string_view given, std::span<const std::string_view> valid);

/// How a message about `given` ends: `did you mean "ttl"?` where one name is what other tools call so, or so near that
/// it may be a slip of the keyboard; otherwise all that is valid, and of a long list the nearest if it is near, or some
/// of them.
std::string suggestion(std::string_view given, std::span<const std::string_view> valid);

/// For a file that is not there: "; did you mean "a.toml"?" where one with this ending beside it is near enough; else
/// nothing.
std::string suggestion_beside(const std::filesystem::path& file, std::string_view ending);

/// The text in quotes, on one line: cut after 40 characters, what does not print as \n or \x1b.
std::string in_quotes(std::string_view text);
/// The same text with control characters made visible, "\n", "\x1b", and cut as a message is (`sim::screenful`).
std::string one_line(std::string_view text);

}  // namespace lockstep::scenarios
