#include "models/redis/script/lua/lua_timestamps.hpp"

#include <string>
#include <utility>

#include "models/redis/script/lua/lua_session.hpp"
#include "models/redis/script/lua/lua_symbols.hpp"

namespace lockstep::models::redis {
namespace {

using sim::Duration;
using sim::Instant;
using SymbolKind = LuaSymbol::Kind;

int give(lua_State* lua, const std::optional<SymbolicNumber>& number, std::string_view what) {
  if (!number) stop_for_digits(lua, what);
  push_symbolic_number(lua, *number);
  return 1;
}

// --- Comparisons that Lua calls, for two symbols alone: those of table.sort, and of a script's own functions.

int equal(lua_State* lua) {
  lua_pushboolean(lua, are_equal(lua, *symbol_at(lua, 1), *symbol_at(lua, 2)));
  return 1;
}

int less(lua_State* lua) {
  lua_pushboolean(lua, is_before(lua, *symbol_at(lua, 1), *symbol_at(lua, 2)));
  return 1;
}

int less_or_equal(lua_State* lua) {
  lua_pushboolean(lua, !is_before(lua, *symbol_at(lua, 2), *symbol_at(lua, 1)));
  return 1;
}

// --- Arithmetic.

constexpr std::string_view kTooLong = "calculates too much with a time to follow it";

/// The operand that is no symbol. Errors are worded as Lua words them, but for names.
Number plain_number_at(lua_State* lua, int index) {
  if (lua_isnumber(lua, index) == 0) {
    luaL_error(lua, "attempt to perform arithmetic on a %s value", luaL_typename(lua, index));
  }
  return lua_tonumber(lua, index);
}

int push_rest(lua_State* lua, LuaSymbol rest, Number times, Number divided_by) {
  rest.times *= times;
  rest.divided_by *= divided_by;
  push_symbol(lua, rest);
  return 1;
}

int add(lua_State* lua) {
  const LuaSymbol *a = symbol_at(lua, 1), *b = symbol_at(lua, 2);
  if (a != nullptr && b != nullptr) {
    if (is_rest(a)) std::swap(a, b);
    if (is_rest(b)) {
      return give(lua, number_of(lua, *a).with_rest_of_second(b->time.instant, b->times, b->divided_by),
                  "adds TIME's microseconds to something else than its seconds");
    }
    const SymbolicNumber x = number_of(lua, *a), y = number_of(lua, *b);
    return give(lua, ask_world(lua, [&](sim::World& world) { return SymbolicNumber::sum(x, y, world); }),
                "adds one time to another");
  }
  const int which = a != nullptr ? 1 : 2;
  return give(lua, number_of(lua, *symbol_at(lua, which)).plus_number(plain_number_at(lua, 3 - which)), kTooLong);
}

int subtract(lua_State* lua) {
  const LuaSymbol *a = symbol_at(lua, 1), *b = symbol_at(lua, 2);
  if (a != nullptr && b != nullptr) {
    return give(lua, SymbolicNumber::difference(number_of(lua, *a), number_of(lua, *b)),
                "takes one time away from another that has other units or was calculated otherwise");
  }
  if (a != nullptr) return give(lua, number_of(lua, *a).plus_number(-plain_number_at(lua, 2)), kTooLong);
  const Number from = plain_number_at(lua, 1);
  const std::optional<SymbolicNumber> negative = number_of(lua, *b).negated();
  return give(lua, negative ? negative->plus_number(from) : negative, kTooLong);
}

int multiply(lua_State* lua) {
  const int which = symbol_at(lua, 1) != nullptr ? 1 : 2;
  if (symbol_at(lua, 3 - which) != nullptr) stop_for_digits(lua, "multiplies one time with another");
  const LuaSymbol& symbol = *symbol_at(lua, which);
  const Number factor = plain_number_at(lua, 3 - which);
  if (is_rest(&symbol)) return push_rest(lua, symbol, factor, 1);
  return give(lua, number_of(lua, symbol).times(factor), kTooLong);
}

int divide(lua_State* lua) {
  if (symbol_at(lua, 2) != nullptr) stop_for_digits(lua, "divides by a time");
  const LuaSymbol& symbol = *symbol_at(lua, 1);
  const Number divisor = plain_number_at(lua, 2);
  if (is_rest(&symbol)) return push_rest(lua, symbol, 1, divisor);
  return give(lua, number_of(lua, symbol).divided_by(divisor), kTooLong);
}

int negate(lua_State* lua) { return give(lua, number_of(lua, *symbol_at(lua, 1)).negated(), kTooLong); }

int refuse_digits(lua_State* lua) { stop_for_digits(lua, "needs the digits of a time"); }

// --- Functions that look at a value. The upvalue is Lua's own.

/// In this frame, so that its errors name the function as the script called it, and the script's line.
int call_original(lua_State* lua) { return lua_tocfunction(lua, lua_upvalueindex(1))(lua); }

int type(lua_State* lua) {
  const LuaSymbol* symbol = symbol_at(lua, 1);
  if (symbol == nullptr) return call_original(lua);
  lua_pushstring(lua, symbol->kind == SymbolKind::number ? "number" : "string");
  return 1;
}

int to_number(lua_State* lua) {
  const LuaSymbol* symbol = symbol_at(lua, 1);
  if (symbol == nullptr) return call_original(lua);
  if (luaL_optinteger(lua, 2, 10) != 10) stop_for_digits(lua, "reads the digits of a time to another base");
  if (symbol->kind == SymbolKind::text) {
    push_symbolic_number(lua, SymbolicNumber::of(symbol->time));
  } else {
    lua_pushvalue(lua, 1);
  }
  return 1;
}

int to_string(lua_State* lua) {
  const LuaSymbol* symbol = symbol_at(lua, 1);
  if (symbol == nullptr) return call_original(lua);
  const std::optional<Timestamp> time = number_of(lua, *symbol).timestamp();
  if (!time) stop_for_digits(lua, "needs the digits of a length of time");
  push_text(lua, *time);
  return 1;
}

int floor(lua_State* lua) {
  const LuaSymbol* symbol = symbol_at(lua, 1);
  if (symbol == nullptr) return call_original(lua);
  if (is_rest(symbol)) return push_rest(lua, *symbol, 1, 1);
  return give(lua, number_of(lua, *symbol).rounded_down(), kTooLong);
}

int ceil(lua_State* lua) {
  const LuaSymbol* symbol = symbol_at(lua, 1);
  if (symbol == nullptr) return call_original(lua);
  return give(lua, number_of(lua, *symbol).rounded_up(), kTooLong);
}

/// The larger of the first argument and that at `index`, or the smaller, in place of the first.
void choose_one(lua_State* lua, int index, bool larger) {
  const LuaSymbol *a = symbol_at(lua, 1), *b = symbol_at(lua, index);
  if (a == nullptr && b == nullptr) {
    const bool is_first = lua_tonumber(lua, 1) < lua_tonumber(lua, index) ? !larger : larger;
    lua_pushvalue(lua, is_first ? 1 : index);
  } else if (a != nullptr && b != nullptr) {
    const SymbolicNumber x = number_of(lua, *a), y = number_of(lua, *b);
    const bool is_at_least =
        known(lua, ask_world(lua, [&](sim::World& world) { return SymbolicNumber::is_at_least(x, y, world); }));
    lua_pushvalue(lua, is_at_least == larger ? 1 : index);
  } else {
    const int which = a != nullptr ? 1 : index;
    const SymbolicNumber x = number_of(lua, *symbol_at(lua, which));
    const Number c = luaL_checknumber(lua, a != nullptr ? index : 1);
    const bool is_at_most = ask_world(lua, [&](sim::World& world) { return x.is_at_most(c, world); });
    lua_pushvalue(lua, (is_at_most != larger) == (which == 1) ? 1 : index);
  }
  lua_replace(lua, 1);
}

int extreme(lua_State* lua, bool larger) {
  const int count = lua_gettop(lua);
  bool has_symbol = false;
  for (int i = 1; i <= count; ++i) has_symbol = has_symbol || symbol_at(lua, i) != nullptr;
  if (!has_symbol) return call_original(lua);
  for (int i = 1; i <= count; ++i) {
    if (symbol_at(lua, i) == nullptr) luaL_checknumber(lua, i);
  }
  for (int i = 2; i <= count; ++i) choose_one(lua, i, larger);
  lua_settop(lua, 1);
  return 1;
}

int max(lua_State* lua) { return extreme(lua, true); }
int min(lua_State* lua) { return extreme(lua, false); }

int raw_equal(lua_State* lua) {
  const LuaSymbol *a = symbol_at(lua, 1), *b = symbol_at(lua, 2);
  if (a == nullptr && b == nullptr) return call_original(lua);
  luaL_checkany(lua, 2);
  bool same = false;
  if (a != nullptr && b != nullptr) {
    same = are_equal(lua, *a, *b);
  } else if (const LuaSymbol& symbol = a != nullptr ? *a : *b;
             symbol.kind == SymbolKind::number && lua_type(lua, a != nullptr ? 2 : 1) == LUA_TNUMBER) {
    const Number other = lua_tonumber(lua, a != nullptr ? 2 : 1);
    same = ask_world(lua, [&](sim::World& world) { return symbol.number.equals(other, world); });
  }
  lua_pushboolean(lua, same);
  return 1;
}

void wrap(lua_State* lua, const char* name, lua_CFunction function) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, function, 1);
  lua_setfield(lua, -2, name);
}

}  // namespace

