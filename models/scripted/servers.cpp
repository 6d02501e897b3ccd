// c.redis: the servers of a client, as a script sees them.

#include <cctype>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/redis/client/endpoint.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/run.hpp"
#include "models/scripted/server_table.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::scripted {
namespace {

// Upvalues of every function here: the context, the server, the patience in milliseconds or nil; and of a command its
// name.
constexpr int kContextArgument = 1, kServer = 2, kPatienceArgument = 3, kName = 4;

/// Removes the server that stands in front of a colon.
void drop_self(lua_State* lua) {
  if (lua_istable(lua, 1) && lua_getmetatable(lua, 1) != 0) {
    lua_pop(lua, 1);
    lua_remove(lua, 1);
  }
}

/// The run that goes on, with the connection for its request.
Run& prepared(lua_State* lua) {
  if (Interpreter::of(lua).current == nullptr)
    fail(lua, "this is for acquire and release; the main part of a script only declares");
  Run& run = *Interpreter::of(lua).current;
  const auto context = static_cast<std::size_t>(lua_tonumber(lua, lua_upvalueindex(kContextArgument)));
  if (run.machine().context_at(context)->client != &run.client())
    fail(lua, "this c belongs to another thread: use the one that the function was called with");
  const auto server = static_cast<std::size_t>(lua_tonumber(lua, lua_upvalueindex(kServer)));
  run.request.connection = redis::servers_of(run.client())[server];
  if (!lua_isnil(lua, lua_upvalueindex(kPatienceArgument)))
    run.request.connection =
        run.request.connection->with_timeout(length_at(lua, lua_upvalueindex(kPatienceArgument), "within"));
  return run;
}

int send(lua_State* lua, Run& run) {
  run.request.kind = Request::Kind::command;
  return lua_yield(lua, 0);
}

/// c.redis:set(key, value, { nx = true, px = 30000 })
int command(lua_State* lua) {
  drop_self(lua);
  Run& run = prepared(lua);
  run.request.command = redis::Command(Value(lua_tostring(lua, lua_upvalueindex(kName))));
  add_arguments(lua, 1, run.request.command);
  return send(lua, run);
}

/// c.redis:call("PEXPIRE", key, 100), or call({ "PEXPIRE", key, 100 })
int call(lua_State* lua) {
  drop_self(lua);
  Run& run = prepared(lua);
  if (lua_istable(lua, 1)) {
    run.request.command = command_at(lua, 1);
  } else {
    run.request.command = redis::Command(value_at(lua, 1, "a command's name"));
    add_arguments(lua, 2, run.request.command);
  }
  return send(lua, run);
}

void add_all(lua_State* lua, int table, std::string_view what, redis::Command& command) {
  const auto count = static_cast<int>(lua_objlen(lua, table));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(lua, table, i);
    command.push_back(value_at(lua, lua_gettop(lua), What{"number {} of the script's {}", i, what}));
    lua_pop(lua, 1);
  }
}

/// c.redis:eval(script, { key }, { argument }), or as redis-cli has it
int eval(lua_State* lua) {
  drop_self(lua);
  Run& run = prepared(lua);
  run.request.command = redis::Command("EVAL", value_at(lua, 1, "the script"));
  if (lua_istable(lua, 2)) {
    run.request.command.push_back(Value(static_cast<std::int64_t>(lua_objlen(lua, 2))));
    add_all(lua, 2, "keys", run.request.command);
    if (lua_istable(lua, 3))
      add_all(lua, 3, "arguments", run.request.command);
    else if (!lua_isnoneornil(lua, 3))
      fail(lua, "arguments of a script stand in a table: c.redis:eval(script, { key }, { argument })");
  } else {
    add_arguments(lua, 2, run.request.command);
  }
  return send(lua, run);
}

