#include "scenarios/format/toml/toml_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep::scenarios::toml_text {
namespace {

constexpr std::size_t kColumns = 110;

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (byte < 0x20 || byte == 0x7f) {
          out += fmt::format("\\u{:04X}", byte);
        } else {
          out += c;
        }
    }
  }
}

/// The bytes of the character that begins a text.
std::size_t character(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80) ++length;
  return length;
}

/// Chinese characters are as wide as two others; they take three bytes.
std::size_t width_of(std::string_view character) { return character.size() >= 3 ? 2 : 1; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Whether a line may end behind this character.
bool may_break_after(std::string_view character) {
  constexpr std::string_view punctuation[] = {" ", "，", "。", "；", "：", "、"};
  return std::find(std::begin(punctuation), std::end(punctuation), character) != std::end(punctuation);
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character(text.substr(at));
    columns += width_of(text.substr(at, length));
    at += length;
  }
  return columns;
}

std::string text_of(const Value& value, std::size_t indent) {
  return value.elements.empty() ? value.line : array(value.elements, indent);
}

}  // namespace

std::string basic_string(std::string_view text) {
  std::string out = "\"";
  append_escaped(out, text);
  return out + '"';
}

std::string paragraph(std::string_view text) {
  if (columns_of(text) + 8 <= kColumns) return basic_string(text);
  // A backslash at the end of a line swallows the line break and all blanks behind it, so no line may begin with one.
  std::string out = "\"\"\"\n";
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    // Up to the next place where a line may end.
    std::size_t end = at;
    std::size_t columns = 0;
    while (end < text.size()) {
      const std::string_view next = text.substr(end, character(text.substr(end)));
      end += next.size();
      columns += width_of(next);
      if (end < text.size() && may_break_after(next) && !is_blank(text[end])) break;
    }
    if (line > 0 && line + columns > kColumns) {
      out += "\\\n";
      line = 0;
    }
    append_escaped(out, text.substr(at, end - at));
    line += columns;
    at = end;
  }
  return out + "\"\"\"";
}

std::string array(std::span<const std::string> elements, std::size_t indent) {
  std::string line;
  for (const std::string& element : elements) line += (line.empty() ? "" : ", ") + element;
  if (indent + columns_of(line) + 2 <= kColumns) return "[" + line + "]";
  std::string lines = "[\n";
  for (const std::string& element : elements) lines += "  " + element + ",\n";
  return lines + "]";
}

std::string inline_table(const Keys& keys) {
  std::string inside;
  for (const Value& value : keys) inside += (inside.empty() ? " " : ", ") + value.key + " = " + text_of(value, 0);
  return inside.empty() ? "{}" : "{" + inside + " }";
}

std::string file(const Keys& keys, const std::string& path) {
  std::string lines;
  std::string tables;
  for (const Value& value : keys) {
    for (const Keys& table : value.tables) {
      const std::string body = file(table, path + value.key + ".");
      const std::string brackets = value.is_array ? "[[]]" : "[]";
      if (!body.starts_with('\n'))
        tables += "\n" + std::string(brackets).insert(brackets.size() / 2, path + value.key) + "\n";
      tables += body;
    }
    if (value.tables.empty()) lines += value.key + " = " + text_of(value, value.key.size() + 3) + "\n";
  }
  return lines + tables;
}

}  // namespace lockstep::scenarios::toml_text
