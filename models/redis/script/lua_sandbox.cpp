#include "models/redis/script/lua_sandbox.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <span>
#include <string>

#include "models/redis/script/libraries/lua_libraries.hpp"
#include "models/redis/script/libraries/lua_patterns.hpp"
#include "models/redis/script/lua/lua_session.hpp"
#include "models/redis/script/lua/lua_tables.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"
#include "models/redis/script/questions/lua_questions.hpp"

namespace lockstep::models::redis {
namespace {

// Keys of the registry and of metatables that no script can name: addresses of our own.
const char kStringMetatable = 0;   // in the registry: a read-only view of the metatable of strings
const char kPrintedObjects = 0;    // in the registry: object -> its number
const char kGlobalsMetatable = 0;  // in the registry: what getmetatable(_G) shows

void push_of_table(lua_State* lua, int table, const char& key) {
  lua_pushlightuserdata(lua, const_cast<char*>(&key));
  lua_rawget(lua, table < 0 && table > LUA_REGISTRYINDEX ? table - 1 : table);
}

/// As Redis says it where a C function would have written: without a position.
int refuse_write(lua_State* lua) {
  lua_pushliteral(lua, "Attempt to modify a readonly table");
  return lua_error(lua);
}

int refuse_unknown_global(lua_State* lua) {
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", lua_tostring(lua, 2));
}

// --- Base.

int next(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 2);
  look_through(lua, 1);
  if (lua_isnil(lua, 2)) require_order(lua, 1);
  if (lua_next(lua, 1)) return 2;
  lua_pushnil(lua);
  return 1;
}

/// Upvalue: next.
int pairs(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_pushvalue(lua, 1);
  lua_pushnil(lua);
  return 3;
}

int rawget(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checkany(lua, 2);
  lua_settop(lua, 2);
  look_through(lua, 1);
  lua_rawget(lua, 1);
  return 1;
}

int rawset(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checkany(lua, 2);
  luaL_checkany(lua, 3);
  if (is_read_only(lua, 1)) return refuse_write(lua);
  lua_settop(lua, 3);
  lua_rawset(lua, 1);
  return 1;
}

int getmetatable(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (lua_type(lua, 1) == LUA_TSTRING) {
    push_of_table(lua, LUA_REGISTRYINDEX, kStringMetatable);
  } else if (lua_rawequal(lua, 1, LUA_GLOBALSINDEX)) {
    push_of_table(lua, LUA_REGISTRYINDEX, kGlobalsMetatable);
  } else if (is_read_only(lua, 1) || !lua_getmetatable(lua, 1)) {
    lua_pushnil(lua);
  } else {
    luaL_getmetafield(lua, 1, "__metatable");  // leaves the metatable on top if there is no such field
  }
  return 1;
}

int setmetatable(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_argcheck(lua, lua_isnil(lua, 2) || lua_istable(lua, 2), 2, "nil or table expected");
  if (is_read_only(lua, 1)) return refuse_write(lua);
  if (luaL_getmetafield(lua, 1, "__metatable")) return luaL_error(lua, "cannot change a protected metatable");
  lua_settop(lua, 2);
  // A read-only view as a metatable stays a view: looking through it would hand the metatable of strings to the script.
  lua_setmetatable(lua, 1);
  return 1;
}

/// A table has no name but its address: number them in the order in which they are printed. The numbers' table holds
/// its objects, so that no address is used twice within a script.
void push_printed(lua_State* lua, int object) {
  // Where several processes share an interpreter, a number would tell one of them what another has printed.
  if (LuaSession::of(lua).keeps_times) {
    lua_pushstring(lua, luaL_typename(lua, object));
    return;
  }
  push_of_table(lua, LUA_REGISTRYINDEX, kPrintedObjects);
  lua_pushvalue(lua, object);
  lua_rawget(lua, -2);
  if (lua_isnil(lua, -1)) {
    lua_pushvalue(lua, object);
    lua_pushinteger(lua, ++LuaSession::of(lua).printed_objects);
    lua_rawset(lua, -4);
    lua_pushinteger(lua, LuaSession::of(lua).printed_objects);
  }
  const int number = static_cast<int>(lua_tointeger(lua, -1));
  lua_pushfstring(lua, "%s: 0x%d", luaL_typename(lua, object), number);
}

int tostring(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (luaL_callmeta(lua, 1, "__tostring")) return 1;
  switch (lua_type(lua, 1)) {
    case LUA_TNUMBER: lua_pushstring(lua, lua_tostring(lua, 1)); break;
    case LUA_TSTRING: lua_pushvalue(lua, 1); break;
    case LUA_TBOOLEAN: lua_pushstring(lua, lua_toboolean(lua, 1) ? "true" : "false"); break;
    case LUA_TNIL: lua_pushliteral(lua, "nil"); break;
    case LUA_TLIGHTUSERDATA: lua_pushliteral(lua, "userdata: (nil)"); break;  // cjson.null, which has no address
    default: push_printed(lua, 1);
  }
  return 1;
}

/// As Redis' own: an error that is a table with a field `err` is handed on as that field.
int pcall(lua_State* lua) {
  luaL_checkany(lua, 1);
  const int status = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
  if (status != 0 && lua_isstring(lua, -1)) explain_misuse(lua, lua_tostring(lua, -1));
  if (status != 0 && lua_istable(lua, -1)) {
    lua_getfield(lua, -1, "err");
    if (lua_isnil(lua, -1)) {
      lua_pop(lua, 1);
    } else {
      lua_replace(lua, -2);
    }
  }
  lua_pushboolean(lua, status == 0);
  lua_insert(lua, 1);
  return lua_gettop(lua);
}

/// Upvalue: the script's handler. Lua runs no hooks inside the handler of an error that a hook has thrown, so the
/// handler of a stopped script could run for ever.
int guarded_handler(lua_State* lua) {
  if (LuaSession::of(lua).is_stopped()) return 1;
  if (lua_isstring(lua, 1) && mark_misuse(lua, lua_tostring(lua, 1))) return 1;
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, 1, 1);
  return 1;
}

