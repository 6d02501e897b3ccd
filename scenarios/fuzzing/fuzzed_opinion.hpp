#pragma once

// A campaign of `fuzz` against a complete search of `check`: what the search proves, no run may break.

#include <cstdint>
#include <string>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

struct FuzzedOpinion {
  /// A property that the search called kept, and a run that breaks it.
  struct Disagreement {
    std::string property;
    std::uint64_t run = 0;  ///< ordinal of the first such run
    std::string why;        ///< what the run's file says, or why there is no file
    std::string file;       ///< the text of a scenario that shows it, made small; or what was to show it
  };
  std::vector<Disagreement> disagreements;
  std::vector<std::string> broken_too;  ///< what the search called violated, and a run broke, too
  std::vector<std::string> not_broken;  ///< what the search called violated, and no run broke
  std::uint64_t runs = 0;
};

/// Plays at least so many runs within the bounds of the story. Shares with the search, and with its second opinion, the
/// world alone and how random runs are played; what is drawn goes on from what earlier runs have shown. The same call
/// gives the same. Requires: the exploration is one of this story, and complete.
FuzzedOpinion fuzzed_opinion(const Scenario& story, const models::locks::Catalogue& catalogue,
                             const Exploration& exploration, std::uint64_t runs);

}  // namespace lockstep::scenarios
