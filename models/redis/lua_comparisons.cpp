#include "models/redis/lua_comparisons.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::models::redis {
namespace {

struct Token {
  enum class Kind : std::uint8_t { word, number, string, sign, end } kind = Kind::end;
  std::string_view text;  ///< of a string: what lies between its quotes, escapes as they are written
  std::size_t begin = 0;
  std::size_t end = 0;

  bool is(std::string_view word_or_sign) const {
    return (kind == Kind::word || kind == Kind::sign) && text == word_or_sign;
  }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Lua 5.1's words, as far as it takes to see where a comparison begins and ends.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view script) : script_(script) {}

  /// All tokens with one for the end; nothing: this is no Lua.
  std::optional<std::vector<Token>> tokens() {
    std::vector<Token> all;
    do {
      if (!skip_blanks()) return std::nullopt;
      const std::optional<Token> token = next();
      if (!token) return std::nullopt;
      all.push_back(*token);
    } while (all.back().kind != Token::Kind::end);
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
      if (next_ < script_.size() && is_blank(script_[next_])) {
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

  Token token(Token::Kind kind, std::size_t begin) const {
    return {kind, script_.substr(begin, next_ - begin), begin, next_};
  }

  std::optional<Token> next() {
    const std::size_t begin = next_;
    if (begin == script_.size()) return Token{Token::Kind::end, "", begin, begin};
    const char c = script_[begin];
    if (is_letter(c)) {
      while (is_letter(at(next_)) || is_digit(at(next_))) ++next_;
      return token(Token::Kind::word, begin);
    }
    if (is_digit(c) || (c == '.' && is_digit(at(begin + 1)))) {
      // More than a number can be, too: Lua would not take it, and then nothing depends on it.
      while (is_letter(at(next_)) || is_digit(at(next_)) || at(next_) == '.') ++next_;
      return token(Token::Kind::number, begin);
    }
    if (c == '\'' || c == '"') return quoted(c);
    if (const std::optional<std::size_t> level = long_bracket(begin)) {
      if (!skip_long_bracket(*level)) return std::nullopt;
      return Token{Token::Kind::string, "", begin, next_};
    }
    for (const std::string_view sign : {"...", "..", "==", "~=", "<=", ">="}) {
      if (!script_.substr(begin).starts_with(sign)) continue;
      next_ += sign.size();
      return token(Token::Kind::sign, begin);
    }
    constexpr std::string_view kSigns = "+-*/%^#<>=(){}[];:,.";
    if (kSigns.find(c) == std::string_view::npos) return std::nullopt;
    ++next_;
    return token(Token::Kind::sign, begin);
  }

  std::optional<Token> quoted(char quote) {
    const std::size_t begin = next_++;
    while (at(next_) != quote) {
      if (next_ >= script_.size() || at(next_) == '\n') return std::nullopt;
      next_ += at(next_) == '\\' ? 2 : 1;
    }
    ++next_;
    return Token{Token::Kind::string, script_.substr(begin + 1, next_ - begin - 2), begin, next_};
  }

  std::string_view script_;
  std::size_t next_ = 0;
};

bool is_get(const Token& token) {
  if (token.kind != Token::Kind::string || token.text.size() != 3) return false;
  constexpr std::string_view kSmall = "get";
  return std::equal(token.text.begin(), token.text.end(), kSmall.begin(),
                    [](char a, char b) { return a == b || a == b - 'a' + 'A'; });
}

/// Whether an expression that begins with a call can begin behind it, and nothing before it takes hold of the call alone.
bool can_begin_behind(const Token& before) {
  constexpr std::array<std::string_view, 12> kBefore{"if", "elseif", "while", "until", "return", "and",
                                                     "or", "(",      "=",     ",",     "{",      ";"};
  return std::any_of(kBefore.begin(), kBefore.end(), [&](std::string_view word) { return before.is(word); });
}

/// Whether a comparison is over before it, so that nothing takes hold of its right side alone.
bool can_end_before(const Token& after) {
  constexpr std::array<std::string_view, 19> kAfter{"then", "do",    "and",   "or",     ")",     ",",      "}",
                                                    ";",    "end",   "else",  "elseif", "until", "return", "if",
                                                    "for",  "local", "while", "repeat", "break"};
  return after.kind == Token::Kind::end ||
         std::any_of(kAfter.begin(), kAfter.end(), [&](std::string_view word) { return after.is(word); });
}

/// A comparison, as the text of its two sides.
struct Comparison {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view key;
  std::string_view text;
  bool is_equality = true;
};

constexpr std::size_t kTokensOfItem = 4;                  // KEYS [ 1 ]
constexpr std::size_t kTokensOfCall = 7 + kTokensOfItem;  // redis . call ( 'GET' , KEYS[1] )
constexpr std::size_t kTokensOfComparison = kTokensOfCall + 1 + kTokensOfItem;

/// `NAME[number]`, as it stands in the script.
std::optional<std::string_view> item_of(std::string_view name, std::span<const Token> tokens, std::string_view script) {
  const bool is_item =
      tokens[0].is(name) && tokens[1].is("[") && tokens[2].kind == Token::Kind::number && tokens[3].is("]");
  if (!is_item) return std::nullopt;
  return script.substr(tokens[0].begin, tokens[3].end - tokens[0].begin);
}

/// Requires: as many tokens as a comparison has.
std::optional<Comparison> comparison_at(std::span<const Token> tokens, std::string_view script) {
  const bool is_call = tokens[0].is("redis") && tokens[1].is(".") && tokens[2].is("call") && tokens[3].is("(") &&
                       is_get(tokens[4]) && tokens[5].is(",") && tokens[kTokensOfCall - 1].is(")");
  const Token& sign = tokens[kTokensOfCall];
  if (!is_call || !(sign.is("==") || sign.is("~="))) return std::nullopt;
  const auto key = item_of("KEYS", tokens.subspan(6), script);
  const auto text = item_of("ARGV", tokens.subspan(kTokensOfCall + 1), script);
  if (!key || !text) return std::nullopt;
  return Comparison{tokens.front().begin, tokens[kTokensOfComparison - 1].end, *key, *text, sign.is("==")};
}

/// Whether all names in it mean what they seem to.
bool is_plain(std::span<const Token> tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is("...") || token.is(kComparison)) return false;
    if (token.is("redis") && !tokens[i + 1].is(".")) return false;
  }
  return true;
}

}  // namespace

