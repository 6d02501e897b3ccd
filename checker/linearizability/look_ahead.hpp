#pragma once

// What the search needs in order to look ahead to reads: which come next, and what each of them may have seen.

#include <cstdint>
#include <span>
#include <vector>

#include "checker/linearizability/search.hpp"

namespace lockstep::checker {

struct SearchEvent {
  std::int64_t time;
  std::uint32_t operation;
  bool is_return;
};

/// The required reads of a search, by invocation. Positions are those of the operations, or of the events.
class ReadsAhead {
 public:
  ReadsAhead() = default;
  ReadsAhead(std::span<const SearchOperation> operations, std::span<const SearchEvent> events,
             const Specification& specification);

  /// The next reads that are invoked after this event: a few, which cost little and rule out most.
  std::span<const std::uint32_t> after(std::uint32_t event) const;
  /// The operations that overwrite, may be the last such before the read, and lead to what it has seen.
  std::span<const std::uint32_t> sources(std::uint32_t read) const { return sources_[read]; }
  /// The event of the last return of a read.
  std::uint32_t last_return() const { return last_return_; }

 private:
  std::vector<std::uint32_t> reads_;
  std::vector<std::uint32_t> invoked_;  ///< by event: how many, up to it
  std::vector<std::vector<std::uint32_t>> sources_;
  std::uint32_t last_return_ = 0;
};

/// Of a violated history that the search gave up early: the return up to which there is no order, and an order of what
/// returned before. `all`: the search's result, whose culprit returns no later than that. The verdict becomes unknown
/// if a bound is hit.
SearchResult first_violation(SearchResult all, std::span<const SearchOperation> operations,
                             Specification& specification, const SearchLimits& limits);

}  // namespace lockstep::checker
