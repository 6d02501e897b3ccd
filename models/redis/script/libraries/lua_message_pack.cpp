// The library `cmsgpack`. Source: the MessagePack specification, as far as lua-cmsgpack 0.4 knows it (no binary and no
// extension types), and what that does with Lua's tables and numbers, found out by asking redis-server 7.0.15.

#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/redis/data/sorted_set.hpp"
#include "models/redis/script/libraries/lua_libraries.hpp"
#include "models/redis/script/lua/lua_session.hpp"
#include "models/redis/script/lua/lua_tables.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"

namespace lockstep::models::redis {
namespace {

/// What is nested deeper is packed as nil.
constexpr int kDeepestPack = 16;

// --- Packing. Values stand on top of the stack.

class Packer {
 public:
  explicit Packer(lua_State* lua) : lua_(lua) {}

  void pack(int depth) {
    LuaSession& session = LuaSession::of(lua_);
    session.charge(1);
    session.require_memory(bytes_.size());
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING: return pack_string();
      case LUA_TNUMBER: return pack_number(lua_tonumber(lua_, -1));
      case LUA_TBOOLEAN: return byte(lua_toboolean(lua_, -1) != 0 ? 0xc3 : 0xc2);
      case LUA_TTABLE:
        if (depth < kDeepestPack) return pack_table(depth);
        break;
      default: break;
    }
    if (is_symbolic(lua_, -1)) explain_misuse(lua_, "cmsgpack.pack of userdata");
    byte(0xc0);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void byte(std::uint64_t value) { bytes_ += static_cast<char>(value); }
  void big_endian(std::uint64_t value, int width) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) byte(value >> shift & 0xff);
  }
  void tagged(std::uint64_t tag, std::uint64_t value, int width) {
    byte(tag);
    big_endian(value, width);
  }

  void pack_string() {
    std::size_t length = 0;
    const char* text = lua_tolstring(lua_, -1, &length);
    LuaSession::of(lua_).charge(length / 64);
    LuaSession::of(lua_).require_memory(bytes_.size() + length);
    if (length < 32) {
      byte(0xa0 | length);
    } else if (length <= 0xff) {
      tagged(0xd9, length, 1);
    } else if (length <= 0xffff) {
      tagged(0xda, length, 2);
    } else {
      tagged(0xdb, length, 4);
    }
    bytes_.append(text, length);
  }

  void pack_number(lua_Number number) {
    constexpr lua_Number kLimit = 9223372036854775808.0;
    if (number >= -kLimit && number < kLimit && number == std::trunc(number)) {
      return pack_integer(static_cast<std::int64_t>(number));
    }
    const auto single = static_cast<float>(number);  // tidy: not deciding: the shorter form if it is exact
    if (number == static_cast<lua_Number>(single)) {
      tagged(0xca, std::bit_cast<std::uint32_t>(single), 4);
    } else {
      tagged(0xcb, std::bit_cast<std::uint64_t>(number), 8);
    }
  }

  void pack_integer(std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    if (number >= -32 && number <= 127) return byte(bits & 0xff);
    if (number >= 0) {
      if (number <= 0xff) return tagged(0xcc, bits, 1);
      if (number <= 0xffff) return tagged(0xcd, bits, 2);
      if (number <= 0xffffffff) return tagged(0xce, bits, 4);
      return tagged(0xcf, bits, 8);
    }
    if (number >= INT8_MIN) return tagged(0xd0, bits, 1);
    if (number >= INT16_MIN) return tagged(0xd1, bits, 2);
    if (number >= INT32_MIN) return tagged(0xd2, bits, 4);
    tagged(0xd3, bits, 8);
  }

  void container(std::uint64_t small, std::uint64_t tag, std::size_t count) {
    if (count <= 15) {
      byte(small | count);
    } else if (count <= 0xffff) {
      tagged(tag, count, 2);
    } else {
      tagged(tag + 1, count, 4);
    }
  }

  void pack_table(int depth) {
    luaL_checkstack(lua_, 4, "in function mp_encode_lua_table");
    if (is_array()) {
      const std::size_t length = lua_objlen(lua_, -1);
      container(0x90, 0xdc, length);
      for (std::size_t i = 1; i <= length; ++i) {
        lua_rawgeti(lua_, -1, static_cast<int>(i));
        pack(depth + 1);
        lua_pop(lua_, 1);
      }
      return;
    }
    require_order(lua_, lua_gettop(lua_));
    std::size_t count = 0;
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) ++count;
    container(0x80, 0xde, count);
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      lua_pushvalue(lua_, -2);
      pack(depth + 1);
      lua_pop(lua_, 1);
      pack(depth + 1);
    }
  }

  /// Whether the keys are 1 to n.
  bool is_array() {
    lua_Number most = 0, count = 0;
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      LuaSession::of(lua_).charge(1);
      const lua_Number key = lua_type(lua_, -2) == LUA_TNUMBER ? lua_tonumber(lua_, -2) : 0;
      if (key <= 0 || key > INT_MAX || key != std::trunc(key)) {
        lua_pop(lua_, 2);
        return false;
      }
      most = std::max(most, key);
      ++count;
    }
    return most == count;
  }

  lua_State* lua_;
  std::string bytes_;
};

int pack(lua_State* lua) {
  const int count = lua_gettop(lua);
  if (count == 0) return luaL_argerror(lua, 0, "MessagePack pack needs input.");
  luaL_checkstack(lua, 1, "Too many arguments for MessagePack pack.");
  Packer packer(lua);
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(lua, i);
    packer.pack(0);
    lua_pop(lua, 1);
  }
  lua_pushlstring(lua, packer.bytes().data(), packer.bytes().size());
  return 1;
}

