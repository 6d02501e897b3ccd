#pragma once

// What scripts of locks can call.

#include <lua.hpp>

#include <cstddef>

#include "models/scripted/machine.hpp"
#include "models/scripted/run.hpp"

namespace lockstep::models::scripted {

/// The run that executes. Fails in the main part, which happens before there is a world.
Run& running(lua_State* lua);
/// The `c` that a method was called with.
Machine::Context& context_of(lua_State* lua);
/// The number of the object of this kind that a method was called with.
std::size_t number_of(lua_State* lua, Kind kind, const char* example);
/// Returned by a function that waits. Requires: the run's request is filled.
int wait_for(lua_State* lua, Run& run, Request::Kind kind);

/// Adds pcall, error_of and what stands in the place of forbidden functions to the table of globals on top of the
/// stack.
void install_globals(lua_State* lua);
/// The metatable of each process's own globals, which shows the table on top of the stack.
void push_metatable_of_globals(lua_State* lua);
/// A table of metatables, by the names of kinds: "c", "hold", "watch", "patience", "channel", "latch".
void push_metatables(lua_State* lua);
/// Adds one of them to the table on top of the stack.
void add_metatable(lua_State* lua, Kind kind, const luaL_Reg* methods);
/// The same for what waits, and adds to the methods of `c` what makes it.
void add_waiting(lua_State* lua);
/// Fills the table on top of the stack, a new `c`.
void fill_context(lua_State* lua, Machine& machine, std::size_t number);
/// Whether it is an error that a server replied.
bool is_error(lua_State* lua, int index);
inline constexpr Library kLibrary{.install_globals = install_globals,
                                  .push_metatable_of_globals = push_metatable_of_globals,
                                  .push_metatables = push_metatables,
                                  .fill_context = fill_context};

}  // namespace lockstep::models::scripted
