#pragma once

// The condition under which a property is kept, as an inequality between the lengths of the file: "safe while ttl +
// least latency ≥ pause + hold + greatest latency".
//
// Method: exact differences. A margin is exact, so another search with one length a little larger gives that length's
// coefficient; two steps have to agree. That is one inequality near the file's figures. Other executions may bind
// elsewhere: so it is searched again at the corners of a box around them, and told with the box. Corners are no proof
// of what lies between them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

struct FormulaTerm {
  std::string length;            ///< `StoryLength::name`
  std::int64_t coefficient = 0;  ///< above 0: the longer, the safer
  sim::Duration value;           ///< where it was looked at; of what the formula is the margin: the margin
  sim::DurationRange box;        ///< from where to where it was shown at corners; of the margin: what came out there
  bool operator==(const FormulaTerm&) const = default;
};

struct Formula {
  std::vector<FormulaTerm> terms;    ///< the first is the margin's; the others in the order of the file
  std::int64_t constant = 0;         ///< nanoseconds, on the side of the positive terms
  bool is_strict = false;            ///< kept while the sum is above 0; false: while it is 0 or above
  std::vector<std::string> without;  ///< faults that the file allows, and of which it was shown without them alone
  std::uint64_t corners = 0;
  bool operator==(const Formula&) const = default;
};

struct FormulaOptions {
  ExplorationOptions exploration;        ///< of each search; what it asks is the property alone
  std::uint64_t max_events = 4'000'000;  ///< of all searches
  bool only_borders = false;             ///< no formula: some few searches
};

/// Where the property begins to break as one length grows, without faults of others: on this side it was searched and
/// kept, and beyond it broke.
struct FormulaBorder {
  std::string length;
  bool is_work = false;
  bool works_less = false;  ///< with the least time of work that the file allows: with the greatest it breaks anyhow
  bool is_whole = true;     ///< all that is shorter was searched, too, down to the least of the file
  checker::Extent at;
  sim::Duration work;  ///< for how long clients worked there
  bool operator==(const FormulaBorder&) const = default;
};

struct Formulas {
  std::vector<FormulaBorder> borders;
  std::vector<Formula> all;  ///< each has to be kept
  std::string why;           ///< if there is none: one sentence
};

/// Requires: the story can be explored.
Formulas formulas_of(const Scenario& story, const models::locks::Catalogue& catalogue, std::string_view property,
                     const FormulaOptions& options);

/// What is looked for where nobody asked, so that nobody waits for it: of small worlds formulas, of larger ones
/// borders. Nothing: of what is larger still, or was cut.
std::optional<FormulaOptions> unasked_formulas(const Exploration& exploration);

/// "safe while ttl + least latency ≥ pause + hold + greatest latency".
std::string to_string(const Formula& formula);

}  // namespace lockstep::scenarios
