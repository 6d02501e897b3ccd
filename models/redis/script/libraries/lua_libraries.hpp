#pragma once

// The libraries that Redis 7.0 gives to scripts besides Lua's own. Each installs itself into the table of globals on
// top of the stack, before that becomes read-only. All of them charge the session for what they walk over, and refuse a
// symbolic timestamp, since they need its digits.

#include <lua.hpp>

namespace lockstep::models::redis {

/// cjson: encode, decode and null, with the settings that lua-cjson 2.1 begins with. Its settings cannot be changed:
/// they would outlive the script.
void install_json(lua_State* lua);
/// cmsgpack: pack, unpack, unpack_one and unpack_limit, as of lua-cmsgpack 0.4.
void install_message_pack(lua_State* lua);
/// bit: as of Lua BitOp 1.0.2.
void install_bit_operations(lua_State* lua);

}  // namespace lockstep::models::redis
