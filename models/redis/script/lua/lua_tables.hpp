#pragma once

// Values of a script: its strings, views of tables that it cannot change, and the order of their keys.

#include <string_view>

#include <lua.hpp>

namespace lockstep::models::redis {

/// The bytes of the string, or number, at `index`: as long as it is there.
std::string_view string_at(lua_State* lua, int index);
/// If the value at `index` is a read-only view, replaces it by what it shows.
bool look_through(lua_State* lua, int index);
bool is_read_only(lua_State* lua, int index);
/// Lua orders keys that are tables or functions, and everything that shares a hash chain with them, by their addresses.
/// A result that depends on that is different on every machine and in every run of a real server, so there is nothing
/// to be faithful to: whoever writes such a script hears of it. A single entry has only one order.
/// Stops the script if it has to.
void require_order(lua_State* lua, int table);
/// Replaces the table on top of the stack by a view of it that scripts cannot change.
void make_read_only(lua_State* lua);

}  // namespace lockstep::models::redis
