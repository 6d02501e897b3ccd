#pragma once

// Which of Lua's functions a script may use, and what makes them deterministic and bounded.

#include <lua.hpp>

#include <span>

namespace lockstep::models::redis {

/// Opens the base, table, string and math libraries, cjson, cmsgpack and bit, without what could reach outside, leak
/// addresses or run without bound. Afterwards the table of globals is on top of the stack, still writable.
void open_safe_libraries(lua_State* lua);
/// The same in two parts, and without the last three: base, table, string and math, which can still be changed; then
/// those of these names cannot be any more.
void open_plain_libraries(lua_State* lua);
void protect_libraries(lua_State* lua, std::span<const char* const> names);

/// Makes the table of globals on top of the stack the read-only globals of every function loaded from now on, and pops
/// it. Reading a name that is not there is an error.
void install_globals(lua_State* lua);

/// Forgets the numbers that `tostring` gave to tables and functions. Between scripts.
void forget_printed_objects(lua_State* lua);

}  // namespace lockstep::models::redis
