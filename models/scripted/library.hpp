#pragma once

// What scripts of locks can call.

#include <lua.hpp>

#include "models/scripted/machine.hpp"

namespace lockstep::models::scripted {

/// Adds pcall, error_of and what stands in the place of forbidden functions to the table of globals on top of the stack.
void install_globals(lua_State* lua);
/// The metatable of each process's own globals, which shows the table on top of the stack.
void push_metatable_of_globals(lua_State* lua);
/// A table of metatables, by the names of kinds: "c", "hold", "watch", "patience", "channel", "latch".
void push_metatables(lua_State* lua);
/// Fills the table on top of the stack, a new `c`.
void fill_context(lua_State* lua, Machine& machine, std::size_t number);
/// Gives the table on top of the stack, in which the key `number` has been set, its methods.
void push_object(lua_State* lua, const Interpreter& interpreter, const char* kind, std::size_t number);
/// The number of such an object; 0: it is none.
std::size_t object_number(lua_State* lua, int index, const char* kind);
/// Whether it is an error that a server replied.
bool is_error(lua_State* lua, int index);
/// Pushes the servers of a client: `c.redis`.
void push_servers(lua_State* lua, Machine& machine, std::size_t context);

}  // namespace lockstep::models::scripted
