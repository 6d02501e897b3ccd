#pragma once

// UTF-8, one character after the other, whatever the bytes are.

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::sim {

struct Character {
  std::string_view bytes;  ///< of the text
  char32_t code = 0;
};

/// What stands for bytes that are no UTF-8.
inline constexpr char32_t no_character = 0xFFFD;

/// The character at the front of `text`; one byte as `no_character` where the bytes are not UTF-8. Requires: not empty.
Character first_character(std::string_view text);

/// What a terminal would obey and not show: control characters, and those that turn the direction of what follows.
bool is_control(char32_t code);

/// What a message to people may be long: more than a screen shows, nobody reads.
inline constexpr std::size_t kMessageBytesMax = 2'000;

/// The text, or of a longer one its first `bytes` and what is missing: "… (998,143 more bytes)".
std::string screenful(std::string_view text, std::size_t bytes = kMessageBytesMax);

}  // namespace lockstep::sim
