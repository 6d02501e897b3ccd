#pragma once

// The near-linear path of locks with holders: one sweep over the history in which everybody holds the lock as short as
// possible.
//
// Claim. If all operations have ended and each process did one after the other, a history is linearizable if and only
// if this order is: each acquire at the moment when it returned, each release at the moment when it was invoked. For:
// every linearization has the acquire no later and the release no earlier, so each process holds the lock throughout
// its *core* [acquire returned, release invoked], and who holds what during the cores alone is all that the capacity is
// about. A process's own order is that of real time either way, so what it may release is the same. And the order of
// the acquires that exclude each other, which is what fencing tokens follow, is the order of their cores.
//
// Unknown outcomes are guessed: a release happened at once if its process acquired again or did nothing more, an
// acquire happened if its process released later without another acquire. If the order that comes out is allowed, that
// is proof enough. If it is not, the answer is `violated` only if it does not depend on the guesses: because those
// involved have none, or because they hold the lock however one guesses. For that it is enough to count: whatever a
// process held at some moment, if it then acquires k times for sure, and fewer than k releases of its may have taken
// effect since, known or unknown, it holds the lock. Otherwise the answer is `unknown`.
//
// Tries that failed (LinearizabilityOptions::check_failed) say nothing here; lock_tries.hpp puts them into the order
// that was found.

#include <cstdint>
#include <span>
#include <vector>

#include "checker/linearizability/model/model.hpp"
#include "checker/linearizability/model/operation_history.hpp"
#include "checker/linearizability/model/options.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

struct LockSweepResult {
  Verdict verdict = Verdict::unknown;
  std::vector<std::uint32_t> order;     ///< holds: a linearization; violated: one of what returned before `at`
  std::vector<std::uint32_t> conflict;  ///< violated: as in LinearizabilityResult
  bool is_minimal = false;
  std::int64_t at = 0;
  std::uint32_t culprit = 0;
};

/// Positions of one key, ascending. O(n log n), and O(n) if the acquires return in their order.
LockSweepResult sweep_lock(const OperationHistory& history, std::span<const std::uint32_t> positions,
                           const Model& model, const LinearizabilityOptions& options);

}  // namespace lockstep::checker