std::string with_comparisons(std::string_view script) {
  const std::optional<std::vector<Token>> read = Tokenizer(script).tokens();
  if (!read || !is_plain(*read)) return std::string(script);
  const std::span<const Token> tokens = *read;
  std::string out;
  std::size_t copied = 0;
  for (std::size_t i = 1; i + kTokensOfComparison < tokens.size(); ++i) {
    const auto found = comparison_at(tokens.subspan(i, kTokensOfComparison), script);
    if (!found || !can_begin_behind(tokens[i - 1]) || !can_end_before(tokens[i + kTokensOfComparison])) continue;
    // What lies between the two sides, line ends too, stays: errors tell lines.
    const std::size_t key_end = static_cast<std::size_t>(found->key.data() - script.data()) + found->key.size();
    const std::size_t text_begin = static_cast<std::size_t>(found->text.data() - script.data());
    std::string gap(script.substr(key_end, text_begin - key_end));
    std::string head(
        script.substr(found->begin, static_cast<std::size_t>(found->key.data() - script.data()) - found->begin));
    for (std::string* text : {&gap, &head}) std::erase_if(*text, [](char c) { return c != '\n'; });
    out += script.substr(copied, found->begin - copied);
    out += found->is_equality ? "" : "not ";
    out += kComparison;
    out += "(" + head + std::string(found->key) + "," + gap + std::string(found->text) + ")";
    copied = found->end;
  }
  if (copied == 0) return std::string(script);
  return "local " + std::string(kComparison) + " = ... " + out + std::string(script.substr(copied));
}

}  // namespace lockstep::models::redis
