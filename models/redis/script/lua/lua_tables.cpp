#include "models/redis/script/lua/lua_tables.hpp"

#include "models/redis/script/lua/lua_session.hpp"

namespace lockstep::models::redis {
namespace {

/// In a read-only view's metatable, where no script can name it: the table that it shows.
const char kUnderlying = 0;

int refuse_assignment(lua_State* lua) { return luaL_error(lua, "Attempt to modify a readonly table"); }

bool is_reference(lua_State* lua, int index) {
  switch (lua_type(lua, index)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING: return false;
    default: return true;
  }
}

}  // namespace

std::string_view string_at(lua_State* lua, int index) {
  std::size_t length = 0;
  const char* bytes = lua_tolstring(lua, index, &length);
  return {bytes, length};
}

bool look_through(lua_State* lua, int index) {
  if (!lua_istable(lua, index) || !lua_getmetatable(lua, index)) return false;
  lua_pushlightuserdata(lua, const_cast<char*>(&kUnderlying));
  lua_rawget(lua, -2);
  const bool is_view = lua_istable(lua, -1);
  if (is_view) lua_replace(lua, index);
  lua_pop(lua, is_view ? 1 : 2);
  return is_view;
}

bool is_read_only(lua_State* lua, int index) {
  lua_pushvalue(lua, index);
  const bool is_view = look_through(lua, lua_gettop(lua));
  lua_pop(lua, 1);
  return is_view;
}

void require_order(lua_State* lua, int table) {
  LuaSession& session = LuaSession::of(lua);
  bool has_reference = false;
  int entries = 0;
  for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
    session.charge(1);
    ++entries;
    has_reference = has_reference || is_reference(lua, -2);
    if (has_reference && entries > 1) {
      session.stop(
          "script iterated over a table with keys that are tables or functions, in an order that depends on addresses");
    }
  }
}

void make_read_only(lua_State* lua) {
  const int table = lua_gettop(lua);
  lua_newtable(lua);
  lua_newtable(lua);
  lua_pushlightuserdata(lua, const_cast<char*>(&kUnderlying));
  lua_pushvalue(lua, table);
  lua_rawset(lua, -3);
  lua_pushvalue(lua, table);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, refuse_assignment);
  lua_setfield(lua, -2, "__newindex");
  lua_setmetatable(lua, -2);
  lua_replace(lua, table);
}

}  // namespace lockstep::models::redis