void push_value(lua_State* lua, const Value& value) {
  const Timestamp* time = value.timestamp();
  if (time == nullptr || (time->instant.anchor() == 0 && !LuaSession::of(lua).keeps_times)) {
    std::string scratch;
    const std::string_view bytes = value.view(scratch);
    lua_pushlstring(lua, bytes.data(), bytes.size());
    return;
  }
  if (time->unit == kRestOfSecond) {
    LuaSymbol symbol;
    symbol.kind = SymbolKind::rest_of_second;
    symbol.time = *time;
    push_symbol(lua, symbol);
    return;
  }
  push_text(lua, *time);
}

void push_time_left(lua_State* lua, const Reply& reply) {
  const TimeLeft& left = reply.remaining();
  const bool is_time = left.now.identical(Instant::origin()) && left.unit <= Duration::milliseconds(1);
  push_symbolic_number(lua,
                       SymbolicNumber(left.deadline, left.now, left.unit,
                                      is_time ? SymbolicNumber::Rounding::none : SymbolicNumber::Rounding::down),
                       left.longest);
}

bool is_symbolic(lua_State* lua, int index) { return symbol_at(lua, index) != nullptr; }

std::optional<Value> symbolic_value_at(lua_State* lua, int index) {
  const LuaSymbol* symbol = symbol_at(lua, index);
  if (symbol == nullptr) return std::nullopt;
  if (symbol->kind == SymbolKind::text) return Value(symbol->time);
  const std::optional<Timestamp> time = number_of(lua, *symbol).timestamp();
  if (!time) stop_for_digits(lua, "gives a command the digits of a length of time");
  return Value(*time);
}

