#pragma once

// Parameters of lock algorithms: what a scenario file may set, with kinds, units and defaults.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/time.hpp"

namespace lockstep::models::locks {

using ParameterValue = std::variant<sim::Duration, sim::DurationRange, std::int64_t, bool, std::string>;

/// Declares one parameter. The kind is the alternative that `fallback` holds.
struct ParameterSpec {
  std::string_view name;     ///< snake_case, as in scenario files
  ParameterValue fallback;   ///< the value when a file says nothing: the document's own figure where it has one
  std::string_view meaning;  ///< one line
  std::span<const std::string_view> choices = {};  ///< for strings: all allowed values
  std::int64_t min = 0;                            ///< for numbers: the smallest allowed value
};

/// "duration", "duration range", "whole number", "true or false", "one of a, b".
std::string kind_of(const ParameterSpec& spec);

/// The values of one algorithm's parameters: the defaults, overlaid with what the scenario set.
class Parameters {
 public:
  explicit Parameters(std::span<const ParameterSpec> specs);

  const ParameterSpec* find(std::string_view name) const;
  /// Requires: `name` is declared, and `value` is of its kind (the loader checks what files say).
  void set(std::string_view name, ParameterValue value);

  /// Each requires that `name` is declared with that kind: anything else is a bug of the algorithm.
  sim::Duration duration(std::string_view name) const { return std::get<sim::Duration>(get(name)); }
  sim::DurationRange range(std::string_view name) const { return std::get<sim::DurationRange>(get(name)); }
  std::int64_t number(std::string_view name) const { return std::get<std::int64_t>(get(name)); }
  bool flag(std::string_view name) const { return std::get<bool>(get(name)); }
  const std::string& choice(std::string_view name) const { return std::get<std::string>(get(name)); }

  std::span<const ParameterSpec> specs() const { return specs_; }
  const ParameterValue& get(std::string_view name) const;

 private:
  std::span<const ParameterSpec> specs_;
  std::vector<ParameterValue> values_;
};

}  // namespace lockstep::models::locks
