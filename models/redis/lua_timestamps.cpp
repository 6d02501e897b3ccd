#include "models/redis/lua_timestamps.hpp"

#include <cmath>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>

#include "models/redis/lua_session.hpp"

namespace lockstep::models::redis {
namespace {

enum class Kind : std::uint8_t { text, number, time_left };

struct Symbol {
  Kind kind = Kind::text;
  Timestamp time;
  TimeLeft left;
};
// Lua frees it without asking.
static_assert(std::is_trivially_destructible_v<Symbol>);

// Keys of the registry that no script can name: addresses of our own.
const char kMetatable = 0;
const char kSeen =
    0;  // what a symbol consists of -> the symbol: one object for one instant, so that tables find it again

void push_own(lua_State* lua, const char& key) {
  lua_pushlightuserdata(lua, const_cast<char*>(&key));
  lua_rawget(lua, LUA_REGISTRYINDEX);
}

const Symbol* symbol_at(lua_State* lua, int index) {
  // Scripts have no other userdata: the sandbox has neither files nor newproxy.
  return lua_type(lua, index) == LUA_TUSERDATA ? static_cast<const Symbol*>(lua_touserdata(lua, index)) : nullptr;
}

void push_new(lua_State* lua, const Symbol& symbol) {
  new (lua_newuserdata(lua, sizeof(Symbol))) Symbol(symbol);
  push_own(lua, kMetatable);
  lua_setmetatable(lua, -2);
}

void meet(lua_State* lua) {
  LuaSession::of(lua).has_met_symbols = true;
  luaL_checkstack(lua, 6, "too many values");
}

void push_timestamp(lua_State* lua, Kind kind, Timestamp time) {
  meet(lua);
  const std::string name = std::to_string(static_cast<int>(kind)) + " " + std::to_string(time.instant.anchor()) + " " +
                           std::to_string(time.instant.offset().count_ns()) + " " +
                           std::to_string(time.unit.count_ns());
  push_own(lua, kSeen);
  lua_pushlstring(lua, name.data(), name.size());
  lua_rawget(lua, -2);
  if (lua_isnil(lua, -1)) {
    lua_pop(lua, 1);
    Symbol symbol;
    symbol.kind = kind;
    symbol.time = time;
    push_new(lua, symbol);
    lua_pushlstring(lua, name.data(), name.size());
    lua_pushvalue(lua, -2);
    lua_rawset(lua, -4);
  }
  lua_remove(lua, -2);
}

[[noreturn]] void stop(lua_State* lua, std::string_view what) {
  LuaSession::of(lua).stop("script met a symbolic timestamp, and " + std::string(what));
}

/// Lua catches every exception. The world's own goes on when the script has ended, which it does at once.
bool is_at_or_after(lua_State* lua, sim::Instant a, sim::Instant b) {
  LuaSession& session = LuaSession::of(lua);
  const sim::World* world = session.host->world();
  if (world == nullptr) stop(lua, "there is no world to ask how it compares");
  try {
    return world->is_at_or_after(a, b);
  } catch (...) {
    session.host_failure = std::current_exception();
  }
  session.stop("the server failed");
}

// --- Comparisons. Lua calls them for two symbols alone.

int equal(lua_State* lua) {
  const Symbol *a = symbol_at(lua, 1), *b = symbol_at(lua, 2);
  if (a->kind == Kind::time_left || b->kind == Kind::time_left) {
    stop(lua, "how much time is left has no number to compare");
  }
  // A string is never equal to a number, and the same moment in other units has other digits.
  const bool comparable = a->kind == b->kind && a->time.unit == b->time.unit;
  const sim::Instant x = a->time.instant, y = b->time.instant;
  lua_pushboolean(lua, comparable && is_at_or_after(lua, x, y) && is_at_or_after(lua, y, x));
  return 1;
}

/// Whether the second is at or after the first, or the first at or after the second.
bool ordered(lua_State* lua, int later, int earlier) {
  const Symbol *a = symbol_at(lua, later), *b = symbol_at(lua, earlier);
  if (a->kind == Kind::time_left || b->kind == Kind::time_left) {
    stop(lua, "how much time is left has no number to compare");
  }
  if (a->kind != b->kind) luaL_error(lua, "attempt to compare number with string");
  if (a->kind == Kind::text) {
    stop(lua, "compares it as a string, digit by digit: put tonumber around both sides");
  }
  if (a->time.unit != b->time.unit) stop(lua, "compares it with one in another unit");
  return is_at_or_after(lua, a->time.instant, b->time.instant);
}

int less(lua_State* lua) {
  lua_pushboolean(lua, !ordered(lua, 1, 2));
  return 1;
}

int less_or_equal(lua_State* lua) {
  lua_pushboolean(lua, ordered(lua, 2, 1));
  return 1;
}

// --- Arithmetic.

/// A whole number, not so large that an instant would overflow. Stops the script for anything else.
std::int64_t whole_number_at(lua_State* lua, int index, sim::Duration unit) {
  const lua_Number number = lua_tonumber(lua, index);
  const lua_Number most =
      static_cast<lua_Number>(sim::Duration::forever().count_ns()) / static_cast<lua_Number>(unit.count_ns());
  if (!lua_isnumber(lua, index) || number != std::trunc(number) || std::fabs(number) > most) {
    stop(lua, "adds to it, or multiplies it with, something that is no whole number of its units within ten years");
  }
  return static_cast<std::int64_t>(number);
}

const Symbol& operand(lua_State* lua, int index) {
  const Symbol& symbol = *symbol_at(lua, index);
  if (symbol.kind == Kind::time_left) {
    stop(lua, "how much time is left has no number to calculate with: it can be returned, and compared with -1 and -2");
  }
  return symbol;
}

int add(lua_State* lua) {
  if (symbol_at(lua, 1) != nullptr && symbol_at(lua, 2) != nullptr) stop(lua, "adds it to another one");
  const int which = symbol_at(lua, 1) != nullptr ? 1 : 2;
  const Timestamp time = operand(lua, which).time;
  const std::int64_t count = whole_number_at(lua, 3 - which, time.unit);
  push_timestamp(lua, Kind::number, {time.instant + time.unit * count, time.unit});
  return 1;
}

int subtract(lua_State* lua) {
  if (symbol_at(lua, 1) == nullptr) stop(lua, "takes it away from a number");
  const Timestamp time = operand(lua, 1).time;
  if (symbol_at(lua, 2) == nullptr) {
    const std::int64_t count = whole_number_at(lua, 2, time.unit);
    push_timestamp(lua, Kind::number, {time.instant - time.unit * count, time.unit});
    return 1;
  }
  const Timestamp other = operand(lua, 2).time;
  const std::int64_t difference = (time.instant.offset() - other.instant.offset()).count_ns();
  if (time.instant.anchor() != other.instant.anchor() || time.unit != other.unit ||
      difference % time.unit.count_ns() != 0) {
    stop(lua, "takes one away from another, which has no number: compare a with b + length, not a - b with length");
  }
  lua_pushnumber(lua, static_cast<lua_Number>(difference / time.unit.count_ns()));
  return 1;
}

int multiply(lua_State* lua) {
  const int which = symbol_at(lua, 1) != nullptr ? 1 : 2;
  if (symbol_at(lua, 3 - which) != nullptr) stop(lua, "multiplies it with another one");
  const Timestamp time = operand(lua, which).time;
  const std::int64_t factor = whole_number_at(lua, 3 - which, sim::Duration::nanoseconds(1));
  if (factor < 1 || time.unit.count_ns() % factor != 0) stop(lua, "multiplies it with what is no change of its unit");
  push_timestamp(lua, Kind::number, {time.instant, time.unit / factor});
  return 1;
}

int divide(lua_State* lua) {
  if (symbol_at(lua, 1) == nullptr || symbol_at(lua, 2) != nullptr) stop(lua, "divides by it");
  const Timestamp time = operand(lua, 1).time;
  const std::int64_t divisor = whole_number_at(lua, 2, time.unit);
  if (divisor < 1) stop(lua, "divides it by what is no change of its unit");
  push_timestamp(lua, Kind::number, {time.instant, time.unit * divisor});
  return 1;
}

int refuse_digits(lua_State* lua) { stop(lua, "needs its digits, which an exploration does not have"); }

// --- Functions that look at a value. The upvalue is Lua's own.

/// In this frame, so that its errors name the function as the script called it, and the script's line.
int call_original(lua_State* lua) { return lua_tocfunction(lua, lua_upvalueindex(1))(lua); }

int type(lua_State* lua) {
  const Symbol* symbol = symbol_at(lua, 1);
  if (symbol == nullptr) return call_original(lua);
  lua_pushstring(lua, symbol->kind == Kind::text ? "string" : "number");
  return 1;
}

int to_number(lua_State* lua) {
  const Symbol* symbol = symbol_at(lua, 1);
  if (symbol == nullptr) return call_original(lua);
  if (luaL_optinteger(lua, 2, 10) != 10) stop(lua, "reads its digits to another base");
  if (symbol->kind == Kind::text) {
    push_timestamp(lua, Kind::number, symbol->time);
  } else {
    lua_pushvalue(lua, 1);
  }
  return 1;
}

int to_string(lua_State* lua) {
  const Symbol* symbol = symbol_at(lua, 1);
  if (symbol == nullptr) return call_original(lua);
  push_timestamp(lua, Kind::text, operand(lua, 1).time);
  return 1;
}

/// An instant that has no digits cannot be rounded; it stays what it is, as in all of this model.
int floor(lua_State* lua) {
  if (symbol_at(lua, 1) == nullptr) return call_original(lua);
  push_timestamp(lua, Kind::number, operand(lua, 1).time);
  return 1;
}

int raw_equal(lua_State* lua) {
  if (symbol_at(lua, 1) != nullptr && symbol_at(lua, 2) != nullptr) return equal(lua);
  return call_original(lua);
}

void wrap(lua_State* lua, const char* name, lua_CFunction function) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, function, 1);
  lua_setfield(lua, -2, name);
}

}  // namespace

