#pragma once

#include <span>
#include <vector>

#include "checker/properties/breach.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// no-lost-update (damage): nobody overwrites an update that he has not seen.
///
/// At the given resource servers, object by object, in the server's order: if X's write was made during an operation
/// "write", and between X's latest read of the object and that write another process wrote it, then that other
/// update is lost. What counts is what the server did: a write whose reply was lost on the way has done its damage.
/// A write by somebody who never read the object computes nothing from it and is not judged; a rejected write
/// changed nothing.
///
/// violated: the earliest overwriting write; `by` = X, who read first, then Y, whose update was lost; evidence = X's
/// read, Y's write (the first one lost), X's write. unknown: no resource servers were given, or nobody wrote what he had read before.
Finding no_lost_update(const sim::History& history, const Names& names, std::span<const sim::ProcessId> resources);

/// All of them, in the servers' order of the overwriting writes; `by` as above.
std::vector<Breach> lost_updates(const OrderedHistory& history);

}  // namespace lockstep::checker
