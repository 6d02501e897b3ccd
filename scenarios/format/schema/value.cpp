#include "scenarios/format/schema/value.hpp"

#include <algorithm>

#include "models/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

using sim::Duration;
using sim::DurationRange;

std::string describe(const Node& node) {
  if (const auto* text = std::get_if<std::string>(&node.value)) return in_quotes(*text);
  if (const auto* number = std::get_if<std::int64_t>(&node.value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag ? "true" : "false";
  if (std::holds_alternative<Array>(node.value)) return "an array";
  if (std::holds_alternative<Table>(node.value)) return "a table";
  return std::string(std::get<Unused>(node.value).what);
}

enum class Sign : std::uint8_t { either, not_negative };

constexpr std::string_view kDuration = "a duration such as \"5ms\" (units: ns, us, ms, s, min)";
constexpr std::string_view kRange = "a duration such as \"5ms\", or a range such as [\"1ms\", \"5ms\"]";

Duration duration(const Node& node, Sign sign) {
  const auto* text = std::get_if<std::string>(&node.value);
  const std::optional<Duration> read = text != nullptr ? sim::parse_duration(*text) : std::nullopt;
  if (!read) fail_expecting(node, kDuration);
  if (sign == Sign::not_negative && *read < Duration::zero()) fail_expecting(node, "a duration of 0ms or more");
  if (*read > Duration::forever() || *read < -Duration::forever()) {
    fail_expecting(node, "a duration of at most ten years");
  }
  return *read;
}

DurationRange range(const Node& node, Sign sign) {
  const auto* bounds = std::get_if<Array>(&node.value);
  if (bounds == nullptr) {
    if (!std::holds_alternative<std::string>(node.value)) fail_expecting(node, kRange);
    return DurationRange::exactly(duration(node, sign));
  }
  if (bounds->size() != 2) {
    fail(node, "expected a range of two durations such as [\"1ms\", \"5ms\"], not an array of " +
                   std::to_string(bounds->size()));
  }
  const DurationRange read{duration((*bounds)[0], sign), duration((*bounds)[1], sign)};
  if (read.hi < read.lo) {
    fail(node, "a range from " + sim::to_string(read.lo) + " down to " + sim::to_string(read.hi) +
                   "; expected the smaller one first");
  }
  return read;
}

DurationRange exact(const Node& node, Sign sign) {
  if (std::holds_alternative<Array>(node.value)) {
    fail(node, "expected one duration, not a range: a [[fault]] does happen; ranges are for [[may]]");
  }
  return DurationRange::exactly(duration(node, sign));
}

/// As redis-cli reads it; a literal string where that saves a backslash.
std::string toml_of(const ClientSpec::Line& line) {
  std::string words;
  for (const models::Value& value : line.command.values()) {
    const std::string text = value.text();
    const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '\\';
    });
    if (!words.empty()) words += ' ';
    is_plain ? void(words += text) : models::append_quoted(words, text);
  }
  const bool wants = words.find_first_of("\"\\") != std::string::npos;
  return wants && words.find('\'') == std::string::npos ? "'" + words + "'" : toml_text::basic_string(words);
}

}  // namespace

void fail(const Node& node, const std::string& message) {
  throw Bad{node.at, node.key.empty() ? message : node.key + ": " + message};
}

void fail_expecting(const Node& node, std::string_view what) {
  fail(node, "expected " + std::string(what) + ", not " + describe(node));
}

const std::string& string_of(const Node& node, std::string_view what) {
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr) fail_expecting(node, what);
  return *text;
}

const std::string& text_of(const Node& node, std::string_view what) {
  const std::string& text = string_of(node, what);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    fail(node, "expected " + std::string(what) + ", not an empty string");
  }
  return text;
}

const Table& table_of(const Node& node, std::string_view what) {
  const auto* table = std::get_if<Table>(&node.value);
  if (table == nullptr) fail_expecting(node, what);
  return *table;
}

const Array& array_of(const Node& node, std::string_view what) {
  const auto* array = std::get_if<Array>(&node.value);
  if (array == nullptr) fail_expecting(node, what);
  return *array;
}

