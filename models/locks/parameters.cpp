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

ParameterSpec attempts_parameter(std::int64_t fallback) {
  return {"attempts", fallback, "how often a client tries before it gives up", {}, 1};
}

ParameterSpec retry_parameter(sim::DurationRange fallback) {
  return {"retry", fallback, "pause between two attempts; a range is a random pause"};
}

ParameterSpec lease_parameter(std::string_view name, sim::Duration fallback, std::string_view meaning) {
  return {name, fallback, meaning, {}, 0, ParameterRole::lease};
}

ParameterSpec renewed_lease_parameter(std::string_view name, sim::Duration fallback, std::string_view meaning) {
  return {name, fallback, meaning, {}, 0, ParameterRole::renewed_lease};
}

ParameterSpec session_ttl_parameter(std::string_view name, sim::Duration fallback, std::string_view meaning) {
  return {name, fallback, meaning, {}, 0, ParameterRole::session_ttl};
}

ParameterSpec newcomers_lease_parameter(std::string_view name, sim::Duration fallback, std::string_view meaning) {
  return {name, fallback, meaning, {}, 0, ParameterRole::newcomers_lease};
}

ParameterSpec places_parameter(std::string_view name, std::int64_t fallback, std::string_view meaning) {
  return {name, fallback, meaning, {}, 1, ParameterRole::places, "the places are the lock's"};
}

std::string kind_of(const ParameterSpec& spec) { return std::visit(KindOf{spec.choices}, spec.fallback); }

bool accepts(const ParameterSpec& spec, const ParameterValue& value) {
  if (value.index() != spec.fallback.index()) return false;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number >= spec.min;
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr || spec.choices.empty() ||
         std::find(spec.choices.begin(), spec.choices.end(), *text) != spec.choices.end();
}

const ParameterSpec* find(std::span<const ParameterSpec> specs, ParameterRole role) {
  const auto found = std::find_if(specs.begin(), specs.end(), [&](const ParameterSpec& s) { return s.role == role; });
  return found == specs.end() ? nullptr : &*found;
}

const ParameterSpec* find_lease(std::span<const ParameterSpec> specs) {
  const ParameterSpec* given = find(specs, ParameterRole::lease);
  const bool counts = given != nullptr && std::get<sim::Duration>(given->fallback) > sim::Duration::zero();
  if (counts) return given;
  for (const ParameterRole role :
       {ParameterRole::renewed_lease, ParameterRole::session_ttl, ParameterRole::newcomers_lease}) {
    if (const ParameterSpec* other = find(specs, role)) return other;
  }
  return given;
}

std::optional<sim::Duration> lease_of(const Parameters& parameters) {
  const std::optional<sim::Duration> given = parameters.duration(ParameterRole::lease);
  if (given && *given > sim::Duration::zero()) return given;
  // Without an explicit one it is what a watchdog renews, and what is left of it when the watchdog dies.
  if (const auto renewed = parameters.duration(ParameterRole::renewed_lease)) return renewed;
  if (const auto ttl = parameters.duration(ParameterRole::session_ttl))
    return *ttl * 2 + parameters.duration(ParameterRole::lock_delay).value_or(sim::Duration::zero());
  return parameters.duration(ParameterRole::newcomers_lease);
}

Parameters::Parameters(std::span<const ParameterSpec> specs) : specs_(specs) {
  for (const ParameterSpec& spec : specs) values_.push_back(spec.fallback);
}

const ParameterSpec* Parameters::find(std::string_view name) const {
  const std::size_t i = index_of(specs_, name);
  return i == specs_.size() ? nullptr : &specs_[i];
}

std::optional<sim::Duration> Parameters::duration(ParameterRole role) const {
  const ParameterSpec* spec = locks::find(specs_, role);
  if (spec == nullptr) return std::nullopt;
  return duration(spec->name);
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
