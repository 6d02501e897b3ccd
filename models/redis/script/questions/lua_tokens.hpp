#pragma once

// Lua 5.1's words, as far as it takes to see where an expression begins and ends.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lockstep::models::redis {

struct LuaToken {
  enum class Kind : std::uint8_t { word, number, string, sign, end } kind = Kind::end;
  std::string_view text;  ///< of a string: what lies between its quotes, escapes as they are written
  std::size_t begin = 0;
  std::size_t end = 0;

  bool is(std::string_view word_or_sign) const {
    return (kind == Kind::word || kind == Kind::sign) && text == word_or_sign;
  }
};

/// All tokens with one for the end; nothing: this is no Lua. Comments are blanks.
std::optional<std::vector<LuaToken>> lua_tokens(std::string_view script);

}  // namespace lockstep::models::redis