bool flag_of(const Node& node) {
  const auto* flag = std::get_if<bool>(&node.value);
  if (flag == nullptr) fail_expecting(node, "true or false, without quotes");
  return *flag;
}

std::int64_t whole_of(const Node& node, std::int64_t min, std::int64_t max) {
  const bool bounded = max != std::numeric_limits<std::int64_t>::max();
  const std::string what = bounded ? "a whole number from " + std::to_string(min) + " to " + std::to_string(max)
                                   : "a whole number of " + std::to_string(min) + " or more";
  const auto* number = std::get_if<std::int64_t>(&node.value);
  if (number == nullptr || *number < min || *number > max) fail_expecting(node, what);
  return *number;
}

Duration duration_of(const Node& node) { return duration(node, Sign::not_negative); }
Duration signed_duration_of(const Node& node) { return duration(node, Sign::either); }
DurationRange range_of(const Node& node) { return range(node, Sign::not_negative); }
DurationRange signed_range_of(const Node& node) { return range(node, Sign::either); }
DurationRange exact_of(const Node& node) { return exact(node, Sign::not_negative); }
DurationRange signed_exact_of(const Node& node) { return exact(node, Sign::either); }

std::vector<const Node*> one_or_more(const Node& node, std::string_view what) {
  const auto* array = std::get_if<Array>(&node.value);
  if (array == nullptr) {
    text_of(node, what);
    return {&node};
  }
  if (array->empty()) fail(node, "expected " + std::string(what) + ", not an empty array");
  std::vector<const Node*> nodes;
  for (const Node& element : *array) {
    text_of(element, what);
    nodes.push_back(&element);
  }
  return nodes;
}

Value as_toml(Duration d) { return {toml_text::basic_string(sim::to_string(d))}; }
Value as_toml(DurationRange range) {
  if (range.is_exact()) return as_toml(range.lo);
  return {"[" + as_toml(range.lo).line + ", " + as_toml(range.hi).line + "]"};
}
Value as_toml(std::int64_t number) { return {std::to_string(number)}; }
Value as_toml(bool flag) { return {flag ? "true" : "false"}; }
Value as_toml(const std::string& text) { return {toml_text::basic_string(text)}; }

Value as_toml(const std::vector<std::string>& texts) {
  Value array;
  for (const std::string& text : texts) array.elements.push_back(toml_text::basic_string(text));
  return array;
}

Value as_toml(const std::vector<models::locks::Call>& calls) {
  std::vector<std::string> names;
  for (const models::locks::Call call : calls) names.emplace_back(name_in(models::locks::call_names, call));
  return as_toml(names);
}

Value as_toml(const std::vector<ClientSpec::Line>& commands) {
  Value lines;
  for (const ClientSpec::Line& line : commands) lines.elements.push_back(toml_of(line));
  return lines;
}

Value as_toml(const std::vector<std::vector<std::string>>& sides) {
  if (sides.empty()) return {};
  const auto side = [&](std::size_t i) { return toml_text::array(as_toml(sides[i]).elements, 0); };
  return {"[" + side(0) + ", " + side(1) + "]"};
}

Value as_toml(const std::map<std::string, std::string, std::less<>>& texts) {
  Keys keys;
  for (const auto& [key, text] : texts) keys.push_back(as_toml(text).of(key));
  return {inline_table(keys)};
}

Value names_as_toml(const std::vector<std::string>& names) {
  return names.size() == 1 ? as_toml(names.front()) : as_toml(names);
}

Value headed(Keys table) { return {.tables = {std::move(table)}}; }

void fail_choice(const Node& node, std::span<const std::string_view> valid) {
  const auto* text = std::get_if<std::string>(&node.value);
  if (text != nullptr) fail(node, "there is no " + in_quotes(*text) + ": " + suggestion(*text, valid));
  std::string list;
  for (const std::string_view name : valid) list += (list.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  fail_expecting(node, "one of " + list);
}

}  // namespace lockstep::scenarios::schema
