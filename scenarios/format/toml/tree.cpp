#include "scenarios/format/toml/tree.hpp"

#include <toml++/toml.h>

#include <algorithm>

#include "scenarios/story/suggestion.hpp"
#include "sim/utf8.hpp"

namespace lockstep::scenarios::schema {
namespace {

constexpr std::size_t kMessageBytesMax = 300;

Position position(const toml::source_position& at) { return {at.line, at.column}; }

bool before(Position a, Position b) { return a.line != b.line ? a.line < b.line : a.column < b.column; }

Node convert(const toml::node& from, const std::string& key);

Table convert_table(const toml::table& from) {
  Table table;
  for (const auto& [key, value] : from) {
    Node node = convert(value, std::string(key.str()));
    table.push_back({position(key.source().begin), std::move(node)});
  }
  // The library sorts by name; the first mistake of a file is the one to report.
  std::ranges::sort(table, [](const Entry& a, const Entry& b) { return before(a.key_at, b.key_at); });
  return table;
}

Array convert_array(const toml::array& from, const std::string& key) {
  Array array;
  for (const toml::node& element : from) array.push_back(convert(element, key));
  return array;
}

Node convert(const toml::node& from, const std::string& key) {
  Node node{position(from.source().begin), key, Unused{}};
  if (const auto* text = from.as_string()) {
    if (text->get().size() > kStringBytesMax) {
      throw Bad{node.at, in_quotes(text->get()) + " is " + std::to_string(text->get().size()) +
                             " bytes long; expected a string of at most 65536 bytes"};
    }
    node.value = text->get();
  } else if (const auto* number = from.as_integer()) {
    node.value = number->get();
  } else if (const auto* flag = from.as_boolean()) {
    node.value = flag->get();
  } else if (const auto* array = from.as_array()) {
    node.value = convert_array(*array, key);
  } else if (const auto* table = from.as_table()) {
    node.value = convert_table(*table);
  } else {
    node.value = Unused{from.is_floating_point() ? "a number with a point" : "a date or time"};
  }
  return node;
}

bool ends_a_line(std::string_view text, Position at) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < at.line; ++line) begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  return position_of(text, end).column <= at.column;
}

/// The parser's own words, cut where it quotes a lot; but not for a forgotten quote, about which it says that control
/// characters are prohibited.
std::string message_of(const toml::parse_error& error, std::string_view text) {
  constexpr std::string_view lead = "Error while parsing ";
  std::string_view said = error.description();
  const bool control = said.find("unescaped control characters") != std::string_view::npos;
  if (control && ends_a_line(text, position(error.source().begin))) {
    return "a string that is not closed; expected a quote before the end of the line";
  }
  std::string message = "not valid TOML: ";
  if (said.starts_with(lead)) {
    message = "not valid TOML, in ";
    said.remove_prefix(lead.size());
  }
  if (said.size() <= kMessageBytesMax) return message + std::string(said);
  std::size_t end = kMessageBytesMax;
  while (end > 0 && (static_cast<unsigned char>(said[end]) & 0xC0u) == 0x80) --end;
  return message + std::string(said.substr(0, end)) + "...";
}

/// The parser tells where a number ends with which it can do nothing; people look for where it begins.
Position begin_of_number(std::string_view text, Position at) {
  std::size_t line_begin = 0;
  for (std::uint32_t line = 1; line < at.line && line_begin < text.size(); ++line)
    line_begin = std::min(text.find('\n', line_begin), text.size() - 1) + 1;
  std::size_t here = line_begin;
  for (std::uint32_t column = 1; column < at.column && here < text.size(); ++column)
    here += sim::first_character(text.substr(here)).bytes.size();
  const auto is_of_number = [](char c) {
    return (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-' || c == '.';
  };
  while (here > line_begin && is_of_number(text[here - 1])) --here, --at.column;
  return at;
}

}  // namespace

void Mistakes::add(Bad bad) {
  if (!all_) {
    all_ = std::move(bad);
    return;
  }
  std::vector<Bad> others = std::move(bad.others);
  bad.others.clear();
  all_->others.push_back(std::move(bad));
  all_->others.insert(all_->others.end(), std::make_move_iterator(others.begin()),
                      std::make_move_iterator(others.end()));
}

Node parse_tree(std::string_view text) {
  try {
    const toml::table root = toml::parse(text);
    return {{}, "", convert_table(root)};
  } catch (const toml::parse_error& error) {
    const bool is_number = error.description().find("number") != std::string_view::npos ||
                           error.description().find("integer") != std::string_view::npos;
    const Position at = position(error.source().begin);
    throw Bad{is_number ? begin_of_number(text, at) : at, message_of(error, text)};
  }
}

}  // namespace lockstep::scenarios::schema