// --- Unpacking.

class Unpacker {
 public:
  Unpacker(lua_State* lua, std::string_view bytes) : lua_(lua), left_(bytes) {}

  std::size_t left() const { return left_.size(); }

  /// Pushes the next value, or raises an error.
  void unpack() {
    LuaSession::of(lua_).charge(1);
    const std::uint64_t tag = number(1);
    switch (tag) {
      case 0xc0: lua_pushnil(lua_); return;
      case 0xc2: lua_pushboolean(lua_, 0); return;
      case 0xc3: lua_pushboolean(lua_, 1); return;
      case 0xca:
        lua_pushnumber(lua_, std::bit_cast<float>(static_cast<std::uint32_t>(number(4))));  // tidy: not deciding
        return;
      case 0xcb: lua_pushnumber(lua_, std::bit_cast<Real>(number(8))); return;
      case 0xcc: return push(number(1));
      case 0xcd: return push(number(2));
      case 0xce: return push(number(4));
      case 0xcf: return push(number(8));
      case 0xd0: return push(static_cast<std::int8_t>(number(1)));
      case 0xd1: return push(static_cast<std::int16_t>(number(2)));
      case 0xd2: return push(static_cast<std::int32_t>(number(4)));
      case 0xd3: return push(static_cast<std::int64_t>(number(8)));
      case 0xd9: return push_string(number(1));
      case 0xda: return push_string(number(2));
      case 0xdb: return push_string(number(4));
      case 0xdc: return push_array(number(2));
      case 0xdd: return push_array(number(4));
      case 0xde: return push_map(number(2));
      case 0xdf: return push_map(number(4));
      default: break;
    }
    if (tag < 0x80) return push(tag);
    if (tag < 0x90) return push_map(tag & 0xf);
    if (tag < 0xa0) return push_array(tag & 0xf);
    if (tag < 0xc0) return push_string(tag & 0x1f);
    if (tag >= 0xe0) return push(static_cast<std::int8_t>(tag));
    luaL_error(lua_, "Bad data format in input.");
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > left_.size()) luaL_error(lua_, "Missing bytes in input.");
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  std::uint64_t number(std::uint64_t width) {
    std::uint64_t value = 0;
    for (const char c : take(width)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  template <class Integer>
  void push(Integer value) {
    lua_pushnumber(lua_, static_cast<lua_Number>(value));
  }
  void push_string(std::uint64_t length) {
    const std::string_view text = take(length);
    LuaSession::of(lua_).charge(text.size() / 64);
    lua_pushlstring(lua_, text.data(), text.size());
  }
  void push_array(std::uint64_t count) {
    luaL_checkstack(lua_, 4, "in function mp_decode_to_lua_array");
    lua_newtable(lua_);
    for (std::uint64_t i = 1; i <= count; ++i) {
      unpack();
      lua_rawseti(lua_, -2, static_cast<int>(i));
    }
  }
  void push_map(std::uint64_t count) {
    luaL_checkstack(lua_, 4, "in function mp_decode_to_lua_hash");
    lua_newtable(lua_);
    for (; count > 0; --count) {
      unpack();
      unpack();
      lua_settable(lua_, -3);  // an error for nil and NaN
    }
  }

  lua_State* lua_;
  std::string_view left_;
};

/// With a limit or an offset, the first result is where the next value begins, or -1 at the end.
int unpack_part(lua_State* lua, lua_Integer limit, lua_Integer offset) {
  if (is_symbolic(lua, 1)) explain_misuse(lua, "cmsgpack.unpack of userdata");
  std::size_t length = 0;
  const char* bytes = luaL_checklstring(lua, 1, &length);
  if (offset < 0 || limit < 0) {
    return luaL_error(lua, "Invalid request to unpack with offset of %d and limit of %d.", static_cast<int>(offset),
                      static_cast<int>(length));
  }
  if (static_cast<std::size_t>(offset) > length) {
    return luaL_error(lua, "Start offset %d greater than input length %d.", static_cast<int>(offset),
                      static_cast<int>(length));
  }
  const bool is_whole = limit == 0 && offset == 0;
  lua_settop(lua, 1);
  Unpacker unpacker(lua, std::string_view(bytes, length).substr(static_cast<std::size_t>(offset)));
  int count = 0;
  for (; unpacker.left() > 0 && (is_whole || count < limit); ++count) {
    luaL_checkstack(lua, 4, "too many values to unpack");
    unpacker.unpack();
  }
  if (is_whole) return count;
  lua_pushinteger(lua, unpacker.left() == 0 ? -1 : static_cast<lua_Integer>(length - unpacker.left()));
  lua_insert(lua, 2);
  return count + 1;
}

int unpack(lua_State* lua) { return unpack_part(lua, 0, 0); }
int unpack_one(lua_State* lua) { return unpack_part(lua, 1, luaL_optinteger(lua, 2, 0)); }
int unpack_limit(lua_State* lua) { return unpack_part(lua, luaL_checkinteger(lua, 2), luaL_optinteger(lua, 3, 0)); }

}  // namespace

void install_message_pack(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {{"pack", pack},
                                     {"unpack", unpack},
                                     {"unpack_one", unpack_one},
                                     {"unpack_limit", unpack_limit},
                                     {nullptr, nullptr}};
  lua_newtable(lua);
  luaL_register(lua, nullptr, kFunctions);
  lua_setfield(lua, -2, "cmsgpack");
}

}  // namespace lockstep::models::redis
