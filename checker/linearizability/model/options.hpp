#pragma once

// What can be asked of a check, and what may bound it.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "checker/linearizability/model/operation_history.hpp"

namespace lockstep::checker {

struct LinearizabilityOptions {
  std::size_t max_memory = std::size_t{4} << 30;  ///< bytes, for the search, history not included
  /// Asked now and then during a search; true: give up, the verdict is unknown. The clock is the caller's.
  std::function<bool()> is_out_of_time;
  std::int64_t permits = 1;                          ///< of the semaphore
  std::int64_t initial = nil;                        ///< value of a register that nobody wrote
  std::uint64_t reentrancy_max = ~std::uint64_t{0};  ///< how often a reentrant lock may be held at once
  /// A failed acquire needs a moment at which the lock was taken, a failed cas one at which the value was another.
  /// false: whatever failed is left out.
  bool check_failed = false;
  bool search_only = false;       ///< no near-linear path: for tests and measurements
  bool looks_ahead = true;        ///< the search gives up what later reads rule out; false: for tests and measurements
  bool minimize_conflict = true;  ///< a conflict found by the search is made minimal by further searches
};

/// What an unknown answer has hit.
enum class SearchBound : std::uint8_t { none, memory, time };

}  // namespace lockstep::checker
