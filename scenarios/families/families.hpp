#pragma once

// All values of a length of a story, in pieces; and all pairs of values of two, in regions. Start at family.hpp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/families/family.hpp"
#include "scenarios/families/family_point.hpp"

namespace lockstep::scenarios {

struct FamilyOptions {
  std::size_t max_pieces = 200;          ///< of one family, before those that show the same are put together
  std::size_t max_regions = 300;         ///< of one plane
  std::uint64_t max_events = 1'000'000;  ///< of all runs that one family or plane takes
  /// Only families with a margin up to which something is kept are of interest: another one may come without pieces.
  bool only_margins = false;
  /// Asked now and then: true ends what is being made, as a bound does.
  std::function<bool()> interrupted;
  /// For tests alone.
  FamilyMutant mutant = FamilyMutant::none;
};

/// One length of a story. Requires: `parameter` is one of `family_parameters` of the story.
Family family_of(const FamilyStory& story, const models::locks::Catalogue& catalogue, const FamilyParameter& parameter,
                 const FamilyOptions& options = {});

/// Two different lengths together.
FamilyPlane plane_of(const FamilyStory& story, const models::locks::Catalogue& catalogue, const FamilyParameter& x,
                     const FamilyParameter& y, const FamilyOptions& options = {});

/// The stories that have families: the file's own run, and the witness of each property that is claimed or expected, or
/// has a margin, and that `check` found broken; of properties with the same witness the first. `exploration`: null if
/// there is none.
std::vector<FamilyStory> family_stories(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                        const Exploration* exploration);

/// All that there is to tell of a story's margins.
struct StoryFamilies {
  std::vector<Lane> lanes;  ///< by process: what the numbers mean
  std::vector<Family> families;
  std::vector<FamilyPlane> planes;  ///< of each story the first three pairs of its lengths
};
StoryFamilies families_of(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                          const Exploration* exploration, const FamilyOptions& options = {});

}  // namespace lockstep::scenarios
