#pragma once

// Timestamps in a script that have no digits yet, because an exploration runs it: what a script may do with them, and
// how it hears that it may not do something else.

#include <lua.hpp>

#include <optional>
#include <string_view>
#include <variant>

#include "models/redis/wire/reply.hpp"
#include "models/value.hpp"

namespace lockstep::models::redis {

/// Pushes a value as a script sees it: its bytes or, if it is a symbolic timestamp, an object that stands for them.
///
/// Such an object is a string to `type`, a number once it went through `tonumber` or arithmetic. What is calculated
/// with it is a number of its own kind (symbolic_number.hpp). Comparisons ask the world, which may fork the
/// exploration: those of a script that `with_questions` has rewritten with plain numbers, too. `redis.call` stores the
/// instant itself. All else has no answer before there are digits, and stops the script with the reason: no pcall of
/// its own can make it go on.
///
/// Two limits: compared by == with a plain string it is different, as everywhere in this model; and a table takes two
/// of them for one key if they are the same instant as it is written, not as time will tell.
void push_value(lua_State* lua, const Value& value);
/// What PTTL and its relatives reply about a symbolic deadline: a number. Requires: reply.is_time_left()
void push_time_left(lua_State* lua, const Reply& reply);

/// The function that a script which `with_questions` has rewritten takes as its argument: `lockstep_question(tag,
/// value)`.
int answer_question(lua_State* lua);

bool is_symbolic(lua_State* lua, int index);
/// What stands at `index` if it is such an object: as a command's argument. Stops the script for a length of time.
std::optional<Value> symbolic_value_at(lua_State* lua, int index);
/// Likewise, where a command wants a length of time in `unit`s: when it is over, if it begins now; nothing if it is not
/// positive. Stops the script for what is no length of time. Requires: is_symbolic
std::optional<sim::Instant> symbolic_deadline_at(lua_State* lua, int index, sim::Instant now, sim::Duration unit);
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
