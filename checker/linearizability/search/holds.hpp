#pragma once

// What the search knows of a lock before it begins: whoever holds it shorter never hurts anybody, unless somebody asks
// for a taken lock.

#include <cstdint>
#include <span>
#include <vector>

#include "checker/linearizability/search/search_operation.hpp"

namespace lockstep::checker {

/// By operation.
struct LockHolds {
  std::vector<std::uint32_t> process;  ///< numbered densely; 0 if it is no operation of a lock with holders
  std::uint32_t processes = 0;
  std::vector<char> is_eager;      ///< a release that takes effect when it is invoked, if it is possible then
  std::vector<char> is_pointless;  ///< an acquire of unknown outcome that did not happen
};

/// A process that does one thing after the other gives the lock back as soon as it may.
///
/// Of unknown outcomes, an acquire did not happen unless a release after it needs it. For, leave it out of an order:
/// the process then holds once less. If it releases with unknown outcome later, leave the first such release out, too,
/// and nothing else is missing. If it does not, and some required release would find nothing, there are as many
/// acquires between the two as required releases (that is what "not needed" means), so one of unknown outcome among
/// them is not in the order yet: let it happen there instead. By the same argument a release of unknown outcome after
/// which every required one has an acquire of its own happened at once.
///
/// That needs acquires and releases of one process that are all alike, one after the other. Otherwise, if only the
/// amounts are equal: an acquire did not happen if no required release can follow it.
///
/// `asks_for_taken`: an operation is required that needs the lock taken. Then nothing of this is true.
LockHolds plan_holds(std::span<const SearchOperation> operations, bool asks_for_taken);

}  // namespace lockstep::checker
