#pragma once

// What stands for a time without digits in a script: for lua_*.cpp alone.

#include <lua.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>

#include "models/redis/data/symbolic_number.hpp"
#include "models/redis/script/lua/lua_session.hpp"
#include "models/value.hpp"

namespace lockstep::models::redis {

/// Why an exploration cannot follow a script, as its message begins.
inline constexpr std::string_view kNeedsDigits =
    "a script needs the digits of a time, which an exploration does not have";

/// Ends the script, since no exploration can follow it: `what` follows its line.
[[noreturn]] void stop_for_digits(lua_State* lua, std::string_view what);

struct LuaSymbol {
  enum class Kind : std::uint8_t { text, number, rest_of_second } kind = Kind::text;
  Timestamp time;  ///< of a text
  SymbolicNumber number{{}, {}, sim::Duration::milliseconds(1), SymbolicNumber::Rounding::none};
  sim::Duration longest = sim::Duration::forever();  ///< of a number that is a time left: as the reply said
  // Of TIME's second number: what was made of it. Its moment is that of the text that it came as.
  Number times = 1;
  Number divided_by = 1;
};
// Lua frees it without asking.
static_assert(std::is_trivially_destructible_v<LuaSymbol>);

/// Null: what stands there is no symbol.
const LuaSymbol* symbol_at(lua_State* lua, int index);
void push_symbol(lua_State* lua, const LuaSymbol& symbol);
void push_text(lua_State* lua, Timestamp time);
void push_symbolic_number(lua_State* lua, const SymbolicNumber& number,
                          sim::Duration longest = sim::Duration::forever());
/// The value at this key of the registry, which no script can name: an address of ours.
void push_own(lua_State* lua, const char& key);

/// The number that Lua would make of it in arithmetic. Stops the script for the rest of a second.
SymbolicNumber number_of(lua_State* lua, const LuaSymbol& symbol);
bool is_rest(const LuaSymbol* symbol);

/// The answer of the world to `question(world)`. Lua catches every exception: the world's own goes on when the script
/// has ended, which it does at once.
template <class Question>
auto ask_world(lua_State* lua, const Question& question) {
  LuaSession& session = LuaSession::of(lua);
  if (session.host_world == nullptr) session.stop("script compares a symbolic time, and there is no world to ask");
  try {
    return question(*session.host_world);
  } catch (...) {
    session.host_failure = std::current_exception();
  }
  session.stop("the server failed");
}
/// Stops the script if there is no answer.
bool known(lua_State* lua, std::optional<bool> answer);
bool are_equal(lua_State* lua, const LuaSymbol& a, const LuaSymbol& b);
/// By `<`.
bool is_before(lua_State* lua, const LuaSymbol& a, const LuaSymbol& b);

/// Between scripts.
void forget_left_sides(lua_State* lua);
void forget_symbols(lua_State* lua);
/// The metatable of all symbols, from the table on top, which it pops.
void set_methods_of_symbols(lua_State* lua);

}  // namespace lockstep::models::redis
