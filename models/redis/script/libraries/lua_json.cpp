// The library `cjson`. Source: RFC 8259, and what lua-cjson 2.1 does where that leaves room, found out by asking
// redis-server 7.0.15.

#include <strings.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "models/redis/script/libraries/lua_libraries.hpp"
#include "models/redis/script/lua/lua_session.hpp"
#include "models/redis/script/lua/lua_tables.hpp"
#include "models/redis/script/lua/lua_timestamps.hpp"

namespace lockstep::models::redis {
namespace {

constexpr int kDeepestJson = 1000;

// --- Writing. Values stand on top of the stack.

class Writer {
 public:
  explicit Writer(lua_State* lua) : lua_(lua) {}

  void write_value(int depth) {
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING: return write_string(string_at(lua_, -1));
      case LUA_TNUMBER: return write_number(-1);
      case LUA_TBOOLEAN: return append(lua_toboolean(lua_, -1) != 0 ? "true" : "false");
      case LUA_TNIL: return append("null");
      case LUA_TTABLE: return write_table(depth + 1);
      case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(lua_, -1) == nullptr) return append("null");
        break;
      default: break;
    }
    if (is_symbolic(lua_, -1)) explain_misuse(lua_, "cjson.encode of userdata");
    refuse(-1, "type not supported");
  }
  const std::string& text() const { return text_; }

 private:
  void append(std::string_view piece) {
    LuaSession& session = LuaSession::of(lua_);
    session.charge(1 + piece.size() / 64);
    session.require_memory(text_.size() + piece.size());
    text_ += piece;
  }

  void refuse(int index, const char* reason) {
    luaL_error(lua_, "Cannot serialise %s: %s", lua_typename(lua_, lua_type(lua_, index)), reason);
  }

  void write_number(int index) {
    const lua_Number number = lua_tonumber(lua_, index);
    if (!std::isfinite(number)) refuse(index, "must not be NaN or Inf");
    std::array<char, 32> digits;
    const int length = std::snprintf(digits.data(), digits.size(), "%.14g", number);
    append({digits.data(), static_cast<std::size_t>(length)});
  }

  void write_string(std::string_view string) {
    append("\"");
    for (const char c : string) {
      switch (c) {
        case '"': append("\\\""); break;
        case '\\': append("\\\\"); break;
        case '/': append("\\/"); break;
        case '\b': append("\\b"); break;
        case '\t': append("\\t"); break;
        case '\n': append("\\n"); break;
        case '\f': append("\\f"); break;
        case '\r': append("\\r"); break;
        default:
          if ((c >= 0 && c < ' ') || c == '\x7f') {
            std::array<char, 8> escape;
            std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
            append(escape.data());
          } else {
            append({&c, 1});
          }
      }
    }
    append("\"");
  }

  void write_table(int depth) {
    if (depth > kDeepestJson || lua_checkstack(lua_, 4) == 0) {
      luaL_error(lua_, "Cannot serialise, excessive nesting (%d)", depth);
    }
    const lua_Number length = array_length();
    if (length > 0) {
      append("[");
      for (int i = 1; i <= static_cast<int>(length); ++i) {
        if (i > 1) append(",");
        lua_rawgeti(lua_, -1, i);
        write_value(depth);
        lua_pop(lua_, 1);
      }
      append("]");
      return;
    }
    append("{");
    require_order(lua_, lua_gettop(lua_));
    bool is_first = true;
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      if (!is_first) append(",");
      is_first = false;
      if (lua_type(lua_, -2) == LUA_TNUMBER) {
        append("\"");
        write_number(-2);
        append("\"");
      } else if (lua_type(lua_, -2) == LUA_TSTRING) {
        write_string(string_at(lua_, -2));
      } else {
        refuse(-2, "table key must be a number or string");
      }
      append(":");
      write_value(depth);
    }
    append("}");
  }

  /// The largest index, if there is nothing but indices, and not far more holes than elements; -1 for anything else.
  /// Zero: it is empty.
  lua_Number array_length() {
    lua_Number most = 0, count = 0;
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      LuaSession::of(lua_).charge(1);
      const lua_Number key = lua_type(lua_, -2) == LUA_TNUMBER ? lua_tonumber(lua_, -2) : 0;
      if (key < 1 || key != std::floor(key)) {
        lua_pop(lua_, 2);
        return -1;
      }
      most = std::max(most, key);
      ++count;
    }
    constexpr lua_Number kRatio = 2, kAlwaysFine = 10;
    if (most > count * kRatio && most > kAlwaysFine) refuse(-1, "excessively sparse array");
    return most;
  }

  lua_State* lua_;
  std::string text_;
};

