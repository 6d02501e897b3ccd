#pragma once

// Text on a terminal: how many columns it takes, cut and broken so that it fits. Input is UTF-8; what is not, and
// control characters, which a title or a Redis reply may bring along, are shown as U+FFFD and never reach the terminal.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::reports {

/// Columns that a terminal gives to `text`: two for a Chinese character, none for a combining mark. Characters of
/// ambiguous width (box drawing, arrows, “quotes”) count as one, as all terminals do outside East Asian legacy modes.
std::size_t display_width(std::string_view text);

/// The same text without control characters, broken UTF-8 and what XML may not contain. Line breaks become blanks.
std::string printable(std::string_view text);

/// At most `width` columns: what is cut off leaves an ellipsis. A wide character is never cut in half.
std::string clip(std::string_view text, std::size_t width);

/// Clipped or filled with blanks to exactly `width` columns.
std::string pad(std::string_view text, std::size_t width);
/// The same, with the text at the right.
std::string pad_left(std::string_view text, std::size_t width);

/// Lines of at most `width` columns. Breaks at blanks, and between any two Chinese characters unless the second is
/// punctuation that must not begin a line; a word that is longer than a line is broken after a hyphen or a slash, or
/// else anywhere. Never empty; of more than a screenful (`sim::screenful`) its beginning.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// "A, B, C".
std::string joined(const std::vector<std::string>& names, std::string_view separator = ", ");

}  // namespace lockstep::reports
