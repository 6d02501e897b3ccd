#include "models/redis/script/questions/lua_comparisons.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "models/redis/script/questions/lua_tokens.hpp"

namespace lockstep::models::redis {
namespace {

using Token = LuaToken;

bool is_get(const Token& token) {
  if (token.kind != Token::Kind::string || token.text.size() != 3) return false;
  constexpr std::string_view kSmall = "get";
  return std::equal(token.text.begin(), token.text.end(), kSmall.begin(),
                    [](char a, char b) { return a == b || a == b - 'a' + 'A'; });
}

/// Whether an expression that begins with a call can begin behind it, and nothing before it takes hold of the call
/// alone.
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
  const std::optional<std::vector<Token>> read = lua_tokens(script);
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