int encode(lua_State* lua) {
  luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
  Writer writer(lua);
  writer.write_value(0);
  lua_pushlstring(lua, writer.text().data(), writer.text().size());
  return 1;
}

// --- Reading.

enum class JsonToken : std::uint8_t {
  object_begin,
  object_end,
  array_begin,
  array_end,
  string,
  number,
  boolean,
  null,
  colon,
  comma,
  end,
  error
};

const char* name_of(JsonToken token) {
  constexpr std::array kNames{"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_NUMBER",
                              "T_BOOLEAN",   "T_NULL",    "T_COLON",     "T_COMMA",   "T_END",    "T_ERROR"};
  return kNames[static_cast<std::size_t>(token)];
}

class Reader {
 public:
  /// Requires: a zero byte stands behind the text, as behind every string of Lua.
  Reader(lua_State* lua, std::string_view text) : lua_(lua), begin_(text.data()), at_(text.data()) {}

  void read_all() {
    next();
    read_value();
    next();
    if (token_ != JsonToken::end) refuse("the end");
  }

 private:
  void fail(const char* what) {
    token_ = JsonToken::error;
    error_ = what;
    place_ = at_ - begin_;
  }
  void refuse(const char* expected) {
    luaL_error(lua_, "Expected %s but found %s at character %d", expected,
               token_ == JsonToken::error ? error_ : name_of(token_), static_cast<int>(place_ + 1));
  }

  void next() {
    LuaSession::of(lua_).charge(1);
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r') ++at_;
    place_ = at_ - begin_;
    switch (*at_) {
      case '\0': token_ = JsonToken::end; return;
      case '{': return take(JsonToken::object_begin);
      case '}': return take(JsonToken::object_end);
      case '[': return take(JsonToken::array_begin);
      case ']': return take(JsonToken::array_end);
      case ':': return take(JsonToken::colon);
      case ',': return take(JsonToken::comma);
      case '"': return next_string();
      default: break;
    }
    if (*at_ == '-' || (*at_ >= '0' && *at_ <= '9')) return next_number();
    if (starts_with("true") || starts_with("false")) {
      token_ = JsonToken::boolean;
      truth_ = *at_ == 't';
      at_ += truth_ ? 4 : 5;
    } else if (starts_with("null")) {
      token_ = JsonToken::null;
      at_ += 4;
    } else if (*at_ == '+' || strncasecmp(at_, "inf", 3) == 0 || strncasecmp(at_, "nan", 3) == 0) {
      next_number();
    } else {
      fail("invalid token");
    }
  }
  void take(JsonToken token) {
    token_ = token;
    ++at_;
  }
  bool starts_with(std::string_view word) const { return std::strncmp(at_, word.data(), word.size()) == 0; }

  /// More than JSON allows: whatever strtod takes.
  void next_number() {
    char* end = nullptr;
    number_ = std::strtod(at_, &end);
    if (end == at_) return fail("invalid number");
    token_ = JsonToken::number;
    at_ = end;
  }

  void next_string() {
    text_.clear();
    ++at_;
    while (*at_ != '"') {
      if (*at_ == '\0') return fail("unexpected end of string");
      if (*at_ != '\\') {
        text_ += *at_++;
        continue;
      }
      constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
      if (at_[1] == 'u') {
        if (!take_code_point()) return fail("invalid unicode escape code");
      } else if (const std::size_t which = at_[1] == '\0' ? std::string_view::npos : kEscapes.find(at_[1]);
                 which != std::string_view::npos) {
        text_ += kMeanings[which];
        at_ += 2;
      } else {
        return fail("invalid escape code");
      }
    }
    ++at_;
    token_ = JsonToken::string;
    LuaSession::of(lua_).charge(text_.size() / 16);
  }

  /// Four hexadecimal digits, or -1.
  static int four_digits(const char* at) {
    int value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = at[i];
      const int lower = c | 0x20;
      const int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  }

