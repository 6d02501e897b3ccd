#pragma once

// The near-linear path of a mutex that anybody may release: acquires and releases take turns. Exact for every history.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checker/linearizability/near_linear/stretch.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

enum class MutexFunction : std::uint8_t { acquire, release };

/// One operation, from wherever the history comes. Requires: invoked <= completed if it ended ok.
struct MutexOperation {
  std::uint32_t process = 0;  ///< any numbering
  MutexFunction function = MutexFunction::acquire;
  sim::Phase phase = sim::Phase::ok;
  sim::Duration invoked;    ///< since the origin
  sim::Duration completed;  ///< meaningful only if it ended ok, or failed and that is checked

  bool is_certain() const { return phase == sim::Phase::ok; }
  bool is_possible() const { return phase != sim::Phase::fail; }
  /// The latest moment at which it can take effect.
  sim::Duration deadline() const;
};

struct MutexResult {
  Verdict verdict = Verdict::unknown;
  /// holds: a linearization, by position in the input: all certain operations and those unknown ones that had to take
  /// effect. It is a proof: `is_linearization` of the tests needs 30 lines to check it.
  std::vector<std::uint32_t> order;
  /// violated: the operations that cannot be ordered, by position in the input, ascending. For k
  /// acquires among which too few releases fit (or the reverse), those k. If no single stretch of time holds too many,
  /// all certain operations up to `at`.
  std::vector<std::uint32_t> conflict;
  /// violated: the history up to this moment is not linearizable, and up to any earlier moment it is.
  std::optional<sim::Duration> at;
  /// violated: a linearization of the history just before `at`, the operation that completed at `at`, and whether the
  /// rest of the conflict fits without any one of it.
  std::vector<std::uint32_t> prefix;
  std::uint32_t culprit = 0;
  bool is_minimal = false;
  /// violated: why the conflict is one, if it is those that fill this stretch.
  std::optional<Stretch> stretch;
};

/// O(n log n); mutex.cpp has the argument. `check_failed`: a failed acquire needs a moment between its ends at which
/// the lock was taken. It is then part of orders, and may be the culprit.
MutexResult alternate(std::span<const MutexOperation> operations, bool check_failed = false);

}  // namespace lockstep::checker
