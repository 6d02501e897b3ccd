#include "models/redis/script/questions/lua_tokens.hpp"

#include <algorithm>
#include <string>

namespace lockstep::models::redis {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_lua_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view script) : script_(script) {}

  /// All tokens with one for the end; nothing: this is no Lua.
  std::optional<std::vector<LuaToken>> tokens() {
    std::vector<LuaToken> all;
    do {
      if (!skip_blanks()) return std::nullopt;
      const std::optional<LuaToken> token = next();
      if (!token) return std::nullopt;
      all.push_back(*token);
    } while (all.back().kind != LuaToken::Kind::end);
    return all;
  }

 private:
  char at(std::size_t i) const { return i < script_.size() ? script_[i] : '\0'; }

  /// The level of the long bracket that opens here.
  std::optional<std::size_t> long_bracket(std::size_t from) const {
    if (at(from) != '[') return std::nullopt;
    std::size_t level = 0;
    while (at(from + 1 + level) == '=') ++level;
    if (at(from + 1 + level) != '[') return std::nullopt;
    return level;
  }

  /// Goes behind the long bracket that opens here. False: it is never closed.
  bool skip_long_bracket(std::size_t level) {
    const std::string closing = "]" + std::string(level, '=') + "]";
    const std::size_t close = script_.find(closing, next_ + level + 2);
    if (close == std::string_view::npos) return false;
    next_ = close + closing.size();
    return true;
  }

  /// Comments are blanks.
  bool skip_blanks() {
    for (;;) {
      if (next_ < script_.size() && is_lua_blank(script_[next_])) {
        ++next_;
      } else if (at(next_) == '-' && at(next_ + 1) == '-') {
        next_ += 2;
        if (const std::optional<std::size_t> level = long_bracket(next_)) {
          if (!skip_long_bracket(*level)) return false;
        } else {
          next_ = std::min(script_.find('\n', next_), script_.size());
        }
      } else {
        return true;
      }
    }
  }

  LuaToken token(LuaToken::Kind kind, std::size_t begin) const {
    return {kind, script_.substr(begin, next_ - begin), begin, next_};
  }

  std::optional<LuaToken> next() {
    const std::size_t begin = next_;
    if (begin == script_.size()) return LuaToken{LuaToken::Kind::end, "", begin, begin};
    const char c = script_[begin];
    if (is_letter(c)) {
      while (is_letter(at(next_)) || is_digit(at(next_))) ++next_;
      return token(LuaToken::Kind::word, begin);
    }
    if (is_digit(c) || (c == '.' && is_digit(at(begin + 1)))) {
      // More than a number can be, too: Lua would not take it, and then nothing depends on it.
      while (is_letter(at(next_)) || is_digit(at(next_)) || at(next_) == '.') ++next_;
      return token(LuaToken::Kind::number, begin);
    }
    if (c == '\'' || c == '"') return quoted(c);
    if (const std::optional<std::size_t> level = long_bracket(begin)) {
      if (!skip_long_bracket(*level)) return std::nullopt;
      return LuaToken{LuaToken::Kind::string, "", begin, next_};
    }
    for (const std::string_view sign : {"...", "..", "==", "~=", "<=", ">="}) {
      if (!script_.substr(begin).starts_with(sign)) continue;
      next_ += sign.size();
      return token(LuaToken::Kind::sign, begin);
    }
    constexpr std::string_view kSigns = "+-*/%^#<>=(){}[];:,.";
    if (kSigns.find(c) == std::string_view::npos) return std::nullopt;
    ++next_;
    return token(LuaToken::Kind::sign, begin);
  }

  std::optional<LuaToken> quoted(char quote) {
    const std::size_t begin = next_++;
    while (at(next_) != quote) {
      if (next_ >= script_.size() || at(next_) == '\n') return std::nullopt;
      next_ += at(next_) == '\\' ? 2 : 1;
    }
    ++next_;
    return LuaToken{LuaToken::Kind::string, script_.substr(begin + 1, next_ - begin - 2), begin, next_};
  }

  std::string_view script_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<std::vector<LuaToken>> lua_tokens(std::string_view script) { return Tokenizer(script).tokens(); }

}  // namespace lockstep::models::redis