  bool take_code_point() {
    constexpr int kSurrogate = 0xd800, kLowSurrogate = 0xdc00, kTenBits = 0x3ff;
    int code = four_digits(at_ + 2);
    if (code < 0) return false;
    int length = 6;
    if ((code & 0xf800) == kSurrogate) {
      if ((code & 0x400) != 0 || at_[6] != '\\' || at_[7] != 'u') return false;
      const int low = four_digits(at_ + 8);
      if (low < 0 || (low & 0xfc00) != kLowSurrogate) return false;
      code = ((code & kTenBits) << 10 | (low & kTenBits)) + 0x10000;
      length = 12;
    }
    append_utf8(code);
    at_ += length;
    return true;
  }

  void append_utf8(int code) {
    const auto tail = [&](int shift) { text_ += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
      text_ += static_cast<char>(code);
    } else if (code < 0x800) {
      text_ += static_cast<char>(0xc0 | code >> 6);
      tail(0);
    } else if (code < 0x10000) {
      text_ += static_cast<char>(0xe0 | code >> 12);
      tail(6);
      tail(0);
    } else {
      text_ += static_cast<char>(0xf0 | code >> 18);
      tail(12);
      tail(6);
      tail(0);
    }
  }

  void read_value() {
    switch (token_) {
      case JsonToken::string: lua_pushlstring(lua_, text_.data(), text_.size()); return;
      case JsonToken::number: lua_pushnumber(lua_, number_); return;
      case JsonToken::boolean: lua_pushboolean(lua_, truth_ ? 1 : 0); return;
      case JsonToken::null: lua_pushlightuserdata(lua_, nullptr); return;
      case JsonToken::object_begin: return read_object();
      case JsonToken::array_begin: return read_array();
      default: refuse("value");
    }
  }

  void descend() {
    if (++depth_ <= kDeepestJson && lua_checkstack(lua_, 4) != 0) return;
    luaL_error(lua_, "Found too many nested data structures (%d) at character %d", depth_,
               static_cast<int>(at_ - begin_));
  }

  void read_object() {
    descend();
    lua_newtable(lua_);
    next();
    while (token_ != JsonToken::object_end) {
      if (token_ != JsonToken::string) refuse("object key string");
      lua_pushlstring(lua_, text_.data(), text_.size());
      next();
      if (token_ != JsonToken::colon) refuse("colon");
      next();
      read_value();
      lua_rawset(lua_, -3);
      next();
      if (token_ == JsonToken::object_end) break;
      if (token_ != JsonToken::comma) refuse("comma or object end");
      next();
      if (token_ != JsonToken::string) refuse("object key string");
    }
    --depth_;
  }

  void read_array() {
    descend();
    lua_newtable(lua_);
    next();
    for (int i = 1; token_ != JsonToken::array_end; ++i) {
      read_value();
      lua_rawseti(lua_, -2, i);
      next();
      if (token_ == JsonToken::array_end) break;
      if (token_ != JsonToken::comma) refuse("comma or array end");
      next();
      if (token_ == JsonToken::array_end) refuse("value");
    }
    --depth_;
  }

  lua_State* lua_;
  const char* begin_;
  const char* at_;
  JsonToken token_ = JsonToken::end;
  std::ptrdiff_t place_ = 0;
  const char* error_ = "";
  std::string text_;
  lua_Number number_ = 0;
  bool truth_ = false;
  int depth_ = 0;
};

int decode(lua_State* lua) {
  luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
  if (is_symbolic(lua, 1)) explain_misuse(lua, "cjson.decode of userdata");
  luaL_checkstring(lua, 1);
  const std::string_view text = string_at(lua, 1);
  if (text.size() >= 2 && (text[0] == '\0' || text[1] == '\0')) {
    return luaL_error(lua, "JSON parser does not support UTF-16 or UTF-32");
  }
  Reader(lua, text).read_all();
  return 1;
}

}  // namespace

void install_json(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {{"encode", encode}, {"decode", decode}, {nullptr, nullptr}};
  lua_newtable(lua);
  luaL_register(lua, nullptr, kFunctions);
  lua_pushlightuserdata(lua, nullptr);
  lua_setfield(lua, -2, "null");
  lua_pushliteral(lua, "cjson");
  lua_setfield(lua, -2, "_NAME");
  lua_pushliteral(lua, "2.1.0");
  lua_setfield(lua, -2, "_VERSION");
  lua_setfield(lua, -2, "cjson");
}

}  // namespace lockstep::models::redis
