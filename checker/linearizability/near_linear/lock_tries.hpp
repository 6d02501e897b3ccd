#pragma once

// Tries of a lock that failed: each needs a moment between its invocation and its return at which the lock was taken.
//
// lock_sweep.hpp finds an order in which everybody holds the lock as short as possible, and here the same order is
// stretched: each release waits until it has to return or somebody else needs the lock, and an acquire comes early
// where a try could not wait any longer. Each operation is put at a moment of its own time and in the order of these
// moments, and each step is one of the specification, so that an order in which all tries have a place is a proof.
//
// Where a try has no place, that is final if nothing depended on a choice. If all operations have ended and each
// process did one after the other, the cores of the holds (lock_sweep.hpp) decide their order. A lock without permits
// is then held in this order until the last moment that it allows, and if no acquire is open that could come early,
// nobody held it during the try. Of permits, all holds together, each from the invocation of its acquire to the return
// of its release, have to leave room at every moment of the try. Otherwise the answer is not known, and a search has to
// say it.

#include <cstdint>
#include <span>
#include <vector>

#include "checker/linearizability/model/model.hpp"
#include "checker/linearizability/model/operation_history.hpp"
#include "checker/linearizability/model/options.hpp"

namespace lockstep::checker {

struct LockTriesResult {
  enum class Answer : std::uint8_t { placed, impossible, unknown };
  Answer answer = Answer::unknown;
  std::vector<std::uint32_t> order;     ///< placed: with the tries; impossible: of what returned before the culprit
  std::uint32_t culprit = 0;            ///< impossible: the try
  std::vector<std::uint32_t> conflict;  ///< impossible: as in LinearizabilityResult
  bool is_minimal = false;
};

/// Positions of one key, ascending. `order`: a linearization without the tries, as the sweep gives it, of all of them
/// or of what returned before `until`; only tries that return before `until` count. O(n log n).
LockTriesResult place_tries(const OperationHistory& history, std::span<const std::uint32_t> positions,
                            const Model& model, const LinearizabilityOptions& options,
                            std::span<const std::uint32_t> order, std::int64_t until);

/// Of operations of a lock, with LinearizabilityOptions::check_failed.
bool has_tries(const OperationHistory& history, std::span<const std::uint32_t> positions);

}  // namespace lockstep::checker
