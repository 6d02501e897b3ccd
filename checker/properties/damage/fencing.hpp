#pragma once

#include <span>

#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// fencing (damage): at a resource, the writes that were applied never go back to an older grant.
///
/// Two writes are compared by their tokens if both carry one; otherwise by the order of the grants that they were
/// made under. A write is made under the latest acquire of the same process and any lock that had completed ok when
/// the write was invoked: not when it arrived, since a write that was sent in time and arrives late is just what
/// fencing is about. Grants are ordered by the last write that each acquire caused at a lock server (any server that
/// is not a resource): the order of completions would be wrong, since the reply to the earlier grant may come later.
/// Equal order is no step back. A write with neither a token nor a grant is compared with nothing, and counted.
/// A refused write is fencing at work, not a violation.
///
/// violated: the earliest write that goes back; `by` = the older grant's owner, whose write came too late, then the
/// newer one's; evidence = the newer write, the late write. unknown: no resource servers were given, or no write under
/// a grant was applied. O(n log n).
Finding fencing(const sim::History& history, const Names& names, std::span<const sim::ProcessId> resources);

}  // namespace lockstep::checker
