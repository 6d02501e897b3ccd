#pragma once

// Times without digits as arguments of redis.call.

#include <lua.hpp>

#include "models/redis/wire/command.hpp"

namespace lockstep::models::redis {

/// Puts the symbols among the arguments of redis.call, which begin at 1, into `command`, where something else holds
/// their places. A length of time that a key is to live becomes the moment when it ends: PEXPIRE becomes PEXPIREAT.
/// Stops the script where a server would look at digits.
void put_symbols(lua_State* lua, Command& command);

}  // namespace lockstep::models::redis