/// c.redis:transaction({ { "INCR", key }, { "GET", key } }): what EXEC replies
int transaction(lua_State* lua) {
  drop_self(lua);
  Run& run = prepared(lua);
  const auto count = lua_istable(lua, 1) ? static_cast<int>(lua_objlen(lua, 1)) : 0;
  if (count == 0) fail(lua, "expected commands: c.redis:transaction({ { \"INCR\", key }, { \"GET\", key } })");
  run.request.commands.clear();
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(lua, 1, i);
    run.request.commands.push_back(command_at(lua, lua_gettop(lua)));
    lua_pop(lua, 1);
  }
  run.request.kind = Request::Kind::transaction;
  return lua_yield(lua, 0);
}

void push_server(lua_State* lua, std::size_t context, std::size_t server, int patience);

/// c.redis:within(50): the same server with another patience
int within(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  length_at(lua, 2, "the patience");
  lua_settop(lua, 2);
  // The same for the same length: scripts ask for it again and again. Upvalue: those that there are.
  lua_pushvalue(lua, 2);
  lua_rawget(lua, lua_upvalueindex(kName));
  if (!lua_isnil(lua, -1)) return 1;
  lua_pop(lua, 1);
  push_server(lua, static_cast<std::size_t>(lua_tonumber(lua, lua_upvalueindex(kContextArgument))),
              static_cast<std::size_t>(lua_tonumber(lua, lua_upvalueindex(kServer))), 2);
  lua_pushvalue(lua, 2);
  lua_pushvalue(lua, -2);
  lua_rawset(lua, lua_upvalueindex(kName));
  return 1;
}

/// c.redis.get: makes the function when it is first asked for.
int find_command(lua_State* lua) {
  if (lua_type(lua, 2) != LUA_TSTRING) {
    lua_pushnil(lua);
    return 1;
  }
  const std::string name = lua_tostring(lua, 2);
  lua_pushvalue(lua, 2);
  for (int i = kContextArgument; i <= kPatienceArgument; ++i) lua_pushvalue(lua, lua_upvalueindex(i));
  if (name == "call") {
    lua_pushcclosure(lua, call, 3);
  } else if (name == "eval") {
    lua_pushcclosure(lua, eval, 3);
  } else if (name == "transaction") {
    lua_pushcclosure(lua, transaction, 3);
  } else if (name == "within") {
    lua_newtable(lua);
    lua_pushcclosure(lua, within, 4);
  } else if (name == "subscribe" || name == "psubscribe" || name == "ssubscribe") {
    fail(lua, "a subscription has a connection of its own: c:subscribe(channel)");
  } else if (name == "multi" || name == "exec") {
    fail(lua, "MULTI and EXEC are one call: c.redis:transaction({ { \"INCR\", key }, { \"GET\", key } })");
  } else {
    std::string capitals = name;
    for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    lua_pushlstring(lua, capitals.data(), capitals.size());
    lua_pushcclosure(lua, command, 4);
  }
  lua_pushvalue(lua, -1);
  lua_insert(lua, 3);
  lua_rawset(lua, 1);
  return 1;
}

/// `patience`: where its length stands on the stack; 0: the network's.
void push_server(lua_State* lua, std::size_t context, std::size_t server, int patience) {
  lua_newtable(lua);
  lua_newtable(lua);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pushnumber(lua, static_cast<lua_Number>(context));
  lua_pushnumber(lua, static_cast<lua_Number>(server));
  if (patience != 0) {
    lua_pushvalue(lua, patience);
  } else {
    lua_pushnil(lua);
  }
  lua_pushcclosure(lua, find_command, 3);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
}

void push_servers(lua_State* lua, Machine& machine, std::size_t context) {
  const std::size_t count = redis::servers_of(*machine.context_at(context)->client).size();
  push_server(lua, context, 0, 0);
  for (std::size_t i = 0; i < count; ++i) {
    push_server(lua, context, i, 0);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
}

}  // namespace

const ServerLibrary& redis_for_scripts() {
  static constexpr ServerLibrary library{.kind = redis_kind, .push = push_servers};
  return library;
}

}  // namespace lockstep::models::scripted
