#pragma once

#include <span>
#include <vector>

#include "checker/linearizability/search/search_operation.hpp"

namespace lockstep::checker {

struct Conflict {
  std::vector<std::uint32_t> operations;  ///< by position in the input, ascending
  bool is_minimal = false;
};

/// Why the operations cannot be ordered: as few of the required ones as needed so that they cannot be, even if all
/// others are optional, within their time. First a suffix that is enough, then whatever can be spared is taken out,
/// many at once as long as that works, in the end one by one (delta debugging: Zeller and Hildebrandt, "Simplifying and
/// isolating failure-inducing input", 2002). It is minimal then, because a set that has a conflict in it is one.
///
/// Each question is a search with a bound on its configurations, and there is one on the work for all of them: whatever
/// cannot be answered within it stays in, and the conflict is not said to be minimal.
///
/// `members`: required operations that are a conflict, ascending. The last of them to return is asked about last.
Conflict minimal_conflict(std::span<const SearchOperation> operations, std::span<const std::uint32_t> members,
                          Specification& specification, const SearchLimits& limits);

/// All that is required and has returned when the culprit returns: what a search has found to be a conflict.
std::vector<std::uint32_t> returned_by(std::span<const SearchOperation> operations, std::uint32_t culprit);

}  // namespace lockstep::checker