int xpcall(lua_State* lua) {
  luaL_checkany(lua, 2);
  lua_settop(lua, 2);
  lua_pushcclosure(lua, guarded_handler, 1);
  lua_insert(lua, 1);
  const int status = lua_pcall(lua, 0, LUA_MULTRET, 1);
  lua_pushboolean(lua, status == 0);
  lua_replace(lua, 1);
  return lua_gettop(lua);
}

int unpack_table(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  const lua_Integer first = luaL_optinteger(lua, 2, 1);
  const lua_Integer last =
      lua_isnoneornil(lua, 3) ? static_cast<lua_Integer>(lua_objlen(lua, 1)) : luaL_checkinteger(lua, 3);
  if (first > last) return 0;
  lua_Integer count = 0;
  if (__builtin_sub_overflow(last, first, &count) || first < INT_MIN || last > INT_MAX || count >= INT_MAX ||
      !lua_checkstack(lua, static_cast<int>(count) + 1)) {
    return luaL_error(lua, "too many results to unpack");
  }
  LuaSession::of(lua).charge(static_cast<std::uint64_t>(count));
  for (lua_Integer i = first; i <= last; ++i) lua_rawgeti(lua, 1, static_cast<int>(i));
  return static_cast<int>(count) + 1;
}

/// In an exploration: a function whose comparisons ask (lua_questions.hpp). False: it cannot be had, or this is no Lua.
bool load_asking(lua_State* lua, std::string_view text, const char* chunk_name) {
  const std::optional<std::string> asking = with_questions(text, true);
  if (!asking) return false;
  const std::string maker = "local " + std::string(kQuestion) + " = ... return function(...) " + *asking + "\nend";
  if (luaL_loadbuffer(lua, maker.data(), maker.size(), chunk_name) != 0) {
    lua_pop(lua, 1);
    return false;
  }
  lua_pushcfunction(lua, answer_question);
  lua_call(lua, 1, 1);
  return true;
}

