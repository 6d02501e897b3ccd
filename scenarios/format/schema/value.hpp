#pragma once

// Values of a scenario file as the types of scenario.hpp, and back. Each reader gives a value that is valid by itself,
// or throws `Bad` at the value's position with what was expected; whether names exist is asked later
// (schema/names.hpp).

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scenarios/format/toml/toml_text.hpp"
#include "scenarios/format/toml/tree.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios::schema {

using toml_text::Keys;
using toml_text::Value;

/// "hold: ...", at the value.
[[noreturn]] void fail(const Node& node, const std::string& message);
/// "hold: expected a duration such as "5ms", not 5".
[[noreturn]] void fail_expecting(const Node& node, std::string_view what);

const std::string& string_of(const Node& node, std::string_view what);
/// A string with something in it besides blanks.
const std::string& text_of(const Node& node, std::string_view what);
const Table& table_of(const Node& node, std::string_view what);
const Array& array_of(const Node& node, std::string_view what);
bool flag_of(const Node& node);
std::int64_t whole_of(const Node& node, std::int64_t min, std::int64_t max = std::numeric_limits<std::int64_t>::max());

/// Durations are at most ten years (sim::Duration::forever()) either way, so that sums of them fit.
sim::Duration duration_of(const Node& node);  ///< not negative
sim::Duration signed_duration_of(const Node& node);
sim::DurationRange range_of(const Node& node);  ///< "5ms" or ["1ms", "5ms"], not negative
sim::DurationRange signed_range_of(const Node& node);
/// One duration where `[[may]]` would take a range: a fault that does happen has one length.
sim::DurationRange exact_of(const Node& node);
sim::DurationRange signed_exact_of(const Node& node);

/// A string, or an array of at least one; each with its own position.
std::vector<const Node*> one_or_more(const Node& node, std::string_view what);

// The way back.

Value as_toml(sim::Duration d);
Value as_toml(sim::DurationRange range);
Value as_toml(std::int64_t number);
Value as_toml(bool flag);
Value as_toml(const std::string& text);
Value as_toml(const std::vector<std::string>& texts);
Value as_toml(const ClockSpec& clock);
Value as_toml(const std::vector<models::locks::Call>& calls);
Value as_toml(const std::vector<ClientSpec::Line>& commands);
/// Of a partition.
Value as_toml(const std::vector<std::vector<std::string>>& sides);
/// A table of texts.
Value as_toml(const std::map<std::string, std::string, std::less<>>& texts);
template <class T>
Value as_toml(const std::optional<T>& value) {
  return value ? as_toml(*value) : Value{};
}
template <class... T>
Value as_toml(const std::variant<T...>& value) {
  return std::visit([](const auto& v) { return as_toml(v); }, value);
}
/// What `one_or_more` reads.
Value names_as_toml(const std::vector<std::string>& names);
/// Below a heading, `[lock]`.
Value headed(Keys table);

/// Throws that `text`, said at `node`, is none of `valid`.
[[noreturn]] void fail_choice(const Node& node, std::span<const std::string_view> valid);

template <class Enum, std::size_t N>
std::vector<std::string_view> names_of(const std::array<std::pair<std::string_view, Enum>, N>& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  return names;
}

/// Empty: it has none.
template <class Said, class Enum, std::size_t N>
std::string name_in(const std::array<std::pair<std::string_view, Enum>, N>& choices, const Said& said) {
  for (const auto& [name, value] : choices) {
    if (said == value) return std::string(name);
  }
  return "";
}

template <class Enum, std::size_t N>
Enum choice_of(const Node& node, const std::array<std::pair<std::string_view, Enum>, N>& choices) {
  if (const auto* text = std::get_if<std::string>(&node.value)) {
    for (const auto& [name, value] : choices) {
      if (name == *text) return value;
    }
  }
  fail_choice(node, names_of(choices));
}

}  // namespace lockstep::scenarios::schema
