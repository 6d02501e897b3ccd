#pragma once

// How long a violation lasts at worst: two that hold a lock for a tick, and two for ever, are different answers.
//
// A way that lasts gives differences of which the least is how long it does. How long at most, over all times of a
// trace: with a parameter t that none of them is below, the greatest feasible t, exactly (parametric.hpp,
// parameter_space.hpp).

#include <cstdint>
#include <optional>

#include "checker/explorer/explorer.hpp"
#include "checker/violations/violations.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::scenarios {

/// Whether the present trace breaks it this way for longer than this. Requires: the way lasts.
bool lasts_longer(const checker::Violation& way, sim::Duration length, checker::Explorer& explorer);

/// The supremum of how long, in nanoseconds, a fraction rounded up; forever: nothing ends it. Requires: the way lasts,
/// and is feasible.
sim::Duration longest_of(const checker::Violation& way, checker::Explorer& explorer);

/// How many hold at once where mutual-exclusion is broken or, of a semaphore with so many places, capacity.
std::size_t too_many(std::optional<std::int64_t> places);

/// Of a run: the longest stretch in which so many different clients held one object, each with one hold; forever:
/// nothing ended it. Zero: there was none. Sharers do not count among each other, nor does `probe` count, which comes
/// after the story. Requires: true times, `holders` > 1.
sim::Duration longest_together(const sim::History& history, std::size_t holders, sim::ProcessId probe);

}  // namespace lockstep::scenarios
