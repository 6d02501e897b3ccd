#include "scenarios/exploring/exploration_result.hpp"

#include "checker/properties/properties.hpp"

namespace lockstep::scenarios {

const ExploredProperty& Exploration::property(std::string_view name) const {
  return properties.at(checker::position_of_property(name));
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
