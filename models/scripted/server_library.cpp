#include "models/scripted/server_library.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "models/redis/script/lua/lua_timestamps.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"

namespace lockstep::models::scripted {
namespace {

constexpr lua_Number kExact = 9007199254740992.0;  // 2^53

}  // namespace

Run& server_run(lua_State* lua, const char* example) {
  const std::size_t number = number_of(lua, Kind::server, example);
  Run& run = running(lua);
  const Machine::Context* context = run.machine().context_at(number);
  if (context == nullptr || context->client != &run.client())
    fail(lua, "this c belongs to another thread: use the one that the function was called with");
  return run;
}

int wait_for_server(lua_State* lua, Run& run, sim::Task<int> work) {
  run.request.work = std::move(work);
  return wait_for(lua, run, Request::Kind::server);
}

void push_object_of_run(Run& run, std::shared_ptr<void> object) {
  const std::size_t number = ++run.machine().objects_made;
  run.objects.emplace_back(number, std::move(object));
  lua_newtable(run.lua());
  push_object(run.lua(), run.machine().interpreter(), Kind::object, number);
}

std::shared_ptr<void> object_of_run(lua_State* lua, const char* example) {
  const std::size_t number = number_of(lua, Kind::object, example);
  for (const auto& [known, object] : running(lua).objects) {
    if (known == number) return object;
  }
  fail(lua, "this is another attempt's: it lives until the attempt ends in which it was made");
}

void push_error(lua_State* lua, const Interpreter& interpreter, std::string_view text) {
  lua_newtable(lua);
  push_text(lua, text);
  lua_setfield(lua, -2, "error");
  interpreter.push_metatable(lua, Kind::error);
  lua_setmetatable(lua, -2);
}

void push_text(lua_State* lua, std::string_view text) { lua_pushlstring(lua, text.data(), text.size()); }

void push_stored(lua_State* lua, const Value& value) { redis::push_value(lua, value); }

void push_integer(lua_State* lua, std::int64_t number) { lua_pushnumber(lua, static_cast<lua_Number>(number)); }

void set_integer(lua_State* lua, const char* field, std::int64_t number) {
  push_integer(lua, number);
  lua_setfield(lua, -2, field);
}

std::string text_at(lua_State* lua, int index, const What& what) {
  const Value value = value_at(lua, index, what);
  if (const auto bytes = value.bytes()) return std::string(*bytes);
  const std::optional<std::int64_t> number = value.timestamp() == nullptr ? value.integer() : std::nullopt;
  if (number) return std::to_string(*number);
  fail(lua, fmt::format("{} is a time, which `check` gives no digits; expected a text or a number", what.text()));
}

std::int64_t integer_at(lua_State* lua, int index, const What& what) {
  const lua_Number number = lua_type(lua, index) == LUA_TNUMBER ? lua_tonumber(lua, index) : 0.5;
  if (number != std::trunc(number) || std::fabs(number) > kExact)
    fail(lua, fmt::format("{} is {}; expected a whole number", what.text(), luaL_typename(lua, index)));
  return static_cast<std::int64_t>(number);
}

Options::Options(lua_State* lua, int index, std::string_view call) : lua_(lua), index_(index), call_(call) {
  if (lua_isnoneornil(lua, index)) {
    index_ = 0;
  } else if (!lua_istable(lua, index) || Interpreter::of(lua).is_unknown(lua, index)) {
    fail(lua, fmt::format("argument {} of {} is a {}; expected a table of options", index - 1, call_,
                          luaL_typename(lua, index)));
  }
}

bool Options::find(const char* name) {
  known_ += (known_.empty() ? "" : ", ") + std::string(name);
  if (index_ == 0) return false;
  lua_pushstring(lua_, name);
  lua_rawget(lua_, index_);
  if (lua_isnil(lua_, -1)) {
    lua_pop(lua_, 1);
    return false;
  }
  ++found_;
  return true;
}

bool Options::flag(const char* name) {
  if (!find(name)) return false;
  if (!lua_isboolean(lua_, -1)) fail(lua_, fmt::format("{} of {}: expected true or false", name, call_));
  const bool value = lua_toboolean(lua_, -1) != 0;
  lua_pop(lua_, 1);
  return value;
}

std::optional<std::string> Options::text(const char* name) {
  if (!find(name)) return std::nullopt;
  std::string value = text_at(lua_, lua_gettop(lua_), name);
  lua_pop(lua_, 1);
  return value;
}

std::optional<std::int64_t> Options::integer(const char* name) {
  if (!find(name)) return std::nullopt;
  const std::int64_t value = integer_at(lua_, lua_gettop(lua_), name);
  lua_pop(lua_, 1);
  return value;
}

std::optional<sim::Duration> Options::length(const char* name) {
  if (!find(name)) return std::nullopt;
  const sim::Duration value = length_at(lua_, lua_gettop(lua_), name);
  lua_pop(lua_, 1);
  return value;
}

Patience* Options::patience(const char* name) {
  if (!find(name)) return nullptr;
  Patience* value = running(lua_).patience_at(object_number(lua_, lua_gettop(lua_), Kind::patience));
  if (value == nullptr)
    fail(lua_, "expected what c:patience(length) has made in this attempt, and has not been cancelled");
  lua_pop(lua_, 1);
  return value;
}

void Options::end() {
  if (index_ == 0) return;
  int all = 0;
  for (lua_pushnil(lua_); lua_next(lua_, index_) != 0; lua_pop(lua_, 1)) ++all;
  if (all != found_) fail(lua_, fmt::format("{} has the options {}", call_, known_));
}

HowLong how_long_at(lua_State* lua, int index, std::string_view call) {
  HowLong how;
  if (lua_isnoneornil(lua, index)) return how;
  if (!lua_istable(lua, index)) {
    how.length = length_at(lua, index, "how long to wait");
    return how;
  }
  Options options(lua, index, call);
  how.length = options.length("length");
  how.patience = options.patience("patience");
  options.end();
  if (how.length && how.patience != nullptr) fail(lua, fmt::format("{} has a length or a patience, not both", call));
  return how;
}

}  // namespace lockstep::models::scripted