/// Text only. Lua would trust bytecode, and with it hand out its memory; a blank in front makes it read text.
int load_text(lua_State* lua, std::string text, const char* chunk_name) {
  LuaSession::of(lua).charge(text.size());
  if (text.starts_with(LUA_SIGNATURE[0])) text.insert(0, 1, ' ');
  if (LuaSession::of(lua).explores && load_asking(lua, text, chunk_name)) return 1;
  if (luaL_loadbuffer(lua, text.data(), text.size(), chunk_name) == 0) {
    LuaSession::of(lua).has_blind_part = LuaSession::of(lua).explores;
    return 1;
  }
  lua_pushnil(lua);
  lua_insert(lua, -2);
  return 2;
}

int loadstring(lua_State* lua) {
  std::size_t length = 0;
  const char* text = luaL_checklstring(lua, 1, &length);
  const char* name = luaL_optstring(lua, 2, text);
  LuaSession::of(lua).require_memory(length);
  return load_text(lua, std::string(text, length), name);
}

int load(lua_State* lua) {
  const char* name = luaL_optstring(lua, 2, "=(load)");
  luaL_checktype(lua, 1, LUA_TFUNCTION);
  std::string text;
  for (;;) {
    lua_pushvalue(lua, 1);
    lua_call(lua, 0, 1);
    if (lua_isnil(lua, -1)) break;
    std::size_t length = 0;
    const char* piece = lua_tolstring(lua, -1, &length);
    if (piece == nullptr) return luaL_error(lua, "reader function must return a string");
    if (length == 0) break;
    LuaSession::of(lua).require_memory(text.size() + length);
    text.append(piece, length);
    lua_pop(lua, 1);
  }
  return load_text(lua, std::move(text), name);
}

/// Memory depends on which scripts ran before, so a script gets to see none of it.
int collectgarbage(lua_State* lua) {
  constexpr const char* kOptions[] = {"stop", "restart", "collect", "count", "step", "setpause", "setstepmul", nullptr};
  const int option = luaL_checkoption(lua, 1, "collect", kOptions);
  if (option == 4) {
    lua_pushboolean(lua, 0);
  } else {
    lua_pushinteger(lua, 0);
  }
  return 1;
}

int gcinfo(lua_State* lua) {
  lua_pushinteger(lua, 0);
  return 1;
}

// --- Table.

int table_insert(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  if (is_read_only(lua, 1)) return refuse_write(lua);
  const lua_Integer first_free = static_cast<lua_Integer>(lua_objlen(lua, 1)) + 1;
  lua_Integer position = first_free;
  if (lua_gettop(lua) == 3) {
    position = static_cast<int>(luaL_checkinteger(lua, 2));
    for (lua_Integer i = std::max(first_free, position); i > position; --i) {
      LuaSession::of(lua).charge(1);
      lua_rawgeti(lua, 1, static_cast<int>(i) - 1);
      lua_rawseti(lua, 1, static_cast<int>(i));
    }
  } else if (lua_gettop(lua) != 2) {
    return luaL_error(lua, "wrong number of arguments to 'insert'");
  }
  lua_rawseti(lua, 1, static_cast<int>(position));
  return 0;
}

/// Upvalue: the script's comparison, or nil.
int counted_less(lua_State* lua) {
  LuaSession::of(lua).charge(1);
  if (lua_isnil(lua, lua_upvalueindex(1))) {
    lua_pushboolean(lua, lua_lessthan(lua, 1, 2));
    return 1;
  }
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, 2, 1);
  return 1;
}

/// Upvalue: Lua's own sort, which some inputs drive to quadratic time.
int table_sort(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  if (!lua_isnoneornil(lua, 2)) luaL_checktype(lua, 2, LUA_TFUNCTION);
  lua_settop(lua, 2);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_pushvalue(lua, 1);
  lua_pushvalue(lua, 2);
  lua_pushcclosure(lua, counted_less, 1);
  lua_call(lua, 2, 0);
  return 0;
}

