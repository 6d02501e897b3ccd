#pragma once

// Random stories: for the tests of determinism, and a start for fuzzing.

#include <cstdint>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// A small story of 1 to 5 clients with random times, clocks and faults, under an algorithm of the catalogue. The same
/// seed and catalogue give the same story everywhere. It has no pins and no expectations, and always ends.
Scenario random_scenario(std::uint64_t seed, const models::locks::Catalogue& catalogue);

}  // namespace lockstep::scenarios
