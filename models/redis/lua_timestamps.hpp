#pragma once

// Timestamps in a script that have no digits yet, because an exploration runs it: what a script may do with them, and how it
// hears that it may not do something else.

#include <lua.hpp>

#include <optional>
#include <string_view>
#include <variant>

#include "models/redis/reply.hpp"
#include "models/redis/value.hpp"

namespace lockstep::models::redis {

/// Pushes a value as a script sees it: its bytes or, if it is a symbolic timestamp, an object that stands for them.
///
/// Such an object is a string to `type`, a number once it went through `tonumber` or arithmetic. Whole units may be added to it and
/// taken away; `* 1000` and `/ 1000` change its unit. `==`, `<` and `<=` between two of them ask the world, which may fork the
/// exploration; `redis.call` stores the instant itself. All else has no answer before there are digits, and stops the script
/// with the reason: no pcall of its own can make it go on.
///
/// Two limits, both of Lua 5.1, which asks nobody: compared by == with a plain string or number it is different, as everywhere in
/// this model; and a table takes two of them for one key if they are the same instant as it is written, not as time will tell.
void push_value(lua_State* lua, const Value& value);
/// What PTTL replies about a symbolic deadline. A script may hand it on as its reply, and tell it from -1 and -2 by ==.
/// Requires: reply.is_time_left()
void push_time_left(lua_State* lua, const Reply& reply);

/// What stands at `index` if it is such an object: as a command's argument. Stops the script for a time that is left.
std::optional<Value> symbolic_value_at(lua_State* lua, int index);
bool is_symbolic(lua_State* lua, int index);
/// As a script's reply; nothing, and why: it has none.
std::variant<Reply, std::string_view> symbolic_reply_at(lua_State* lua, int index);

/// Stops the script, if it has met a symbolic timestamp and the error says that Lua could not do anything with it.
void explain_misuse(lua_State* lua, std::string_view error);
/// The same without throwing: for the handler of an error.
bool mark_misuse(lua_State* lua, std::string_view error);

/// Adds what concerns symbolic timestamps to the table of globals on top of the stack, before it becomes read-only.
void install_timestamps(lua_State* lua);
/// Between scripts.
void forget_timestamps(lua_State* lua);

}  // namespace lockstep::models::redis
