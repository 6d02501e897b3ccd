#include "models/redis/script/lua/lua_symbols.hpp"

#include <new>
#include <string>

namespace lockstep::models::redis {
namespace {

using sim::Duration;
using sim::Instant;
using SymbolKind = LuaSymbol::Kind;

// Keys of the registry that no script can name: addresses of our own.
const char kMetatable = 0;
/// What a symbol consists of -> the symbol: one object for one instant, so that tables find it again.
const char kSeen = 0;

/// The line of the script that is being executed, for its author.
std::string line_of(lua_State* lua) {
  lua_Debug at;
  for (int level = 0; lua_getstack(lua, level, &at) == 1; ++level) {
    if (lua_getinfo(lua, "Sl", &at) != 0 && at.currentline > 0) return "line " + std::to_string(at.currentline) + " ";
  }
  return "it ";
}

/// A timestamp as it is written, or a number that is one.
void push_named(lua_State* lua, const LuaSymbol& symbol, Instant instant, Duration unit, std::string_view more) {
  // Where threads live as long as a world, nothing says when to forget: there a time is no key of a table.
  if (LuaSession::of(lua).keeps_times) return push_symbol(lua, symbol);
  luaL_checkstack(lua, 6, "too many values");
  const std::string name = std::to_string(static_cast<int>(symbol.kind)) + " " + std::to_string(instant.anchor()) +
                           " " + std::to_string(instant.offset().count_ns()) + " " + std::to_string(unit.count_ns()) +
                           std::string(more);
  push_own(lua, kSeen);
  lua_pushlstring(lua, name.data(), name.size());
  lua_rawget(lua, -2);
  if (lua_isnil(lua, -1)) {
    lua_pop(lua, 1);
    push_symbol(lua, symbol);
    lua_pushlstring(lua, name.data(), name.size());
    lua_pushvalue(lua, -2);
    lua_rawset(lua, -4);
  }
  lua_remove(lua, -2);
}

bool is_less(lua_State* lua, const SymbolicNumber& a, const SymbolicNumber& b) {
  // A server's script has the digits of its clock in a run. A script of ours has instants there, too.
  const bool as_printed = !LuaSession::of(lua).keeps_times;
  return known(lua,
               ask_world(lua, [&](sim::World& world) { return SymbolicNumber::is_less(a, b, world, as_printed); }));
}

}  // namespace

void push_own(lua_State* lua, const char& key) {
  lua_pushlightuserdata(lua, const_cast<char*>(&key));
  lua_rawget(lua, LUA_REGISTRYINDEX);
}

const LuaSymbol* symbol_at(lua_State* lua, int index) {
  // Scripts have no other userdata: the sandbox has neither files nor newproxy.
  return lua_type(lua, index) == LUA_TUSERDATA ? static_cast<const LuaSymbol*>(lua_touserdata(lua, index)) : nullptr;
}

void push_symbol(lua_State* lua, const LuaSymbol& symbol) {
  LuaSession::of(lua).has_met_symbols = true;
  luaL_checkstack(lua, 6, "too many values");
  new (lua_newuserdata(lua, sizeof(LuaSymbol))) LuaSymbol(symbol);
  push_own(lua, kMetatable);
  lua_setmetatable(lua, -2);
}

void push_text(lua_State* lua, Timestamp time) {
  LuaSymbol symbol;
  symbol.time = time;
  push_named(lua, symbol, time.instant, time.unit, "");
}

void push_symbolic_number(lua_State* lua, const SymbolicNumber& number, Duration longest) {
  const bool is_kept = LuaSession::of(lua).keeps_times && number.timestamp().has_value();
  if (const std::optional<Number> known = number.constant(); known && !is_kept) {
    lua_pushnumber(lua, *known);
    return;
  }
  LuaSymbol symbol;
  symbol.kind = SymbolKind::number;
  symbol.number = number;
  symbol.longest = longest;
  if (number.timestamp()) {
    push_named(lua, symbol, number.plus(), number.unit(), number.is_rounded_length() ? " down" : "");
    return;
  }
  push_symbol(lua, symbol);
}

/// What Lua would make of a text in arithmetic is what it makes of it as a number.
SymbolicNumber number_of(lua_State* lua, const LuaSymbol& symbol) {
  if (symbol.kind == SymbolKind::rest_of_second) {
    stop_for_digits(lua, "uses TIME's microseconds without its seconds: t[1] * 1000 + t[2] / 1000 is the time");
  }
  return symbol.kind == SymbolKind::number ? symbol.number : SymbolicNumber::of(symbol.time);
}

bool is_rest(const LuaSymbol* symbol) { return symbol != nullptr && symbol->kind == SymbolKind::rest_of_second; }

bool known(lua_State* lua, std::optional<bool> answer) {
  if (!answer) stop_for_digits(lua, "compares two of them that have no instant in common");
  return *answer;
}

bool are_equal(lua_State* lua, const LuaSymbol& a, const LuaSymbol& b) {
  if (is_rest(&a) || is_rest(&b)) stop_for_digits(lua, "compares TIME's microseconds without its seconds");
  // A string is never equal to a number, and the same moment in other units has other digits.
  if (a.kind != b.kind) return false;
  if (a.kind == SymbolKind::number) {
    if (a.number == b.number) return true;
    return !is_less(lua, a.number, b.number) && !is_less(lua, b.number, a.number);
  }
  const Instant x = a.time.instant, y = b.time.instant;
  if (a.time.unit != b.time.unit) return false;
  return ask_world(lua, [&](sim::World& world) { return world.prints_alike(x, y, a.time.unit); });
}

/// Two symbols by `<`.
bool is_before(lua_State* lua, const LuaSymbol& a, const LuaSymbol& b) {
  if (a.kind == SymbolKind::text && b.kind == SymbolKind::text) {
    stop_for_digits(lua, "compares two times as strings, digit by digit: put tonumber around both sides");
  }
  if (a.kind == SymbolKind::text || b.kind == SymbolKind::text)
    luaL_error(lua, "attempt to compare number with string");
  return is_less(lua, number_of(lua, a), number_of(lua, b));
}

void stop_for_digits(lua_State* lua, std::string_view what) {
  LuaSession::of(lua).stop(std::string(kNeedsDigits) + ": " + line_of(lua) + std::string(what));
}

void set_methods_of_symbols(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kMetatable));
  lua_insert(lua, -2);
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

void forget_symbols(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kSeen));
  lua_newtable(lua);
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

}  // namespace lockstep::models::redis
