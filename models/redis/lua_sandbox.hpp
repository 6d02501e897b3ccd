#pragma once

// Which of Lua's functions a script may use, and what makes them deterministic and bounded.

#include <lua.hpp>

namespace lockstep::models::redis {

/// Opens the base, table, string and math libraries without what could reach outside, leak addresses or run without
/// bound. Afterwards the table of globals is on top of the stack, still writable.
void open_safe_libraries(lua_State* lua);

/// Replaces the table on top of the stack by a view of it that scripts cannot change.
void make_read_only(lua_State* lua);

/// Makes the table of globals on top of the stack the read-only globals of every function loaded from now on, and pops it.
/// Reading a name that is not there is an error.
void install_globals(lua_State* lua);

/// Forgets the numbers that `tostring` gave to tables and functions. Between scripts.
void forget_printed_objects(lua_State* lua);

}  // namespace lockstep::models::redis
