#pragma once

// What two explorations of one story must agree on; for tests.

#include <sstream>
#include <string>

#include "scenarios/exploring/exploration.hpp"

namespace lockstep::scenarios {

/// Verdicts and margins: what must not depend on which traces stand for all.
inline std::string verdicts_of(const Exploration& exploration) {
  std::ostringstream out;
  for (const ExploredProperty& property : exploration.properties) {
    out << property.name << ' ' << checker::to_string(property.verdict);
    for (const auto& threshold : property.thresholds) {
      out << ' ' << threshold.parameter << ' ' << sim::to_string(threshold.infimum.value) << ' '
          << threshold.infimum.attained;
    }
    out << '\n';
  }
  return std::move(out).str();
}

}  // namespace lockstep::scenarios
