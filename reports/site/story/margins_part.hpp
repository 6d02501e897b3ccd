#pragma once

// The margin made visible: a slider over one length of a story, and a map over two. From what `scenarios/families`
// computed, exactly.

#include <string>
#include <vector>

#include "checker/time/frontier.hpp"
#include "models/locks/catalogue.hpp"
#include "reports/check/explored.hpp"
#include "reports/json/json.hpp"
#include "scenarios/families/families.hpp"

namespace lockstep::reports::site {

/// Which values of two parameters together break a property in some execution.
struct ToldFrontier {
  std::string text;                            ///< "pause + skew > 72ms"; empty: there is none
  std::vector<checker::FrontierPiece> pieces;  ///< of the plane's x and y
  std::string file;                            ///< the story's
};

/// What a page shows of a story's margins.
struct ToldMargins {
  std::vector<scenarios::Lane> lanes;
  std::vector<scenarios::Family> families;     ///< along which a property breaks, a few
  std::vector<scenarios::FamilyPlane> planes;  ///< likewise, one
  ToldFrontier frontier;                       ///< of the plane's parameters, if `check` found one
};

/// Bounded, so that a site of many stories is made within a minute. `explored`: null if there is none.
ToldMargins margins_to_tell(const scenarios::Scenario& scenario, const models::locks::Catalogue& catalogue,
                            const scenarios::Exploration* explored);

/// HTML; empty if there is nothing to show.
std::string margins_part(const ToldMargins& margins);
/// For the sliders: one for each that `margins_part` has made room for, in the same order; null if there is none.
Json data_for_sliders(const ToldMargins& margins);

}  // namespace lockstep::reports::site