void push_value(lua_State* lua, const Value& value) {
  if (const Timestamp* time = value.timestamp(); time != nullptr && time->instant.anchor() != 0) {
    push_timestamp(lua, Kind::text, *time);
    return;
  }
  std::string scratch;
  const std::string_view bytes = value.view(scratch);
  lua_pushlstring(lua, bytes.data(), bytes.size());
}

void push_time_left(lua_State* lua, const Reply& reply) {
  meet(lua);
  Symbol symbol;
  symbol.kind = Kind::time_left;
  symbol.left = reply.remaining();
  push_new(lua, symbol);
}

bool is_symbolic(lua_State* lua, int index) { return symbol_at(lua, index) != nullptr; }

std::optional<Value> symbolic_value_at(lua_State* lua, int index) {
  if (symbol_at(lua, index) == nullptr) return std::nullopt;
  return Value(operand(lua, index).time);
}

std::variant<Reply, std::string_view> symbolic_reply_at(lua_State* lua, int index) {
  const Symbol& symbol = *symbol_at(lua, index);
  switch (symbol.kind) {
    case Kind::text: return Reply::bulk(symbol.time);
    case Kind::time_left: return Reply::time_left(symbol.left);
    case Kind::number: break;
  }
  return "script returned a symbolic timestamp as a number, which an integer reply cannot hold: put tostring around it";
}

