#pragma once

#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// capacity (belief): never more than `places` processes believe at once to hold the same object. mutual-exclusion is
/// the capacity of one place.
///
/// Beliefs are those of ownership.hpp, half-open as there: a place given back at 20ms and taken at 20ms was never two.
/// Several beliefs of one process count once.
///
/// violated: the earliest moment of too many; `by` = all who believe then, in the order in which they began; evidence =
/// their acquires' completions. holds: how many holds were looked at and how many there were at once. Requires: places
/// >= 1. O(n * holders).
Finding capacity(const sim::History& history, const Names& names, std::int64_t places);

}  // namespace lockstep::checker
