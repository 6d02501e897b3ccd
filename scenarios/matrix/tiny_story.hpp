#pragma once

// Random stories that are small enough for brute force (grid.hpp), for tests that compare the explorer with it.

#include <cstdint>
#include <optional>

#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// From this seed on, faults strike only while their victims acquire or release.
inline constexpr std::uint64_t kFirstLimited = 10'000;

/// Two clients with one attempt each, one server, all times in whole milliseconds, and one fault of this kind that may
/// strike; nothing: none may. The same seed gives the same story everywhere.
Scenario tiny_story(std::uint64_t seed, std::optional<MaySpec::Kind> fault);

/// The same story with a fault of another kind that may strike as well. Its lengths are exact, so that a margin is that
/// of the first.
Scenario with_another_fault(Scenario tiny, std::uint64_t seed, MaySpec::Kind kind);

}  // namespace lockstep::scenarios
