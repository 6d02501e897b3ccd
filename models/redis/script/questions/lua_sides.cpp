// The two sides of a comparison that a script asks about (lua_questions.hpp).

#include <cmath>
#include <limits>
#include <string_view>

#include "models/redis/script/lua/lua_symbols.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"

namespace lockstep::models::redis {
namespace {

using SymbolKind = LuaSymbol::Kind;

/// In the registry: the left sides of comparisons that are going on, each behind how deep its function is called.
const char kLeftSides = 0;

/// Threads wait in the middle of a comparison, so each has its own: in the table that it has in the place of globals.
void push_left_sides(lua_State* lua) {
  if (LuaSession::of(lua).keeps_times) {
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
  } else {
    push_own(lua, kLeftSides);
  }
}

int depth_of(lua_State* lua) {
  lua_Debug at;
  int depth = 0;
  while (lua_getstack(lua, depth, &at) == 1) ++depth;
  return depth;
}

/// What stands for a symbol on the left side: something of its type.
void push_placeholder(lua_State* lua, const LuaSymbol& symbol) {
  if (symbol.kind == SymbolKind::number) {
    lua_pushnumber(lua, 0);
  } else {
    lua_pushliteral(lua, "");
  }
}

int keep_left_side(lua_State* lua) {
  LuaSession& session = LuaSession::of(lua);
  push_left_sides(lua);
  lua_pushinteger(lua, depth_of(lua));
  lua_rawseti(lua, -2, ++session.left_sides);
  lua_pushvalue(lua, 2);
  lua_rawseti(lua, -2, ++session.left_sides);
  if (const LuaSymbol* symbol = symbol_at(lua, 2)) {
    push_placeholder(lua, *symbol);
  } else {
    lua_pushvalue(lua, 2);
  }
  return 1;
}

/// Pushes the left side of this comparison. Those of functions that it has called and that an error has ended are left
/// over.
void push_left_side(lua_State* lua) {
  LuaSession& session = LuaSession::of(lua);
  const int depth = depth_of(lua);
  push_left_sides(lua);
  for (;;) {
    session.left_sides -= 2;
    lua_rawgeti(lua, -1, session.left_sides + 1);
    const bool is_own = lua_tointeger(lua, -1) <= depth;
    lua_pop(lua, 1);
    if (is_own) break;
  }
  lua_rawgeti(lua, -1, session.left_sides + 2);
  lua_remove(lua, -2);
}

enum class Sign : std::uint8_t { less, less_or_equal, greater, greater_or_equal, equal };

/// Whether `number sign other`.
bool answer(lua_State* lua, const SymbolicNumber& number, Sign sign, Number other) {
  return ask_world(lua, [&](sim::World& world) {
    switch (sign) {
      case Sign::less: return number.is_less_than(other, world);
      case Sign::less_or_equal: return number.is_at_most(other, world);
      case Sign::greater: return !std::isnan(other) && !number.is_at_most(other, world);
      case Sign::greater_or_equal: return !std::isnan(other) && !number.is_less_than(other, world);
      case Sign::equal: break;
    }
    return number.equals(other, world);
  });
}

bool answer(lua_State* lua, const LuaSymbol& a, Sign sign, const LuaSymbol& b) {
  switch (sign) {
    case Sign::less: return is_before(lua, a, b);
    case Sign::less_or_equal: return !is_before(lua, b, a);
    case Sign::greater: return is_before(lua, b, a);
    case Sign::greater_or_equal: return !is_before(lua, a, b);
    case Sign::equal: break;
  }
  return are_equal(lua, a, b);
}

Sign mirrored(Sign sign) {
  switch (sign) {
    case Sign::less: return Sign::greater;
    case Sign::less_or_equal: return Sign::greater_or_equal;
    case Sign::greater: return Sign::less;
    case Sign::greater_or_equal: return Sign::less_or_equal;
    case Sign::equal: break;
  }
  return Sign::equal;
}

Sign sign_of(std::string_view tag) {
  if (tag == "<") return Sign::less;
  if (tag == "<=") return Sign::less_or_equal;
  if (tag == ">") return Sign::greater;
  if (tag == ">=") return Sign::greater_or_equal;
  return Sign::equal;
}

/// A number to the right of `left` with which Lua gives this answer.
Number right_side_for(Number left, Sign sign, bool answer) {
  constexpr Number kMost = std::numeric_limits<Number>::infinity();
  const bool should_be_larger = (sign == Sign::less || sign == Sign::less_or_equal) == answer;
  if (sign != Sign::equal) return should_be_larger ? kMost : -kMost;
  return answer ? left : std::numeric_limits<Number>::quiet_NaN();
}

/// What Lua is to compare the left side with. Both sides are what they are, unless one is a symbol: then the answer is
/// known already, and both are values of that type of which Lua says the same.
int give_right_side(lua_State* lua, Sign sign) {
  push_left_side(lua);
  lua_replace(lua, 1);  // the tag
  const LuaSymbol *a = symbol_at(lua, 1), *b = symbol_at(lua, 2);
  if (a == nullptr && b == nullptr) return 1;  // the right side is on top
  if (is_rest(a) || is_rest(b)) stop_for_digits(lua, "compares TIME's microseconds without its seconds");
  const bool is_text = (a != nullptr ? a : b)->kind == SymbolKind::text;
  const bool is_of_both = a != nullptr && b != nullptr
                              ? a->kind == b->kind
                              : lua_type(lua, a != nullptr ? 2 : 1) == (is_text ? LUA_TSTRING : LUA_TNUMBER);
  if (!is_of_both) {
    // Lua has an answer, or an error, for values of two types.
    if (a == nullptr && sign != Sign::equal) {
      push_placeholder(lua, *b);
    } else if (a != nullptr && b != nullptr) {
      push_placeholder(lua, *b);
    }
    return 1;
  }
  if (is_text) {
    if (sign != Sign::equal)
      stop_for_digits(lua, "compares a time as a string, digit by digit: put tonumber around both sides");
    // A text that is no timestamp differs, as everywhere in this model.
    if (a == nullptr || b == nullptr || !are_equal(lua, *a, *b)) {
      lua_pushboolean(lua, 0);
    } else {
      push_placeholder(lua, *a);
    }
    return 1;
  }
  if (a != nullptr && b != nullptr) {
    lua_pushnumber(lua, right_side_for(0, sign, answer(lua, *a, sign, *b)));
  } else if (a != nullptr) {
    lua_pushnumber(lua, right_side_for(0, sign, answer(lua, a->number, sign, lua_tonumber(lua, 2))));
  } else {
    const Number left = lua_tonumber(lua, 1);
    lua_pushnumber(lua, right_side_for(left, sign, answer(lua, b->number, mirrored(sign), left)));
  }
  return 1;
}

int check_key(lua_State* lua) {
  const LuaSymbol* symbol = symbol_at(lua, 2);
  if (symbol != nullptr && LuaSession::of(lua).keeps_times) {
    return luaL_error(lua, "a time is no key of a table here: use a number or a text of your own");
  }
  if (symbol != nullptr &&
      !(symbol->kind == SymbolKind::number ? symbol->number.timestamp().has_value() : !is_rest(symbol))) {
    stop_for_digits(lua, "takes a length of time for a table's key");
  }
  return 1;
}

}  // namespace

int answer_question(lua_State* lua) {
  lua_settop(lua, 2);  // a call that gives nothing is nil
  const std::string_view tag = lua_tostring(lua, 1);
  if (tag == "k") return check_key(lua);
  if (tag == "l") return keep_left_side(lua);
  return give_right_side(lua, sign_of(tag));
}

void forget_left_sides(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kLeftSides));
  lua_newtable(lua);
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

}  // namespace lockstep::models::redis
