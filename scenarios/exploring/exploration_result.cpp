#include "scenarios/exploring/exploration_result.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "checker/properties/properties.hpp"
#include "sim/invariant.hpp"

namespace lockstep::scenarios {

const ExploredProperty& Exploration::property(std::string_view name) const {
  for (const ExploredProperty& property : properties) {
    if (property.name == name) return property;
  }
  throw std::out_of_range("an exploration without the property " + std::string(name));
}

void Threshold::show(sim::Duration value) {
  if (is_exact || !least_possible || !values.empty()) return;
  is_exact = value <= (least_possible->attained ? least_possible->value : least_possible->value + kJustBeyond);
  infimum = is_exact ? *least_possible : checker::Extent{std::min(value, infimum.value), true};
}

void expect_evidence(const ExploredProperty& property, const VerdictEvidence& evidence) {
  using checker::Verdict;
  sim::invariant(
      property.verdict != Verdict::holds || (evidence.is_whole && evidence.is_seen && !evidence.may_be_broken),
      "what holds was seen, in all executions, and nothing may break it");
  sim::invariant((property.verdict == Verdict::violated) == property.witness.has_value(),
                 "what is violated has a run that shows it");
  sim::invariant(property.verdict == Verdict::holds || property.verdict == Verdict::violated || !property.why.empty(),
                 "what is not known has a reason");
  for (const Threshold& threshold : property.thresholds) {
    sim::invariant(!threshold.is_exact || evidence.is_whole, "an exact margin is one of a whole search");
    sim::invariant(property.verdict == Verdict::violated, "a margin is one of a violation");
  }
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

void ExploredProperty::tell_at_most(const std::string& parameter, sim::DurationRange range) {
  const std::optional<sim::Duration> shown = longest_fault(*witness, parameter);
  if (!shown) return;
  thresholds.push_back({parameter, {*shown, true}, false, least_possible, {}, range});
  thresholds.back().show(*shown);
}

void ExploredProperty::tell(const checker::Frontier& joint, bool is_exact) {
  region = joint;
  frontier = checker::to_string(joint);
  is_region_exact = is_exact;
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