int table_foreach(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  lua_settop(lua, 2);
  look_through(lua, 1);
  require_order(lua, 1);
  for (lua_pushnil(lua); lua_next(lua, 1) != 0;) {
    lua_pushvalue(lua, 2);
    lua_pushvalue(lua, -3);
    lua_pushvalue(lua, -3);
    lua_call(lua, 2, 1);
    if (!lua_isnil(lua, -1)) return 1;
    lua_pop(lua, 2);
  }
  return 0;
}

// --- String and math.

int string_rep(lua_State* lua) {
  std::size_t length = 0;
  const char* piece = luaL_checklstring(lua, 1, &length);
  const auto times = static_cast<int>(luaL_checkinteger(lua, 2));
  std::string out;
  if (length > 0 && times > 0) {
    const std::uint64_t total = std::uint64_t{length} * static_cast<std::uint64_t>(times);
    LuaSession::of(lua).require_memory(total);
    LuaSession::of(lua).charge(total / 1024);
    out.reserve(total);
    out.append(piece, length);
    while (out.size() < total) out.append(out.data(), std::min<std::size_t>(out.size(), total - out.size()));
  }
  lua_pushlstring(lua, out.data(), out.size());
  return 1;
}

/// The 48-bit generator of POSIX lrand48, which Redis carries along so that it is the same everywhere.
std::int64_t next_random(lua_State* lua) {
  std::uint64_t& state = LuaSession::of(lua).random_state;
  state = (state * 0x5deece66dULL + 0xb) & 0xffff'ffff'ffffULL;
  return static_cast<std::int64_t>(state >> 17);
}

/// Lua's numbers are floating point, and this is Lua's own arithmetic on them: each operation is one that IEEE 754
/// rounds correctly, and no product feeds a sum that a compiler could fuse with it, so every build agrees.
int math_random(lua_State* lua) {
  constexpr std::int64_t kRange = INT_MAX;
  const lua_Number r = static_cast<lua_Number>(next_random(lua) % kRange) / static_cast<lua_Number>(kRange);
  switch (lua_gettop(lua)) {
    case 0: lua_pushnumber(lua, r); return 1;
    case 1: {
      const auto high = static_cast<int>(luaL_checkinteger(lua, 1));
      luaL_argcheck(lua, 1 <= high, 1, "interval is empty");
      lua_pushnumber(lua, std::floor(r * high) + 1);
      return 1;
    }
    case 2: {
      const auto low = static_cast<int>(luaL_checkinteger(lua, 1)), high = static_cast<int>(luaL_checkinteger(lua, 2));
      luaL_argcheck(lua, low <= high, 2, "interval is empty");
      lua_pushnumber(lua, std::floor(r * (static_cast<lua_Number>(high) - low + 1)) + low);
      return 1;
    }
    default: return luaL_error(lua, "wrong number of arguments");
  }
}

int math_randomseed(lua_State* lua) {
  const auto seed = static_cast<std::uint32_t>(luaL_checkinteger(lua, 1));
  LuaSession::of(lua).random_state = std::uint64_t{seed} << 16 | 0x330e;
  return 0;
}

// --- Installation.

void open_library(lua_State* lua, const char* name, lua_CFunction open) {
  lua_pushcfunction(lua, open);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 0);
}

/// Replaces a function in the table on top by one that has the old one as its upvalue.
void wrap_function(lua_State* lua, const char* name, lua_CFunction function) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, function, 1);
  lua_setfield(lua, -2, name);
}

void protect_library(lua_State* lua, const char* name) {
  lua_getfield(lua, -1, name);
  make_read_only(lua);
  lua_setfield(lua, -2, name);
}

/// Methods of strings go through the protected library too: `("x"):rep(3)`.
void protect_string_metatable(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kStringMetatable));
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_remove(lua, -2);
  lua_getfield(lua, -3, "string");
  lua_setfield(lua, -2, "__index");
  make_read_only(lua);
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

}  // namespace

