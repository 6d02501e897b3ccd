#pragma once

// Values of a scenario file as the types of scenario.hpp. Each reader gives a value that is valid by itself, or throws
// `Bad` at the value's position with what was expected; whether names exist is asked later (schema/names.hpp).

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/format/schema/tree.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios::schema {

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

/// Throws that `text`, said at `node`, is none of `valid`.
[[noreturn]] void fail_choice(const Node& node, std::span<const std::string_view> valid);

template <class Enum, std::size_t N>
std::vector<std::string_view> names_of(const std::array<std::pair<std::string_view, Enum>, N>& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  return names;
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
