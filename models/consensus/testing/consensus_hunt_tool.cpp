// Explores replicas within larger bounds than the tests do: `consensus_hunt [NUMBER]`, all of them or that one. Takes
// minutes and gigabytes. Ends with 1 if a promise was broken, or if a search stopped short.

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "models/consensus/testing/bounds.hpp"
#include "models/consensus/testing/exploration.hpp"
#include "models/consensus/testing/lab.hpp"
#include "models/consensus/testing/mutants.hpp"
#include "models/consensus/testing/told.hpp"

int main(int argc, char** argv) {
  using namespace lockstep::models::consensus;
  using namespace lockstep::models::consensus::testing;
  const std::vector<NamedBounds> all = large_bounds();
  const std::size_t only = argc > 1 ? static_cast<std::size_t>(std::strtoul(argv[1], nullptr, 10)) : all.size();
  bool holds = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (only < all.size() && i != only) continue;
    const Bounds& bounds = all[i].bounds;
    const Explored explored = Exploration<>(bounds).run(Lab<>(bounds.replica));
    tell(all[i].name, explored);
    for (const auto& step : explored.steps_to_breach) std::cout << "    " << step << "\n";
    holds = holds && explored.complete && !explored.breach;
  }
  // Figure 8, from the very beginning.
  Bounds bounds;
  bounds.term_max = 4;
  bounds.under_way_max = 2;
  bounds.replica.entries_per_message_max = 1;
  const Explored mutant = Exploration<CommitsOldTerms>(bounds).run(Lab<CommitsOldTerms>(bounds.replica));
  tell("a mutant that commits old terms' entries", mutant);
  for (const auto& step : mutant.steps_to_breach) std::cout << "    " << step << "\n";
  return holds && mutant.breach ? 0 : 1;
}
