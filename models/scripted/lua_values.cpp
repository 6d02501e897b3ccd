#include "models/scripted/lua_values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "models/redis/script/lua/lua_symbols.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"

namespace lockstep::models::scripted {
namespace {

using redis::LuaSymbol;
using redis::Reply;
using sim::Duration;

constexpr lua_Number kNanoseconds = 1e6;  // in a millisecond
constexpr lua_Number kLongest = 1e14;     // milliseconds: more than `Duration::forever()`

std::string kind_of(lua_State* lua, int index) {
  if (const LuaSymbol* symbol = redis::symbol_at(lua, index))
    return symbol->kind == LuaSymbol::Kind::number ? "a time" : "a time as text";
  if (Interpreter::of(lua).is_unknown(lua, index)) return "unknown, the reply that never came";
  switch (lua_type(lua, index)) {
    case LUA_TNONE:
    case LUA_TNIL: return "nil";
    case LUA_TBOOLEAN: return lua_toboolean(lua, index) != 0 ? "true" : "false";
    case LUA_TNUMBER: return fmt::format("the number {}", lua_tonumber(lua, index));
    case LUA_TSTRING: return fmt::format("the text \"{:.40}\"", std::string(lua_tostring(lua, index)));
    default: return fmt::format("a {}", luaL_typename(lua, index));
  }
}

std::optional<Duration> length_in(lua_State* lua, int index) {
  if (lua_type(lua, index) == LUA_TNUMBER) {
    const lua_Number ms = lua_tonumber(lua, index);
    if (!(std::fabs(ms) < kLongest)) return std::nullopt;
    return Duration::nanoseconds(static_cast<std::int64_t>(std::llround(ms * kNanoseconds)));
  }
  if (lua_type(lua, index) == LUA_TSTRING) return sim::parse_duration(lua_tostring(lua, index));
  return std::nullopt;
}

/// A number as redis.call prints it: up to 17 digits, so that it reads back as the same number.
Value number_in(lua_Number number) {
  constexpr lua_Number kExact = 1e15;
  if (std::fabs(number) < kExact && number == std::trunc(number)) return Value(static_cast<std::int64_t>(number));
  std::array<char, 32> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "%.17g", number);
  return Value(std::string_view(digits.data(), static_cast<std::size_t>(length)));
}

/// What may stand behind a SET: its options, in the order in which they are sent.
void add_options(lua_State* lua, int table, redis::Command& command) {
  constexpr std::array<std::string_view, 7> kFlags{"NX", "XX", "GET", "KEEPTTL", "GT", "LT", "CH"};
  constexpr std::array<std::string_view, 4> kValues{"EX", "PX", "EXAT", "PXAT"};
  std::array<bool, kFlags.size()> flags{};
  std::array<std::optional<Value>, kValues.size()> values;
  const auto place = [](const auto& names, std::string_view name) {
    const auto is_it = [&](std::string_view one) {
      return one.size() == name.size() && std::equal(one.begin(), one.end(), name.begin(), [](char a, char b) {
               return a == std::toupper(static_cast<unsigned char>(b));
             });
    };
    return static_cast<std::size_t>(std::find_if(names.begin(), names.end(), is_it) - names.begin());
  };
  for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
    const std::string_view name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
    const std::size_t flag = place(kFlags, name), option = place(kValues, name);
    if (flag < kFlags.size()) {
      flags[flag] = lua_toboolean(lua, -1) != 0;
    } else if (option < kValues.size()) {
      values[option] = value_at(lua, lua_gettop(lua), kValues[option]);
    } else {
      fail(
          lua,
          "a table behind a command has its options: { nx = true, px = 30000 }; it knows nx, xx, get, keepttl, gt, lt, "
          "ch, ex, px, exat and pxat");
    }
  }
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) command.push_back(Value::lasting(kFlags[i]));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    command.push_back(Value::lasting(kValues[i]));
    command.push_back(*std::move(values[i]));
  }
}

}  // namespace

void fail(lua_State* lua, std::string_view message) {
  luaL_error(lua, "%s", std::string(message).c_str());
  std::abort();  // luaL_error does not return
}

std::string What::text() const {
  return number == 0 ? std::string(format) : fmt::format(fmt::runtime(format), number, name);
}

void push_reply(lua_State* lua, const Interpreter& interpreter, const Reply& reply) {
  lua_checkstack(lua, 8);
  if (reply.is_unknown()) {
    interpreter.push_unknown(lua);
  } else if (reply.is_nil()) {
    lua_pushnil(lua);
  } else if (reply.is_time_left()) {
    redis::push_time_left(lua, reply);
  } else if (reply.is_integer()) {
    lua_pushnumber(lua, static_cast<lua_Number>(reply.integer()));
  } else if (reply.is_bulk()) {
    redis::push_value(lua, reply.value());
  } else if (reply.is_array() || reply.is_several()) {
    const std::vector<Reply>& items = reply.items();
    lua_createtable(lua, static_cast<int>(items.size()), 1);
    for (std::size_t i = 0; i < items.size(); ++i) {
      push_reply(lua, interpreter, items[i]);
      lua_rawseti(lua, -2, static_cast<int>(i) + 1);
    }
    lua_pushnumber(lua, static_cast<lua_Number>(items.size()));
    lua_setfield(lua, -2, "n");
  } else if (reply.is_error()) {
    lua_newtable(lua);
    lua_pushlstring(lua, reply.text().data(), reply.text().size());
    lua_setfield(lua, -2, "error");
    interpreter.push_metatable(lua, Kind::error);
    lua_setmetatable(lua, -2);
  } else {
    lua_pushlstring(lua, reply.text().data(), reply.text().size());
  }
}

