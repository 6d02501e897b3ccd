#pragma once

// The table `redis` of a script, and the conversions between Redis' values and Lua's.

#include <lua.hpp>

#include <string>
#include <string_view>
#include <variant>

#include "models/redis/wire/reply.hpp"

namespace lockstep::models::redis {

/// Adds `redis` to the table of globals on top of the stack.
void install_redis_functions(lua_State* lua);

/// What a script calls where it compared GET's reply with an argument (lua_comparisons.hpp): of a key and a text,
/// whether the key holds it.
int key_holds(lua_State* lua);

/// The reply of EVAL for the value on top of the stack, or why the script counts as stopped: it has more than
/// `most_items` items in all, or a symbolic timestamp that no reply can hold.
std::variant<Reply, std::string> to_reply(lua_State* lua, std::size_t most_items);

/// What a failed script left on top of the stack, as an error reply: "ERR user_script:1: boom script: <sha1>, on
/// @user_script:1."
Reply to_error_reply(lua_State* lua, std::string_view sha1);

/// The error handler of a script's outermost call: makes the error a table {err, source, line}.
int describe_error(lua_State* lua);

}  // namespace lockstep::models::redis
