#pragma once

#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// mutual-exclusion (belief): no two processes ever believe to hold the same object at once.
///
/// Two ownership intervals overlap when the later beginning is strictly before the earlier end. Touching is no
/// overlap: [20ms, 163ms) and [163ms, 200ms) hand over at 163ms. Counting it as one would blame every lock whose
/// release and next grant fall into the same nanosecond of virtual time.
/// Two intervals of one process are no violation here: that is reentrance, and another property.
///
/// violated: the earliest overlap (of several at one moment, that with the smaller acquire ids); `by` = who began
/// first, then the other; `at` = where the overlap begins; evidence = both acquires' completions and, as far as
/// something happened, the endings. holds: how many holds were looked at and how close two owners came. O(n log n).
Finding mutual_exclusion(const sim::History& history, const Names& names);

}  // namespace lockstep::checker
