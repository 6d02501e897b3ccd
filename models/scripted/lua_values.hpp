#pragma once

// Values of a lock script: replies of servers, lengths of time, moments.

#include <lua.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"
#include "models/scripted/machine.hpp"
#include "sim/time/clock.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::scripted {

void push_reply(lua_State* lua, const Interpreter& interpreter, const redis::Reply& reply);
void push_moment(lua_State* lua, sim::Instant instant, sim::Duration unit);
void push_milliseconds(lua_State* lua, sim::Duration length);

/// What a value is, for messages: made only if there is one.
struct What {
  std::string_view format;  ///< with places for the next two
  int number = 0;
  std::string_view name = {};
  What(const char* text) : format(text) {}       // NOLINT(google-explicit-constructor)
  What(std::string_view text) : format(text) {}  // NOLINT(google-explicit-constructor)
  What(std::string_view text, int i, std::string_view of) : format(text), number(i), name(of) {}
  std::string text() const;
};

// Each reads the value at `index`, and throws Lua's error, which names `what` it is, if it is another.

Value value_at(lua_State* lua, int index, const What& what);
/// A number of milliseconds, or a text with a unit: 50, "1.5s".
sim::Duration length_at(lua_State* lua, int index, const What& what);
/// The same, or { least, most }.
sim::DurationRange lengths_at(lua_State* lua, int index, const What& what);
/// `c:now() + 50`.
sim::Instant moment_at(lua_State* lua, int index, const What& what);
/// Pushes a field, whatever metatable the script has given its table: nothing of the script runs here. `table`: counted
/// from below.
void push_field(lua_State* lua, int table, const char* field);
using Complain = std::function<void(const std::string& mistake)>;
/// A time that a hold has in a field, or nothing: of what is none, `complain` is told. `table`: likewise.
std::optional<sim::Instant> moment_in(lua_State* lua, int table, const char* field, const Complain& complain,
                                      const std::string& file);
/// What a server said is left of a lease, as a reply.
std::optional<redis::Reply> time_left_at(lua_State* lua, int index);
/// Adds what `index` holds: a value, or { nx = true, px = 50 } behind a SET.
void add_arguments(lua_State* lua, int first, redis::Command& command);
/// { "SET", key, value }
redis::Command command_at(lua_State* lua, int index);

[[noreturn]] void fail(lua_State* lua, std::string_view message);

}  // namespace lockstep::models::scripted
