#include "scenarios/checking/parameters.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "scenarios/deployment/allowed_faults.hpp"

namespace lockstep::scenarios {

std::optional<std::string> give(Scenario& story, std::string_view parameter, sim::Duration value) {
  const auto is_outside = [&](sim::DurationRange range, sim::Duration lo, sim::Duration hi) {
    return hi < range.lo || lo > range.hi;
  };
  for (MaySpec& may : story.may) {
    if (parameter_of(may) != parameter) continue;
    sim::DurationRange& range = *length_of(may);
    const sim::Duration zero = sim::Duration::zero();
    const bool is_below = value < zero && range.lo < zero;
    const sim::Duration lo = may_come_back(may.kind) || is_below ? value : -value;
    const sim::Duration hi = is_below ? zero : value;
    if ((value < zero && !is_below) || is_outside(range, lo, hi)) {
      return fmt::format("{} is not a {} of {}, line {}: that goes from {} to {}", sim::to_string(value), parameter,
                         story.file, may.at.line, sim::to_string(range.lo), sim::to_string(range.hi));
    }
    range = {std::max(range.lo, lo), std::min(range.hi, hi)};
  }
  story.expect_check.clear();
  story.expect_traces.reset();
  return std::nullopt;
}

bool has_parameter(const Scenario& scenario, std::string_view parameter) {
  return std::any_of(scenario.may.begin(), scenario.may.end(),
                     [&](const MaySpec& may) { return parameter_of(may) == parameter; });
}

}  // namespace lockstep::scenarios
