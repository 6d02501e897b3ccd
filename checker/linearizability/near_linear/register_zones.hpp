#pragma once

// The near-linear path of registers whose written values are all different (Gibbons and Korach, "Testing shared
// memories", 1997): then it is known which write a read has read from.
//
// A write and its reads form a *cluster*, which takes effect all at once as far as the other clusters are concerned.
// Let f be the earliest return in it and l the latest invocation. If f < l, its value must be there throughout (f, l),
// and nothing else fits in between; otherwise it can be over in no time, at any moment of [l, f]. The history is
// linearizable if and only if no read returned before its write was invoked, no two of the former stretches overlap,
// and each of the latter has a moment outside them. An unknown write that somebody read took effect; others are left
// out.

#include <optional>
#include <span>

#include "checker/linearizability/model/operation_history.hpp"
#include "checker/linearizability/model/options.hpp"

namespace lockstep::checker {

/// A linearization of the operations at these positions, of one key. Nothing if two writes have the same value, and
/// also if there is none: which return made it so, the search finds. O(n log n).
std::optional<std::vector<std::uint32_t>> order_by_zones(const OperationHistory& history,
                                                         std::span<const std::uint32_t> positions,
                                                         const LinearizabilityOptions& options);

}  // namespace lockstep::checker
