#pragma once

// A lock algorithm that is a Lua script: what its text says of itself.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::models::scripted {

struct ServerLibrary;

/// A script that has been read. Never changes afterwards; lies outside of every world, and worlds refer to it.
struct Program {
  std::string file;      ///< as messages name it: "my-lock.lua"
  std::string text;      ///< as it was read
  std::string bytecode;  ///< of the text in which comparisons ask (models/redis/script/questions/lua_questions.hpp)
  const ServerLibrary* server = nullptr;  ///< what `c` has of its servers; null: the main part has not been read
  bool has_background = false;
  bool subscribes = false;
  bool has_try_acquire = false;
  bool has_call = false;

  // What the entry refers to.
  std::deque<std::string> strings;
  std::deque<std::vector<std::string_view>> choices;
};

/// Longer than any lock.
inline constexpr std::size_t kScriptBytesMax = std::size_t{256} << 10;

}  // namespace lockstep::models::scripted