void push_moment(lua_State* lua, sim::Instant instant, Duration unit) {
  redis::push_symbolic_number(lua, redis::SymbolicNumber::of({instant, unit}));
}

void push_milliseconds(lua_State* lua, Duration length) {
  lua_pushnumber(lua, static_cast<lua_Number>(length.count_ns()) / kNanoseconds);
}

Value value_at(lua_State* lua, int index, const What& what) {
  if (lua_type(lua, index) == LUA_TNUMBER) return number_in(lua_tonumber(lua, index));
  if (lua_type(lua, index) == LUA_TSTRING) {
    std::size_t size = 0;
    const char* bytes = lua_tolstring(lua, index, &size);
    return Value(std::string_view(bytes, size));
  }
  if (std::optional<Value> time = redis::symbolic_value_at(lua, index)) return *std::move(time);
  fail(lua, fmt::format("{} is {}; expected a text or a number", what.text(), kind_of(lua, index)));
}

Duration length_at(lua_State* lua, int index, const What& what) {
  if (const std::optional<Duration> length = length_in(lua, index)) return *length;
  fail(lua, fmt::format("{} is {}; expected milliseconds, or a text with a unit such as \"1.5s\"", what.text(),
                        kind_of(lua, index)));
}

sim::DurationRange lengths_at(lua_State* lua, int index, const What& what) {
  if (!lua_istable(lua, index) || Interpreter::of(lua).is_unknown(lua, index))
    return sim::DurationRange::exactly(length_at(lua, index, what));
  lua_rawgeti(lua, index, 1);
  const Duration least = length_at(lua, -1, what);
  lua_pop(lua, 1);
  lua_rawgeti(lua, index, 2);
  const Duration most = length_at(lua, -1, what);
  lua_pop(lua, 1);
  if (most < least) fail(lua, fmt::format("{}: the first of {{ least, most }} is larger than the second", what.text()));
  return {least, most};
}

sim::Instant moment_at(lua_State* lua, int index, const What& what) {
  const LuaSymbol* symbol = redis::symbol_at(lua, index);
  if (symbol != nullptr && !redis::is_rest(symbol)) {
    if (const auto time = redis::number_of(lua, *symbol).timestamp()) return time->instant;
  }
  fail(lua, fmt::format("{} is {}; expected a time such as c:now() + 50", what.text(),
                        symbol != nullptr ? "a length of time, or rounded" : kind_of(lua, index)));
}

std::optional<Reply> time_left_at(lua_State* lua, int index) {
  if (lua_type(lua, index) == LUA_TNUMBER)
    return Reply::integer(static_cast<std::int64_t>(std::floor(lua_tonumber(lua, index))));
  if (!redis::is_symbolic(lua, index)) return std::nullopt;
  auto reply = redis::symbolic_reply_at(lua, index);
  Reply* left = std::get_if<Reply>(&reply);
  if (left == nullptr || !left->is_time_left()) return std::nullopt;
  return std::move(*left);
}

void add_arguments(lua_State* lua, int first, redis::Command& command) {
  const int last = lua_gettop(lua);
  command.reserve(command.size() + static_cast<std::size_t>(std::max(last - first + 1, 0)));
  for (int i = first; i <= last; ++i) {
    if (i == last && lua_istable(lua, i) && !Interpreter::of(lua).is_unknown(lua, i)) {
      add_options(lua, i, command);
    } else {
      command.push_back(value_at(lua, i, What("argument {} of {}", i - first + 1, command[0].bytes().value_or(""))));
    }
  }
}

redis::Command command_at(lua_State* lua, int index) {
  if (!lua_istable(lua, index)) fail(lua, "expected a command such as { \"SET\", key, value }");
  redis::Command command;
  const auto count = static_cast<int>(lua_objlen(lua, index));
  if (count == 0 || count > 10'000) fail(lua, "expected a command such as { \"SET\", key, value }");
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(lua, index, i);
    command.push_back(value_at(lua, lua_gettop(lua), What("part {} of a command", i, "")));
    lua_pop(lua, 1);
  }
  return command;
}

void push_field(lua_State* lua, int table, const char* field) {
  lua_pushstring(lua, field);
  lua_rawget(lua, table);
}

std::optional<sim::Instant> moment_in(lua_State* lua, int table, const char* field, const Complain& complain,
                                      const std::string& file) {
  push_field(lua, table, field);
  std::optional<sim::Instant> moment;
  if (!lua_isnil(lua, -1)) {
    const redis::LuaSymbol* symbol = redis::symbol_at(lua, -1);
    if (symbol != nullptr && symbol->kind == redis::LuaSymbol::Kind::number) {
      if (const auto time = symbol->number.timestamp()) moment = time->instant;
    }
    if (!moment)
      complain(fmt::format("{}: {} of a hold is no time such as c:now() + 1000, and is left out", file, field));
  }
  lua_pop(lua, 1);
  return moment;
}

}  // namespace lockstep::models::scripted