std::optional<sim::Instant> symbolic_deadline_at(lua_State* lua, int index, sim::Instant now, sim::Duration unit) {
  const SymbolicNumber number = number_of(lua, *symbol_at(lua, index));
  if (number.is_timestamp() || !number.is_plain_length() || number.unit() != unit) {
    stop_for_digits(lua, "gives a command the digits of a length of time");
  }
  return ask_world(lua, [&](sim::World& world) -> std::optional<sim::Instant> {
    if (number.is_at_most(0, world)) return std::nullopt;
    return world.sum(now, number.plus(), number.minus());
  });
}

std::variant<Reply, std::string_view> symbolic_reply_at(lua_State* lua, int index) {
  const LuaSymbol& symbol = *symbol_at(lua, index);
  if (symbol.kind == SymbolKind::text) return Reply::bulk(symbol.time);
  if (symbol.kind == SymbolKind::number && symbol.number.is_plain_length()) {
    const SymbolicNumber& number = symbol.number;
    return Reply::time_left(
        {number.plus(), number.minus(), symbol.longest, number.unit(), LuaSession::of(lua).host_world});
  }
  return "a script needs the digits of a time, which an exploration does not have: it returns a number that was "
         "calculated "
         "with one";
}

bool mark_misuse(lua_State* lua, std::string_view error) {
  LuaSession& session = LuaSession::of(lua);
  if (session.is_stopped()) return true;
  // The last three are what Lua says of a loop.
  const bool is_about_symbols = error.find("userdata") != std::string_view::npos ||
                                error.find("'for' initial value must") != std::string_view::npos ||
                                error.find("'for' limit must") != std::string_view::npos ||
                                error.find("'for' step must") != std::string_view::npos;
  if (!session.has_met_symbols || !is_about_symbols) return false;
  session.mark_stopped(std::string(kNeedsDigits) + ": it uses a time in a way that has an answer only with digits (" +
                       std::string(error) + ")");
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
  wrap(lua, "ceil", ceil);
  wrap(lua, "max", max);
  wrap(lua, "min", min);
  lua_pop(lua, 1);

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
                                   {"__unm", negate},
                                   {"__concat", refuse_digits},
                                   {"__len", refuse_digits},
                                   {"__index", refuse_digits},
                                   {"__newindex", refuse_digits},
                                   {"__call", refuse_digits},
                                   {nullptr, nullptr}};
  luaL_register(lua, nullptr, kMethods);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  set_methods_of_symbols(lua);
  forget_timestamps(lua);
}

void forget_timestamps(lua_State* lua) {
  forget_symbols(lua);
  forget_left_sides(lua);
}

}  // namespace lockstep::models::redis
