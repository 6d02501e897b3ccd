#include "scenarios/families/closest_witness.hpp"

#include <algorithm>

#include "scenarios/checking/parameters.hpp"
#include "scenarios/families/family_story.hpp"

namespace lockstep::scenarios {

bool agrees(const Family& family, std::string_view property, const Threshold& threshold) {
  return std::any_of(family.margins.begin(), family.margins.end(), [&](const FamilyMargin& margin) {
    if (margin.property != property) return false;
    return threshold.infimum.attained ? margin.broken_from == threshold.infimum.value
                                      : margin.kept_up_to == threshold.infimum.value;
  });
}

std::optional<FamilyStory> closest_witness(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                           std::string_view property, const Threshold& threshold) {
  const sim::Duration least = std::max(threshold.infimum.value, -threshold.infimum.value);
  for (const sim::Duration more :
       {sim::Duration::nanoseconds(threshold.infimum.attained ? 0 : 1), sim::Duration::milliseconds(1)}) {
    Scenario narrow = scenario;
    if (give(narrow, threshold.parameter, least + more)) return std::nullopt;
    ExplorationOptions options;
    options.max_events = 300'000;
    const auto explored = explore(narrow, catalogue, options);
    const auto* exploration = std::get_if<Exploration>(&explored);
    if (exploration == nullptr) return std::nullopt;
    const std::optional<Scenario>& witness = exploration->property(property).witness;
    if (!witness) continue;
    if (std::optional<FamilyStory> story = as_witnessed(*witness, scenario, property, catalogue)) return story;
  }
  return std::nullopt;
}

}  // namespace lockstep::scenarios
