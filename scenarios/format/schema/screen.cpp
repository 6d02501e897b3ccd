// What a text must be before a TOML parser sees it, and where in it something is.

#include <algorithm>
#include <charconv>

#include "scenarios/format/toml/tree.hpp"

namespace lockstep::scenarios::schema {
namespace {

/// The deepest a scenario needs is expect.run.<property>.from.<fault>.
constexpr std::size_t kKeyPartsMax = 16;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80; }

/// Bytes of the UTF-8 character at `text[i]`; 0 if there is none. Neither overlong forms nor surrogates are characters.
std::size_t character_at(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(i + k < text.size() ? text[i + k] : 0); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0u) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

void refuse_what_is_not_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_at(text, i);
    if (length == 0 || text[i] == '\0') {
      throw Bad{position_of(text, i), std::string(text[i] == '\0' ? "a zero byte" : "a byte that is not UTF-8") +
                                          ": this is no text file; expected a scenario in TOML, saved as UTF-8"};
    }
    i += length;
  }
}

/// Steps over one string, comment or other character of TOML at a time. Where the text is not valid TOML it may go
/// astray, but only behind the place where the parser stops.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  std::size_t at() const { return at_; }

  /// The character stepped over; '"' for a whole string, '\n' for a comment with its line end.
  char next() {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
      return '\n';
    }
    if (c == '"' || c == '\'') {
      string(c);
      return '"';
    }
    ++at_;
    return c;
  }

 private:
  bool triple(char quote) const {
    return at_ + 2 < text_.size() && text_[at_] == quote && text_[at_ + 1] == quote && text_[at_ + 2] == quote;
  }

  void string(char quote) {
    const bool long_string = triple(quote);
    at_ += long_string ? 3 : 1;
    while (!at_end()) {
      if (text_[at_] == '\\' && quote == '"') {
        at_ += 2;
      } else if (long_string ? triple(quote) : text_[at_] == quote) {
        at_ += long_string ? 3 : 1;
        // """x""""" ends with two quotes of its own before the three that close it.
        for (int more = 0; long_string && more < 2 && !at_end() && text_[at_] == quote; ++more) ++at_;
        return;
      } else if (!long_string && text_[at_] == '\n') {
        return;
      } else {
        ++at_;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void refuse_deep_keys(std::string_view text) {
  constexpr std::string_view ends_a_key = "=,[]{}\n";
  Scanner scanner(text);
  for (std::size_t parts = 1; !scanner.at_end();) {
    const std::size_t at = scanner.at();
    const char c = scanner.next();
    if (ends_a_key.find(c) != std::string_view::npos) parts = 1;
    if (c == '.' && ++parts > kKeyPartsMax) {
      throw Bad{position_of(text, at),
                "a key with more than 16 parts; a scenario needs no more than five, as in "
                "expect.check.mutual-exclusion.from.pause"};
    }
  }
}

}  // namespace

Position position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  const std::string_view line = before.substr(line_begin);
  return {static_cast<std::uint32_t>(1 + std::count(before.begin(), before.end(), '\n')),
          static_cast<std::uint32_t>(1 + line.size() - std::count_if(line.begin(), line.end(), continues))};
}

std::size_t offset_of(std::string_view text, Position at) {
  std::size_t i = 0;
  for (std::uint32_t line = 1; line < at.line; ++line) i = std::min(text.find('\n', i), text.size() - 1) + 1;
  for (std::uint32_t column = 1; column < at.column && i < text.size(); ++column) {
    do ++i;
    while (i < text.size() && continues(text[i]));
  }
  return i;
}

std::size_t begin_of_value(std::string_view text, std::size_t offset) {
  constexpr std::string_view before_a_value = "=,[{\n";
  std::size_t begin = 0;
  for (Scanner scanner(text.substr(0, offset)); !scanner.at_end();) {
    if (before_a_value.find(scanner.next()) != std::string_view::npos) begin = scanner.at();
  }
  return std::min(text.find_first_not_of(" \t", begin), offset);
}

Position position_inside(std::string_view text, Position begin, std::size_t offset) {
  std::size_t i = offset_of(text, begin);
  if (i >= text.size()) return begin;
  const char quote = text[i];
  if ((quote != '"' && quote != '\'') || text.substr(i, 3) == std::string(3, quote)) return begin;

  ++i;
  while (offset > 0 && i < text.size() && text[i] != '\n') {
    if (quote == '"' && text[i] == '\\' && i + 1 < text.size()) {
      // \u00e9 says two bytes and \n one.
      const char kind = text[i + 1];
      const std::size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
      std::size_t said = 1;
      if (digits > 0) {
        const std::string_view code = text.substr(i + 2, digits);
        std::uint32_t character = 0;
        std::from_chars(code.data(), code.data() + code.size(), character, 16);
        said = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
      }
      offset -= std::min(offset, said);
      i += 2 + digits;
    } else {
      --offset;
      ++i;
    }
  }
  return position_of(text, std::min(i, text.size()));
}

void screen(std::string_view text) {
  if (text.size() > kFileBytesMax) {
    throw Bad{{}, "larger than 1 MiB, which no scenario needs: is this the right file?"};
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Bad{{}, "an empty file; expected a scenario: at least title, [lock] and one [[client]]"};
  }
  refuse_what_is_not_text(text);
  refuse_deep_keys(text);
}

}  // namespace lockstep::scenarios::schema
