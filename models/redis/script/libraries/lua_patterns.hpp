#pragma once

// string.find, match, gmatch and gsub with a matcher that counts its steps.

#include <lua.hpp>

namespace lockstep::models::redis {

/// Puts them into the table on top of the stack, in place of those of Lua 5.1, whose backtracking nothing can stop:
/// ("a?"):rep(30) .. ("a"):rep(30) takes minutes, and a count hook does not fire inside a C function.
void install_pattern_functions(lua_State* lua);

}  // namespace lockstep::models::redis
