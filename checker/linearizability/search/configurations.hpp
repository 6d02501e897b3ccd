#pragma once

// How the general search goes: configuration by configuration.
//
// Wing and Gong ("Testing and verifying concurrent objects", 1993) with Lowe's just-in-time order ("Testing for
// linearizability", 2016): time runs from one return to the next, and an operation is ordered only to let the one that
// returns be ordered. Depth first over the returns and breadth first between two of them; every configuration (which
// of the pending operations are ordered, and the state) is kept and searched once. Some things keep the number of
// configurations small; each is an exchange argument:
//
//   Interchangeable operations. Of pending operations with equal actions the one that returns first is ordered first:
//     given any order that begins with another one, swapping the two is an order as well. Unknown outcomes never
//     return, so they come last, and those invoked by then are all equal.
//   Reads at once. An operation that never changes the state is ordered as soon as the state permits it: it leaves
//     everything that follows as it was.
//   Hidden writes. When a write that overwrites everything is ordered, each pending write that is possible in every
//     state (one that overwrites, too, or an append) could be ordered just before it, and nobody would ever see it. It
//     is *hideable* from then on: whether that happened is decided when it returns. Without this, k concurrent writes
//     make 2^k configurations out of each.
//   Short holds. If nothing asks for a taken lock, nobody takes it before it has to return from that, unless its own
//     release is pending as well or the one that returns is its own; and more in holds.hpp.
//   Unseen states. What nobody reads from a state on, until something overwrites it, is the same for all such states.
//   No operation of unknown outcome need lead there: from where it was, everything goes on as well, and what could have
//   hidden before it is ordered when it returns.
//   Dominance. Of two configurations at the same return with the same state, the one that has used fewer unknown
//     operations, has more reads done and more writes hideable can do whatever the other can.

#include <span>

#include "checker/linearizability/model/specification.hpp"
#include "checker/linearizability/search/search_operation.hpp"

namespace lockstep::checker {

struct SearchedConfigurations {
  SearchResult result;
  /// violated: what later reads rule out was given up early, so that an earlier return may have no order either.
  bool gave_up = false;
};

SearchedConfigurations search_configurations(std::span<const SearchOperation> operations, Specification& specification,
                                             const SearchLimits& limits);

}  // namespace lockstep::checker