void open_plain_libraries(lua_State* lua) {
  open_library(lua, "", luaopen_base);
  open_library(lua, LUA_TABLIBNAME, luaopen_table);
  open_library(lua, LUA_STRLIBNAME, luaopen_string);
  open_library(lua, LUA_MATHLIBNAME, luaopen_math);
  lua_pushvalue(lua, LUA_GLOBALSINDEX);

  // Redis 7.0 has coroutine; here every coroutine would count its instructions anew.
  for (const char* name :
       {"print", "dofile", "loadfile", "getfenv", "setfenv", "newproxy", "module", "require", "coroutine"}) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
  }
  constexpr luaL_Reg kBase[] = {{"next", next},
                                {"rawget", rawget},
                                {"rawset", rawset},
                                {"getmetatable", getmetatable},
                                {"setmetatable", setmetatable},
                                {"tostring", tostring},
                                {"pcall", pcall},
                                {"xpcall", xpcall},
                                {"unpack", unpack_table},
                                {"loadstring", loadstring},
                                {"load", load},
                                {"collectgarbage", collectgarbage},
                                {"gcinfo", gcinfo},
                                {nullptr, nullptr}};
  luaL_register(lua, nullptr, kBase);
  lua_getfield(lua, -1, "next");
  lua_pushcclosure(lua, pairs, 1);
  lua_setfield(lua, -2, "pairs");

  lua_getfield(lua, -1, LUA_TABLIBNAME);
  wrap_function(lua, "sort", table_sort);
  constexpr luaL_Reg kTable[] = {{"insert", table_insert}, {"foreach", table_foreach}, {nullptr, nullptr}};
  luaL_register(lua, nullptr, kTable);
  lua_pop(lua, 1);

  lua_getfield(lua, -1, LUA_STRLIBNAME);
  constexpr luaL_Reg kString[] = {{"rep", string_rep}, {nullptr, nullptr}};
  luaL_register(lua, nullptr, kString);
  install_pattern_functions(lua);
  lua_pop(lua, 1);

  lua_getfield(lua, -1, LUA_MATHLIBNAME);
  constexpr luaL_Reg kMath[] = {{"random", math_random}, {"randomseed", math_randomseed}, {nullptr, nullptr}};
  luaL_register(lua, nullptr, kMath);
  lua_pop(lua, 1);

  install_timestamps(lua);
}

void protect_libraries(lua_State* lua, std::span<const char* const> names) {
  for (const char* name : names) protect_library(lua, name);
  protect_string_metatable(lua);
  forget_printed_objects(lua);
}

void open_safe_libraries(lua_State* lua) {
  open_plain_libraries(lua);
  install_json(lua);
  install_message_pack(lua);
  install_bit_operations(lua);
  constexpr const char* kLibraries[] = {LUA_TABLIBNAME, LUA_STRLIBNAME, LUA_MATHLIBNAME, "cjson", "cmsgpack", "bit"};
  protect_libraries(lua, kLibraries);
}

void install_globals(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kGlobalsMetatable));
  lua_newtable(lua);
  lua_pushcfunction(lua, refuse_unknown_global);
  lua_setfield(lua, -2, "__index");
  make_read_only(lua);
  lua_rawset(lua, LUA_REGISTRYINDEX);
  lua_newtable(lua);
  lua_pushcfunction(lua, refuse_unknown_global);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
  lua_pushvalue(lua, -1);
  make_read_only(lua);
  lua_pushvalue(lua, -1);
  lua_setfield(lua, -3, "_G");
  lua_replace(lua, LUA_GLOBALSINDEX);
  lua_pop(lua, 1);
}

void forget_printed_objects(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kPrintedObjects));
  lua_newtable(lua);
  lua_rawset(lua, LUA_REGISTRYINDEX);
  LuaSession::of(lua).printed_objects = 0;
}

}  // namespace lockstep::models::redis
