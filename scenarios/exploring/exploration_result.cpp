#include "scenarios/exploring/exploration_result.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "checker/properties/properties.hpp"

namespace lockstep::scenarios {

const ExploredProperty& Exploration::property(std::string_view name) const {
  for (const ExploredProperty& property : properties) {
    if (property.name == name) return property;
  }
  throw std::out_of_range("an exploration without the property " + std::string(name));
}

std::optional<sim::Duration> longest_fault(const Scenario& run, std::string_view parameter) {
  std::optional<sim::Duration> longest;
  for (const FaultSpec& fault : run.faults) {
    const sim::DurationRange* const length = length_of(fault);
    if (length == nullptr || sim::kind_of_parameter(parameter) != fault.kind) continue;
    longest = std::max(longest.value_or(length->hi), length->hi);
  }
  return longest;
}

Exploration not_explored(std::string_view why) {
  Exploration exploration;
  for (const checker::Property& property : checker::properties()) {
    ExploredProperty& unknown = exploration.properties.emplace_back();
    unknown.name = property.name;
    unknown.why = why;
  }
  return exploration;
}

}  // namespace lockstep::scenarios
