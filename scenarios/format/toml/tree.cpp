#include "scenarios/format/toml/tree.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "scenarios/story/suggestion.hpp"
#include "sim/utf8.hpp"

namespace lockstep::scenarios::schema {
namespace {

constexpr std::size_t kQuotedBytesMax = 300;

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
  const std::size_t begin = offset_of(text, {at.line, 1});
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
  return message + sim::screenful(said, kQuotedBytesMax);
}

/// The parser tells where in a number, a date or a word it was at a loss; people look for where that begins.
bool is_within_value(const toml::parse_error& error, std::string_view text, std::size_t at) {
  const std::string_view said = error.description();
  constexpr std::string_view kScalars[] = {"integer:", "floating-point:", "boolean:", "date:", "time:", "date-time:"};
  const std::string_view where = said.substr(0, said.find(' ', said.find(':')));
  if (std::any_of(std::begin(kScalars), std::end(kScalars), [&](auto kind) { return where.ends_with(kind); }))
    return true;
  // Or it took the beginning for all of it: "1_".
  const auto is_of_value = [&](std::size_t i) {
    constexpr std::string_view kMarks = "_+-.:";
    return i < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || kMarks.find(text[i]) != std::string_view::npos);
  };
  return at > 0 && is_of_value(at - 1) && is_of_value(at) && said.find("expected '='") == std::string_view::npos;
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
    const Position at = position(error.source().begin);
    const std::size_t offset = offset_of(text, at);
    const bool is_within = is_within_value(error, text, offset);
    throw Bad{is_within ? position_of(text, begin_of_value(text, offset)) : at, message_of(error, text)};
  }
}

}  // namespace lockstep::scenarios::schema
