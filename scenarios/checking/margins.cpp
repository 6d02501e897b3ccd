#include "scenarios/checking/margins.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "checker/properties/properties.hpp"
#include "scenarios/checking/parameters.hpp"

namespace lockstep::scenarios {
namespace {

/// Its margin between two values, if it has that alone.
Threshold* open_margin(ExploredProperty& property) {
  if (property.verdict != checker::Verdict::violated || property.thresholds.size() != 1) return nullptr;
  Threshold& margin = property.thresholds.front();
  const bool is_open = !margin.is_exact && margin.least_possible && margin.values.empty();
  return is_open && margin.least_possible->value < margin.infimum.value ? &margin : nullptr;
}

/// Of the first margin that is open, all properties with the same.
std::set<std::string_view> next_question(Exploration& exploration, const std::set<std::string_view>& asked,
                                         checker::Extent& least, std::string& parameter) {
  std::set<std::string_view> names;
  for (ExploredProperty& property : exploration.properties) {
    const Threshold* margin = open_margin(property);
    if (margin == nullptr || asked.contains(property.name)) continue;
    if (names.empty()) least = *margin->least_possible, parameter = margin->parameter;
    if (*margin->least_possible == least) names.insert(property.name);
  }
  return names;
}

}  // namespace

void confirm_margins(const Scenario& scenario, const models::locks::Catalogue& catalogue, const ExplorationOptions& how,
                     Exploration& exploration) {
  std::set<std::string_view> asked;
  checker::Extent least;
  std::string parameter;
  for (auto names = next_question(exploration, asked, least, parameter); !names.empty();
       names = next_question(exploration, asked, least, parameter)) {
    asked.insert(names.begin(), names.end());
    Scenario near = scenario;
    if (give(near, parameter, least.attained ? least.value : least.value + kJustBeyond)) continue;
    ExplorationOptions again = how;
    again.asks = [&](std::string_view property) { return names.contains(property); };
    again.save = nullptr, again.resume_from.clear();
    auto found = explore(near, catalogue, again);
    auto* shown = std::get_if<Exploration>(&found);
    if (shown == nullptr) continue;
    for (const std::string_view name : names) {
      ExploredProperty& known = exploration.properties[checker::position_of_property(name)];
      ExploredProperty& closer = shown->properties[checker::position_of_property(name)];
      if (closer.verdict != checker::Verdict::violated || !closer.witness) continue;
      known.thresholds.front().show(
          longest_fault(*closer.witness, parameter).value_or(known.thresholds.front().infimum.value));
      known.by = std::move(closer.by);
      known.waits = std::move(closer.waits);
      known.witness = std::move(closer.witness);
      known.why = std::move(closer.why);
    }
  }
}

}  // namespace lockstep::scenarios
