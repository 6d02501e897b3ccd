#pragma once

// What the readers of histories ask of single characters.

#include <cstdint>
#include <string>

namespace lockstep::checker::history_formats {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Of the letters A to Z; all else stays as it is.
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The character of UTF-8 at `at`, in quotes, for a message; or that the text has ended.
std::string shown(const char* at, const char* end);

/// Requires: `code` is a code point, and no half of a surrogate pair.
void append_utf8(std::string& out, std::uint32_t code);

}  // namespace lockstep::checker::history_formats
