#include "models/locks/parameters.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::models::locks {
namespace {

struct KindOf {
  std::span<const std::string_view> choices;

  std::string operator()(sim::Duration) const { return "duration"; }
  std::string operator()(sim::DurationRange) const { return "duration range"; }
  std::string operator()(std::int64_t) const { return "whole number"; }
  std::string operator()(bool) const { return "true or false"; }
  std::string operator()(const std::string&) const {
    if (choices.empty()) return "string";
    std::string kind = "one of ";
    for (std::size_t i = 0; i < choices.size(); ++i) kind += (i == 0 ? "" : ", ") + std::string(choices[i]);
    return kind;
  }
};

std::size_t index_of(std::span<const ParameterSpec> specs, std::string_view name) {
  const auto found = std::find_if(specs.begin(), specs.end(), [&](const ParameterSpec& s) { return s.name == name; });
  return static_cast<std::size_t>(found - specs.begin());
}

}  // namespace

std::string kind_of(const ParameterSpec& spec) { return std::visit(KindOf{spec.choices}, spec.fallback); }

Parameters::Parameters(std::span<const ParameterSpec> specs) : specs_(specs) {
  for (const ParameterSpec& spec : specs) values_.push_back(spec.fallback);
}

const ParameterSpec* Parameters::find(std::string_view name) const {
  const std::size_t i = index_of(specs_, name);
  return i == specs_.size() ? nullptr : &specs_[i];
}

void Parameters::set(std::string_view name, ParameterValue value) {
  const std::size_t i = index_of(specs_, name);
  assert(i < specs_.size() && "the algorithm declares no parameter of this name");
  assert(value.index() == specs_[i].fallback.index() && "the value is of another kind than the parameter");
  values_[i] = std::move(value);
}

const ParameterValue& Parameters::get(std::string_view name) const {
  const std::size_t i = index_of(specs_, name);
  assert(i < specs_.size() && "the algorithm declares no parameter of this name");
  return values_[i];
}

}  // namespace lockstep::models::locks
