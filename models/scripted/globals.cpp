// The global names of lock scripts: what is there, and what is said of what is not.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/run.hpp"

namespace lockstep::models::scripted {
namespace {

int protect(lua_State* lua) {
  luaL_checkany(lua, 1);
  Run* run = Interpreter::of(lua).current;
  if (run == nullptr) fail(lua, "pcall is for acquire and release; the main part of a script only declares");
  if (!run->can_nest()) fail(lua, "pcall inside of pcall, more than 50 deep");
  run->request.kind = Request::Kind::protect;
  run->request.values = lua_gettop(lua);
  return lua_yield(lua, lua_gettop(lua));
}

int error_of(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (is_error(lua, 1)) {
    if (Run* run = Interpreter::of(lua).current; run != nullptr) run->note_handled();
    lua_getfield(lua, 1, "error");
  } else {
    lua_pushnil(lua);
  }
  return 1;
}

int refuse_random(lua_State* lua) {
  fail(lua,
       "there is no math.random: a pause of random length is c:sleep({ least, most }), a value that nobody else has is "
       "c:token()");
}

struct Instead {
  std::string_view name;
  std::string_view use;
};
constexpr std::array<Instead, 17> kInstead{{
    {"os", "the client's own clocks are c:now() and c:monotonic()"},
    {"io", "a lock has no files"},
    {"print", "a lock writes nothing: error(text) ends the attempt and is shown with its line"},
    {"require", "a script is one file"},
    {"module", "a script is one file"},
    {"dofile", "a script is one file"},
    {"loadfile", "a script is one file"},
    {"load", "a script is one file"},
    {"loadstring", "a script is one file"},
    {"coroutine", "c:spawn(f) runs something beside the caller"},
    {"xpcall", "use pcall"},
    {"socket", "commands go through c.redis"},
    {"redis", "commands go through c.redis: c.redis:get(key)"},
    {"KEYS", "that is for scripts of the server: c.redis:eval(script, keys, arguments)"},
    {"ARGV", "that is for scripts of the server: c.redis:eval(script, keys, arguments)"},
    {"_G", "there is none: keep things in local variables at the top, which live as long as the process"},
    {"collectgarbage", "memory is not the script's business"},
}};

int refuse_global(lua_State* lua) {
  const std::string name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
  for (const Instead& one : kInstead) {
    if (one.name == name) fail(lua, fmt::format("there is no {}: {}", name, one.use));
  }
  constexpr std::array<std::string_view, 15> kDeclared{
      "try_acquire", "call",       "parameters",     "claims",  "summary", "server",    "servers",    "mode",
      "background",  "subscribes", "blind_to_names", "acquire", "release", "documents", "repaired_by"};
  for (const std::string_view declared : kDeclared) {
    if (declared == name) {
      lua_pushnil(lua);
      return 1;
    }
  }
  fail(lua, fmt::format("there is no variable {}", name));
}

/// What a script may declare.
int declare(lua_State* lua) {
  const std::string name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
  constexpr std::array<std::string_view, 13> kNames{"server",     "acquire",    "release",       "try_acquire", "call",
                                                    "parameters", "claims",     "summary",       "servers",     "mode",
                                                    "background", "subscribes", "blind_to_names"};
  const bool is_known = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
  if (Interpreter::of(lua).current != nullptr)
    fail(lua, fmt::format(
                  "{} is assigned to and is no local variable: write `local {}`, here or at the top, where it lives as "
                  "long as the process",
                  name, name));
  if (!is_known)
    fail(lua, fmt::format("a script declares acquire, release, try_acquire, call, parameters, claims, summary, server, "
                          "servers, mode, "
                          "background, subscribes and blind_to_names; write `local {}`",
                          name));
  lua_settop(lua, 3);
  lua_rawset(lua, 1);
  return 0;
}

int refuse_unknown(lua_State* lua) {
  fail(lua,
       "a reply that never came is `unknown`: the command may have been carried out or not; compare with `unknown` "
       "before its value is used");
}

int print_unknown(lua_State* lua) {
  lua_pushliteral(lua, "unknown");
  return 1;
}

}  // namespace

void install_globals(lua_State* lua) {
  for (const Instead& one : kInstead) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, std::string(one.name).c_str());
  }
  for (const char* name : {"gcinfo", "_VERSION"}) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
  }
  constexpr luaL_Reg kGlobals[] = {{"pcall", protect}, {"error_of", error_of}, {nullptr, nullptr}};
  luaL_register(lua, nullptr, kGlobals);
  lua_getfield(lua, -1, LUA_MATHLIBNAME);
  for (const char* name : {"random", "randomseed"}) {
    lua_pushcfunction(lua, refuse_random);
    lua_setfield(lua, -2, name);
  }
  lua_pop(lua, 1);

  lua_newtable(lua);
  lua_newtable(lua);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  for (const char* event : {"__index", "__newindex", "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm",
                            "__concat", "__lt", "__le", "__call"}) {
    lua_pushcfunction(lua, refuse_unknown);
    lua_setfield(lua, -2, event);
  }
  lua_pushcfunction(lua, print_unknown);
  lua_setfield(lua, -2, "__tostring");
  lua_setmetatable(lua, -2);
  lua_setfield(lua, -2, "unknown");

  lua_newtable(lua);
  lua_pushcfunction(lua, refuse_global);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
}

void push_metatable_of_globals(lua_State* lua) {
  lua_newtable(lua);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pushvalue(lua, -2);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, declare);
  lua_setfield(lua, -2, "__newindex");
}

}  // namespace lockstep::models::scripted
