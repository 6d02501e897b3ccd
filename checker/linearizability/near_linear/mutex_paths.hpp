#pragma once

// The near-linear paths behind `check_mutex`, one for each specification. Start at mutex.hpp.

#include <span>

#include "checker/linearizability/near_linear/mutex.hpp"

namespace lockstep::checker {

/// Exact for every history. O(n log n). `check_failed`: a failed acquire needs a moment between its ends at which the lock was
/// taken. It is then part of orders, and may be the culprit.
MutexResult check_anonymous_mutex(std::span<const MutexOperation> operations, bool check_failed = false);

struct OwnerPath {
  MutexResult result;
  bool is_exact = true;  ///< false: `result` says violated, but only a search can tell
};

/// O(n log n). "holds" is always exact, and so is "violated" when `is_exact`.
OwnerPath check_owner_mutex(std::span<const MutexOperation> operations);

}  // namespace lockstep::checker
