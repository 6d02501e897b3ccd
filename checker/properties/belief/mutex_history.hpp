#pragma once

// What the clients of one lock did, as a history that can be checked against the models of locks.
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
// violation, `MutexHistories` gives a holder that crashed or gave the lock up a release with unknown outcome at that
// moment. Likewise a holder that has looked at its clock and knows that its hold is over (`valid_until`, noticed as in
// ownership.hpp): that is a release at the latest then. The release that the client asks for afterwards is the same
// one, invoked when the deadline was noticed; if there is none, or it failed, it is one with unknown outcome. A hold
// that was over before its acquire had completed is left out: nobody ever believed in it. (Counterexample to calling
// that a violation: two Redlock clients of which the second gets the lock when the first's lease is over, as the first
// one knows; the first tries to unlock later and finds nothing. Nobody believed wrongly, and everybody was told what
// was.) A lease that runs out under a living holder that does not look is no release: then somebody else's acquire has
// no place, and that is a result, too.

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "checker/linearizability/model/operation_history.hpp"
#include "checker/properties/ownership.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// The acquires (function 0) and releases (function 1) of one object.
struct MutexHistory {
  OperationHistory operations;
  std::vector<sim::OperationId> ids;  ///< of the operation at the same position; of the acquire, for a hold given up
};

/// The locks of a history, each by itself. Points into the history, which must outlive it. Requires: instants are true
/// times.
class MutexHistories {
 public:
  explicit MutexHistories(const sim::History& history);
  /// What is acquired or released, by name.
  std::vector<std::string_view> objects() const;
  /// Whether somebody takes it, or tries to, while he has it.
  bool is_taken_again(std::string_view object) const;
  /// `with_inner`: what happens within a hold as well, for a mutex that its owner may take again; a hold that is given
  /// up then gives back as often as it may have been taken.
  MutexHistory of(std::string_view object, bool with_inner = false) const;

 private:
  struct Object {
    std::vector<const sim::Operation*> operations;
    std::vector<Belief> beliefs;
    bool is_locked = false;
    bool is_taken_again = false;
  };
  Pauses pauses_;
  std::map<std::string_view, Object> objects_;
  std::vector<std::size_t> reentries_;  ///< by hold: how often it may have been taken again
};

}  // namespace lockstep::checker