bool mark_misuse(lua_State* lua, std::string_view error) {
  LuaSession& session = LuaSession::of(lua);
  if (session.is_stopped()) return true;
  if (!session.has_met_symbols || error.find("userdata") == std::string_view::npos) return false;
  session.mark_stopped("script met a symbolic timestamp, and uses it in a way that has an answer only with digits (" +
                       std::string(error) +
                       "): compare it with another timestamp, and a length only by adding it to one of them");
  return true;
}

void explain_misuse(lua_State* lua, std::string_view error) {
  if (mark_misuse(lua, error)) luaL_error(lua, "%s", LuaSession::of(lua).stopped()->c_str());
}

void install_timestamps(lua_State* lua) {
  wrap(lua, "type", type);
  wrap(lua, "tonumber", to_number);
  wrap(lua, "tostring", to_string);
  wrap(lua, "rawequal", raw_equal);
  lua_getfield(lua, -1, LUA_MATHLIBNAME);
  wrap(lua, "floor", floor);
  lua_pop(lua, 1);

  lua_pushlightuserdata(lua, const_cast<char*>(&kMetatable));
  lua_newtable(lua);
  constexpr luaL_Reg kMethods[] = {{"__eq", equal},
                                   {"__lt", less},
                                   {"__le", less_or_equal},
                                   {"__add", add},
                                   {"__sub", subtract},
                                   {"__mul", multiply},
                                   {"__div", divide},
                                   {"__mod", refuse_digits},
                                   {"__pow", refuse_digits},
                                   {"__unm", refuse_digits},
                                   {"__concat", refuse_digits},
                                   {"__len", refuse_digits},
                                   {"__index", refuse_digits},
                                   {"__newindex", refuse_digits},
                                   {"__call", refuse_digits},
                                   {nullptr, nullptr}};
  luaL_register(lua, nullptr, kMethods);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_rawset(lua, LUA_REGISTRYINDEX);
  forget_timestamps(lua);
}

void forget_timestamps(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kSeen));
  lua_newtable(lua);
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

}  // namespace lockstep::models::redis
