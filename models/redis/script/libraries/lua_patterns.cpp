#include "models/redis/script/libraries/lua_patterns.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "models/redis/script/lua/lua_session.hpp"

namespace lockstep::models::redis {
namespace {

constexpr char kEscape = '%';
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
/// Items of a pattern that match by recursion: optional ones, captures, repetitions. Each may recurse once.
constexpr int kDeepestPattern = 200;

// The classes of the C locale; another locale must not change what a script does.
bool is_lower(unsigned char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(unsigned char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
bool is_alpha(unsigned char c) { return is_lower(c) || is_upper(c); }
bool is_alnum(unsigned char c) { return is_alpha(c) || is_digit(c); }
bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_graphic(unsigned char c) { return c > ' ' && c < 0x7f; }

/// Whether `c` is of the class that stands after a '%'. A capital letter means the complement; a letter that names no
/// class, and anything else, stands for itself.
bool is_of_class(unsigned char c, unsigned char name) {
  const auto lower = is_upper(name) ? static_cast<unsigned char>(name - 'A' + 'a') : name;
  bool in = false;
  switch (lower) {
    case 'a': in = is_alpha(c); break;
    case 'c': in = c < ' ' || c == 0x7f; break;
    case 'd': in = is_digit(c); break;
    case 'l': in = is_lower(c); break;
    case 'p': in = is_graphic(c) && !is_alnum(c); break;
    case 's': in = is_space(c); break;
    case 'u': in = is_upper(c); break;
    case 'w': in = is_alnum(c); break;
    case 'x': in = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); break;
    case 'z': in = c == 0; break;
    default: return name == c;
  }
  return is_upper(name) ? !in : in;
}

/// One attempt after another to match a pattern, as Lua 5.1 defines patterns: they end at their first zero byte.
class Matcher {
 public:
  Matcher(lua_State* lua, std::string_view text, std::string_view pattern)
      : lua_(lua), session_(LuaSession::of(lua)), text_(text), pattern_(pattern.substr(0, pattern.find('\0'))) {}

  /// Where the match that begins at `at` ends, or kNone. `first` is where in the pattern to begin.
  std::size_t match_at(std::size_t at, std::size_t first) {
    captures_count_ = 0;
    return match(at, first);
  }

  /// Pushes capture `i`; a pattern without captures has the whole match as its first.
  void push_capture(std::size_t i, std::size_t begin, std::size_t end) {
    if (i >= captures_count_) {
      if (i != 0) luaL_error(lua_, "invalid capture index");
      push(begin, end - begin);
      return;
    }
    const Capture& capture = captures_[i];
    if (capture.length == kUnfinished) luaL_error(lua_, "unfinished capture");
    if (capture.length == kPosition) {
      lua_pushinteger(lua_, static_cast<lua_Integer>(capture.begin) + 1);
    } else {
      push(capture.begin, capture.length);
    }
  }

  /// Pushes all captures and gives their number. `whole_if_none`: the whole match stands in for none.
  int push_captures(std::size_t begin, std::size_t end, bool whole_if_none) {
    const std::size_t count = captures_count_ == 0 && whole_if_none ? 1 : captures_count_;
    luaL_checkstack(lua_, static_cast<int>(count), "too many captures");
    for (std::size_t i = 0; i < count; ++i) push_capture(i, begin, end);
    return static_cast<int>(count);
  }

  std::string_view text() const { return text_; }
  bool is_anchored() const { return !pattern_.empty() && pattern_[0] == '^'; }

 private:
  static constexpr std::size_t kUnfinished = static_cast<std::size_t>(-1);
  static constexpr std::size_t kPosition = static_cast<std::size_t>(-2);
  struct Capture {
    std::size_t begin = 0;
    std::size_t length = 0;
  };
  struct Depth {
    Depth(Matcher& m) : matcher(m) {
      if (++matcher.depth_ > kDeepestPattern) luaL_error(matcher.lua_, "pattern too complex");
    }
    ~Depth() { --matcher.depth_; }
    Matcher& matcher;
  };

  void push(std::size_t begin, std::size_t length) { lua_pushlstring(lua_, text_.data() + begin, length); }
  bool at_end(std::size_t p) const { return p >= pattern_.size(); }
  unsigned char pattern(std::size_t p) const { return static_cast<unsigned char>(pattern_[p]); }
  unsigned char text(std::size_t s) const { return static_cast<unsigned char>(text_[s]); }

  /// The end of the single-character item that begins at `p`.
  std::size_t item_end(std::size_t p) {
    const char c = pattern_[p++];
    if (c == kEscape) {
      if (at_end(p)) luaL_error(lua_, "malformed pattern (ends with '%%')");
      return p + 1;
    }
    if (c != '[') return p;
    if (!at_end(p) && pattern_[p] == '^') ++p;
    do {  // a ']' that comes first stands for itself
      if (at_end(p)) luaL_error(lua_, "malformed pattern (missing ']')");
      if (pattern_[p++] == kEscape && !at_end(p)) ++p;
    } while (at_end(p) || pattern_[p] != ']');
    return p + 1;
  }

  /// `open` is the '[' and `close` the ']' of a set.
  bool is_in_set(unsigned char c, std::size_t open, std::size_t close) const {
    std::size_t p = open + 1;
    const bool complement = pattern_[p] == '^';
    if (complement) ++p;
    for (; p < close; ++p) {
      if (pattern_[p] == kEscape) {
        ++p;
        if (is_of_class(c, pattern(p))) return !complement;
      } else if (p + 2 < close && pattern_[p + 1] == '-') {
        if (pattern(p) <= c && c <= pattern(p + 2)) return !complement;
        p += 2;
      } else if (pattern(p) == c) {
        return !complement;
      }
    }
    return complement;
  }

  bool matches_one(std::size_t s, std::size_t p, std::size_t end) {
    session_.charge(1);
    if (s >= text_.size()) return false;
    switch (pattern_[p]) {
      case '.': return true;
      case kEscape: return is_of_class(text(s), pattern(p + 1));
      case '[': session_.charge((end - p) / 8); return is_in_set(text(s), p, end - 1);
      default: return pattern(p) == text(s);
    }
  }

  std::size_t match(std::size_t s, std::size_t p) {
    const Depth depth(*this);
    while (!at_end(p)) {
      session_.charge(1);
      switch (pattern_[p]) {
        case '(':
          return !at_end(p + 1) && pattern_[p + 1] == ')' ? begin_capture(s, p + 2, kPosition)
                                                          : begin_capture(s, p + 1, kUnfinished);
        case ')': return end_capture(s, p + 1);
        case '$':
          if (at_end(p + 1)) return s == text_.size() ? s : kNone;
          break;
        case kEscape:
          if (at_end(p + 1)) break;  // an error, for item_end
          if (pattern_[p + 1] == 'b') {
            s = match_balance(s, p + 2);
            if (s == kNone) return kNone;
            p += 4;
            continue;
          }
          if (pattern_[p + 1] == 'f') {
            p += 2;
            if (at_end(p) || pattern_[p] != '[') luaL_error(lua_, "missing '[' after '%%f' in pattern");
            const std::size_t end = item_end(p);
            const unsigned char before = s == 0 ? 0 : text(s - 1);
            const unsigned char here = s < text_.size() ? text(s) : 0;
            if (is_in_set(before, p, end - 1) || !is_in_set(here, p, end - 1)) return kNone;
            p = end;
            continue;
          }
          if (is_digit(pattern(p + 1))) {
            s = match_capture_again(s, pattern(p + 1));
            if (s == kNone) return kNone;
            p += 2;
            continue;
          }
          break;
        default: break;
      }
      const std::size_t end = item_end(p);
      const char repetition = at_end(end) ? '\0' : pattern_[end];
      switch (repetition) {
        case '?':
          if (matches_one(s, p, end)) {
            if (const std::size_t found = match(s + 1, end + 1); found != kNone) return found;
          }
          p = end + 1;
          continue;
        case '*': return longest_first(s, p, end, 0);
        case '+': return longest_first(s, p, end, 1);
        case '-': return shortest_first(s, p, end);
        default:
          if (!matches_one(s, p, end)) return kNone;
          ++s;
          p = end;
      }
    }
    return s;
  }

  std::size_t longest_first(std::size_t s, std::size_t p, std::size_t end, std::size_t least) {
    std::size_t count = 0;
    while (matches_one(s + count, p, end)) ++count;
    for (std::size_t left = count + 1; left > least; --left) {
      if (const std::size_t found = match(s + left - 1, end + 1); found != kNone) return found;
    }
    return kNone;
  }

  std::size_t shortest_first(std::size_t s, std::size_t p, std::size_t end) {
    for (;; ++s) {
      if (const std::size_t found = match(s, end + 1); found != kNone) return found;
      if (!matches_one(s, p, end)) return kNone;
    }
  }

  std::size_t match_balance(std::size_t s, std::size_t p) {
    if (at_end(p) || at_end(p + 1)) luaL_error(lua_, "unbalanced pattern");
    if (s >= text_.size() || text_[s] != pattern_[p]) return kNone;
    const char open = pattern_[p], close = pattern_[p + 1];
    std::size_t nesting = 1;
    for (std::size_t i = s + 1; i < text_.size(); ++i) {
      session_.charge(1);
      if (text_[i] == close) {
        if (--nesting == 0) return i + 1;
      } else if (text_[i] == open) {
        ++nesting;
      }
    }
    return kNone;
  }

  std::size_t begin_capture(std::size_t s, std::size_t p, std::size_t kind) {
    if (captures_count_ >= captures_.size()) luaL_error(lua_, "too many captures");
    captures_[captures_count_++] = {s, kind};
    const std::size_t found = match(s, p);
    if (found == kNone) --captures_count_;
    return found;
  }

  std::size_t end_capture(std::size_t s, std::size_t p) {
    std::size_t i = captures_count_;
    do {
      if (i == 0) luaL_error(lua_, "invalid pattern capture");
    } while (captures_[--i].length != kUnfinished);
    captures_[i].length = s - captures_[i].begin;
    const std::size_t found = match(s, p);
    if (found == kNone) captures_[i].length = kUnfinished;
    return found;
  }

  std::size_t match_capture_again(std::size_t s, unsigned char digit) {
    const auto i = static_cast<std::size_t>(digit - '1');
    if (digit == '0' || i >= captures_count_ || captures_[i].length == kUnfinished) {
      luaL_error(lua_, "invalid capture index");
    }
    const Capture& capture = captures_[i];
    if (capture.length == kPosition) return kNone;
    session_.charge(1 + capture.length / 64);
    return text_.substr(s).starts_with(text_.substr(capture.begin, capture.length)) ? s + capture.length : kNone;
  }

  lua_State* lua_;
  LuaSession& session_;
  std::string_view text_;
  std::string_view pattern_;
  std::array<Capture, LUA_MAXCAPTURES> captures_;
  std::size_t captures_count_ = 0;
  int depth_ = 0;
};

std::string_view check_string(lua_State* lua, int argument) {
  std::size_t length = 0;
  const char* bytes = luaL_checklstring(lua, argument, &length);
  return {bytes, length};
}

int find_or_match(lua_State* lua, bool find) {
  const std::string_view text = check_string(lua, 1), pattern = check_string(lua, 2);
  const auto size = static_cast<lua_Integer>(text.size());
  lua_Integer from = luaL_optinteger(lua, 3, 1);
  if (from < 0) from = std::max<lua_Integer>(0, from + size + 1);
  const auto begin = static_cast<std::size_t>(std::clamp<lua_Integer>(from - 1, 0, size));

  const bool is_plain = pattern.substr(0, pattern.find('\0')).find_first_of("^$*+?.([%-") == std::string_view::npos;
  if (find && (lua_toboolean(lua, 4) || is_plain)) {
    LuaSession::of(lua).charge(1 + (text.size() - begin) / 8 + pattern.size() / 8);
    const std::size_t found = text.find(pattern, begin);
    if (found == std::string_view::npos) {
      lua_pushnil(lua);
      return 1;
    }
    lua_pushinteger(lua, static_cast<lua_Integer>(found) + 1);
    lua_pushinteger(lua, static_cast<lua_Integer>(found + pattern.size()));
    return 2;
  }

  Matcher matcher(lua, text, pattern);
  for (std::size_t at = begin; at <= text.size(); ++at) {
    const std::size_t end = matcher.match_at(at, matcher.is_anchored() ? 1 : 0);
    if (end != kNone) {
      if (!find) return matcher.push_captures(at, end, true);
      lua_pushinteger(lua, static_cast<lua_Integer>(at) + 1);
      lua_pushinteger(lua, static_cast<lua_Integer>(end));
      return 2 + matcher.push_captures(at, end, false);
    }
    if (matcher.is_anchored()) break;
  }
  lua_pushnil(lua);
  return 1;
}

int find(lua_State* lua) { return find_or_match(lua, true); }
int match(lua_State* lua) { return find_or_match(lua, false); }

/// Upvalues: text, pattern, where to go on.
int gmatch_next(lua_State* lua) {
  Matcher matcher(lua, check_string(lua, lua_upvalueindex(1)), check_string(lua, lua_upvalueindex(2)));
  for (auto at = static_cast<std::size_t>(lua_tointeger(lua, lua_upvalueindex(3))); at <= matcher.text().size(); ++at) {
    const std::size_t end = matcher.match_at(at, 0);
    if (end == kNone) continue;
    lua_pushinteger(lua, static_cast<lua_Integer>(end == at ? end + 1 : end));
    lua_replace(lua, lua_upvalueindex(3));
    return matcher.push_captures(at, end, true);
  }
  return 0;
}

int gmatch(lua_State* lua) {
  check_string(lua, 1), check_string(lua, 2);
  lua_settop(lua, 2);
  lua_pushinteger(lua, 0);
  lua_pushcclosure(lua, gmatch_next, 3);
  return 1;
}

/// Appends what replaces the match [begin, end): argument 3 decides.
void append_replacement(lua_State* lua, Matcher& matcher, std::string& out, std::size_t begin, std::size_t end) {
  const std::string_view whole = matcher.text().substr(begin, end - begin);
  switch (lua_type(lua, 3)) {
    case LUA_TNUMBER:
    case LUA_TSTRING: {
      const std::string_view replacement = check_string(lua, 3);
      for (std::size_t i = 0; i < replacement.size(); ++i) {
        LuaSession::of(lua).charge(1);
        const char c = replacement[i];
        if (c != kEscape) {
          out += c;
          continue;
        }
        const char selector = ++i < replacement.size() ? replacement[i] : '\0';
        if (selector == '0') {
          out += whole;
        } else if (is_digit(static_cast<unsigned char>(selector))) {
          matcher.push_capture(static_cast<std::size_t>(selector - '1'), begin, end);
          out += check_string(lua, -1);
          lua_pop(lua, 1);
        } else {
          out += selector;
        }
      }
      return;
    }
    case LUA_TFUNCTION: {
      lua_pushvalue(lua, 3);
      lua_call(lua, matcher.push_captures(begin, end, true), 1);
      break;
    }
    default: matcher.push_capture(0, begin, end); lua_gettable(lua, 3);
  }
  if (!lua_toboolean(lua, -1)) {
    out += whole;
  } else if (lua_isstring(lua, -1)) {
    out += check_string(lua, -1);
  } else {
    luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
  }
  lua_pop(lua, 1);
}

int gsub(lua_State* lua) {
  const std::string_view text = check_string(lua, 1), pattern = check_string(lua, 2);
  const int type = lua_type(lua, 3);
  luaL_argcheck(lua, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                "string/function/table expected");
  const lua_Integer most = luaL_optinteger(lua, 4, static_cast<lua_Integer>(text.size()) + 1);
  LuaSession& session = LuaSession::of(lua);
  Matcher matcher(lua, text, pattern);

  std::string out;
  lua_Integer replaced = 0;
  std::size_t at = 0;
  while (replaced < most) {
    const std::size_t end = matcher.match_at(at, matcher.is_anchored() ? 1 : 0);
    if (end != kNone) {
      ++replaced;
      append_replacement(lua, matcher, out, at, end);
      session.require_memory(out.size());
    }
    if (end != kNone && end > at) {
      at = end;
    } else if (at < text.size()) {
      out += text[at++];
    } else {
      break;
    }
    if (matcher.is_anchored()) break;
  }
  out += text.substr(at);
  lua_pushlstring(lua, out.data(), out.size());
  lua_pushinteger(lua, replaced);
  return 2;
}

}  // namespace

void install_pattern_functions(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {{"find", find},    {"match", match}, {"gmatch", gmatch},
                                     {"gfind", gmatch}, {"gsub", gsub},   {nullptr, nullptr}};
  luaL_register(lua, nullptr, kFunctions);
}

}  // namespace lockstep::models::redis
