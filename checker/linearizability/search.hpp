#pragma once

// The general search: any specification, any history, exact unless a bound is hit; exponential in the worst case.
//
// Wing and Gong ("Testing and verifying concurrent objects", 1993) with Lowe's just-in-time order ("Testing for
// linearizability", 2016): time runs from one return to the next, and an operation is ordered only to let the one that
// returns be ordered. Depth first over the returns and breadth first between two of them; every configuration (which
// of the pending operations are ordered, and the state) is kept and searched once. Some things keep the number of
// configurations small; each is an exchange argument:
//
//   Interchangeable operations. Of pending operations with equal actions the one that returns first is ordered first:
//     given any order that begins with another one, swapping the two is an order as well. Unknown outcomes never return,
//     so they come last, and those invoked by then are all equal.
//   Reads at once. An operation that never changes the state is ordered as soon as the state permits it: it leaves
//     everything that follows as it was.
//   Hidden writes. When a write that overwrites everything is ordered, each pending write that is possible in every
//     state (one that overwrites, too, or an append) could be ordered just before it, and nobody would ever see it. It is
//     *hideable* from then on: whether that happened is decided when it returns. Without this, k concurrent writes make
//     2^k configurations out of each.
//   Short holds. If nothing asks for a taken lock, nobody takes it before it has to return from that, unless its own
//     release is pending as well or the one that returns is its own; and more in linearizability/holds.hpp.
//   Unseen states. What nobody reads from a state on, until something overwrites it, is the same for all such states. No
//     operation of unknown outcome need lead there: from where it was, everything goes on as well, and what could have
//     hidden before it is ordered when it returns.
//   Dominance. Of two configurations at the same return with the same state, the one that has used fewer unknown
//     operations, has more reads done and more writes hideable can do whatever the other can.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct SearchOperation {
  Action action;
  std::int64_t invoked = 0;
  std::int64_t returned = never;  ///< latest moment at which it can take effect
  bool is_required = true;        ///< false: it may also never take effect
};

struct SearchLimits {
  std::size_t max_memory = ~std::size_t{0};  ///< bytes
  std::uint64_t max_configurations = ~std::uint64_t{0};
  std::function<bool()> is_out_of_time;  ///< may be empty
  bool looks_ahead = true;
  bool needs_culprit = true;  ///< false: of a violated history, the order and the culprit do not matter
};

/// Operations by position in the input.
struct SearchResult {
  Verdict verdict = Verdict::unknown;
  SearchBound bound = SearchBound::none;  ///< unknown: memory (also for configurations) or time
  std::vector<std::uint32_t> order;       ///< holds: a linearization; otherwise one of the longest prefix reached
  std::uint32_t culprit = 0;              ///< violated: the operation on whose return the prefix ends
  std::uint64_t configurations = 0;
  std::uint64_t steps = 0;
  std::size_t bytes = 0;
};

SearchResult search_linearization(std::span<const SearchOperation> operations, Specification& specification,
                                  const SearchLimits& limits);

}  // namespace lockstep::checker
