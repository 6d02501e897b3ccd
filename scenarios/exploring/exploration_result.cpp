#include "scenarios/exploring/exploration_result.hpp"

#include <algorithm>

namespace lockstep::scenarios {

const ExploredProperty& Exploration::property(std::string_view name) const {
  return *std::find_if(properties.begin(), properties.end(), [&](const ExploredProperty& p) { return p.name == name; });
}

}  // namespace lockstep::scenarios
