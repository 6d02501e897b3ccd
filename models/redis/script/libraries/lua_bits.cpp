// The library `bit`. Source: the documentation of Lua BitOp 1.0.2: numbers count modulo 2^32, results have a sign.

#include <array>
#include <bit>
#include <cstdint>

#include "models/redis/data/sorted_set.hpp"
#include "models/redis/script/libraries/lua_libraries.hpp"
#include "models/redis/script/lua/lua_session.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"

namespace lockstep::models::redis {
namespace {

/// Rounded to the nearest integer, ties to the even one; of a number from 2^51 on, whatever its lowest digits become.
std::uint32_t bits_at(lua_State* lua, int index) {
  if (is_symbolic(lua, index)) explain_misuse(lua, "bit operation on userdata");
  constexpr Real kShift = 6755399441055744.0;  // 2^52 + 2^51: its last digit counts ones
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(luaL_checknumber(lua, index) + kShift));
}

int push(lua_State* lua, std::uint32_t bits) {
  lua_pushnumber(lua, static_cast<lua_Number>(static_cast<std::int32_t>(bits)));
  return 1;
}

int to_bit(lua_State* lua) { return push(lua, bits_at(lua, 1)); }
int bit_not(lua_State* lua) { return push(lua, ~bits_at(lua, 1)); }

template <class Operation>
int fold(lua_State* lua, Operation operation) {
  std::uint32_t bits = bits_at(lua, 1);
  for (int i = lua_gettop(lua); i > 1; --i) bits = operation(bits, bits_at(lua, i));
  return push(lua, bits);
}
int bit_and(lua_State* lua) {
  return fold(lua, [](std::uint32_t a, std::uint32_t b) { return a & b; });
}
int bit_or(lua_State* lua) {
  return fold(lua, [](std::uint32_t a, std::uint32_t b) { return a | b; });
}
int bit_xor(lua_State* lua) {
  return fold(lua, [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
}

template <class Operation>
int shift(lua_State* lua, Operation operation) {
  const std::uint32_t bits = bits_at(lua, 1);
  return push(lua, operation(bits, static_cast<int>(bits_at(lua, 2) & 31)));
}
int shift_left(lua_State* lua) {
  return shift(lua, [](std::uint32_t bits, int n) { return bits << n; });
}
int shift_right(lua_State* lua) {
  return shift(lua, [](std::uint32_t bits, int n) { return bits >> n; });
}
int shift_right_with_sign(lua_State* lua) {
  return shift(
      lua, [](std::uint32_t bits, int n) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> n); });
}
int rotate_left(lua_State* lua) {
  return shift(lua, [](std::uint32_t bits, int n) { return std::rotl(bits, n); });
}
int rotate_right(lua_State* lua) {
  return shift(lua, [](std::uint32_t bits, int n) { return std::rotr(bits, n); });
}
int swap_bytes(lua_State* lua) { return push(lua, __builtin_bswap32(bits_at(lua, 1))); }

/// A negative number of digits asks for capitals.
int to_hexadecimal(lua_State* lua) {
  constexpr int kMost = 8;
  std::uint32_t bits = bits_at(lua, 1);
  auto wanted = lua_isnone(lua, 2) ? std::int64_t{kMost} : static_cast<std::int32_t>(bits_at(lua, 2));
  const char* digits = wanted < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
  if (wanted < 0) wanted = -wanted;
  const std::size_t count = wanted > kMost ? kMost : static_cast<std::size_t>(wanted);
  std::array<char, kMost> text{};
  for (std::size_t i = count; i-- > 0; bits >>= 4) text[i] = digits[bits & 15];
  lua_pushlstring(lua, text.data(), count);
  return 1;
}

}  // namespace

void install_bit_operations(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {
      {"tobit", to_bit},    {"bnot", bit_not},      {"band", bit_and},       {"bor", bit_or},
      {"bxor", bit_xor},    {"lshift", shift_left}, {"rshift", shift_right}, {"arshift", shift_right_with_sign},
      {"rol", rotate_left}, {"ror", rotate_right},  {"bswap", swap_bytes},   {"tohex", to_hexadecimal},
      {nullptr, nullptr}};
  lua_newtable(lua);
  luaL_register(lua, nullptr, kFunctions);
  lua_setfield(lua, -2, "bit");
}

}  // namespace lockstep::models::redis
