#pragma once

// Is a history of acquires and releases linearizable as a mutex?
//
// A history is linearizable if every operation can be given one point of time between its invocation and its
// completion such that the operations, in the order of their points, are what a perfect mutex could have done. Both
// ends are included: two operations that touch (one completes when the other is invoked) are concurrent, in either
// order, also two of one process.
//
// What an end means:
//   ok            took effect, between invocation and completion.
//   fail          took no effect. It is left out, and says nothing about the lock.
//   info, invoke  unknown: took effect at some time after its invocation, even long after its completion, or never.
//                 A release that a crash interrupted is such a one. An info acquire must not simply be dropped: in
//                 [A acquire info] [A release ok] the release proves that the acquire did take effect.
//
// A lock with leases frees itself when its holder is gone, and a perfect mutex does not. So that this alone is no
// violation, `mutex_history` gives a holder that crashed or gave the lock up a release with unknown outcome at that
// moment. Likewise a holder that has looked at its clock and knows that its hold is over (`valid_until`, noticed as in ownership.hpp): that
// is a release at the latest then. The release that the client asks for afterwards is the same one, invoked when the deadline was
// noticed; if there is none, or it failed, it is one with unknown outcome. A hold that was over before its acquire had completed is left out:
// nobody ever believed in it. (Counterexample to calling that a violation: two Redlock clients
// of which the second gets the lock when the first's lease is over, as the first one knows; the first tries to unlock later and
// finds nothing. Nobody believed wrongly, and everybody was told what was.) A lease that runs out under a living holder that does not look is no
// release: then somebody else's acquire has no place, and that is a result, too.
//
// Two specifications, both with one lock that is free at first:
//   mutex        an acquire needs it free, a release needs it held, by whomever.
//   owner_mutex  a release needs it held by the same process.
//
// Cost. mutex: O(n log n), exact, always (mutex_anonymous.cpp has the argument). owner_mutex: O(n log n), and
// exact when it finds an order. When it finds a conflict, that is final unless it involves a process
//   - with both an unknown acquire and an unknown release: a hold of its may be split by [unknown release, somebody
//     else's hold, unknown acquire];
//   - with an unknown release before the certain release of the same hold: the conflict is real, but shows only when
//     the certain one completes;
//   - whose own operations overlap or touch.
// These few are asked of the exact search in mutex_search.hpp, which may give up on long ones.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checker/linearizability/near_linear/stretch.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

enum class MutexFunction : std::uint8_t { acquire, release };
enum class MutexSpecification : std::uint8_t { mutex, owner_mutex };

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
  /// unknown only if the exact search was needed and gave up.
  Verdict verdict = Verdict::unknown;
  /// holds: a linearization, by position in the input: all certain operations and those unknown ones that had to take
  /// effect. It is a proof: `is_linearization` of the tests needs 30 lines to check it.
  std::vector<std::uint32_t> order;
  /// violated: the operations that cannot be ordered, by position in the input, ascending. For two overlapping holds,
  /// the two acquires; for k acquires among which too few releases fit (or the reverse), those k. If no single stretch
  /// of time holds too many, all certain operations up to `at`.
  std::vector<std::uint32_t> conflict;
  /// violated: the history up to this moment is not linearizable, and up to any earlier moment it is.
  std::optional<sim::Duration> at;
  /// violated, unless the path for `owner_mutex` was sure: a linearization of the history just before `at`, the operation
  /// that completed at `at`, and whether the rest of the conflict fits without any one of it.
  std::vector<std::uint32_t> prefix;
  std::uint32_t culprit = 0;
  bool is_minimal = false;
  /// violated, mutex: why the conflict is one, if it is those that fill this stretch.
  std::optional<Stretch> stretch;
  /// Was the exact search needed?
  bool searched = false;
};

MutexResult check_mutex(std::span<const MutexOperation> operations, MutexSpecification specification);

/// The acquires and releases of one object.
struct MutexHistory {
  std::vector<MutexOperation> operations;
  std::vector<sim::OperationId> ids;  ///< of the operation at the same position; of the acquire, for a hold given up
};

/// Requires: instants are true times. `with_inner`: what happens within a hold as well, for a mutex that its owner may take again; a hold that is
/// given up then gives back as often as it may have been taken.
MutexHistory mutex_history(const sim::History& history, std::string_view object, bool with_inner = false);

}  // namespace lockstep::checker
