#pragma once

// For tests: several branches of a search are under way, and chance says which of them is explored next.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "checker/explorer/branches_ahead.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker {

class BegunBranches {
 public:
  /// One of those that are begun, after as many more have been begun as there can be, up to `most`. Requires: the search is not done.
  template <class Found>
  std::shared_ptr<Branch> next(BranchesAhead<Found>& ahead, const BranchStack& stack, std::size_t most,
                               sim::Random& random) {
    while (begun_.size() < most) {
      std::shared_ptr<Branch> more = ahead.begin_next(stack);
      if (!more) break;
      begun_.push_back(std::move(more));
    }
    std::swap(begun_[random.below(begun_.size())], begun_.back());
    std::shared_ptr<Branch> next = std::move(begun_.back());
    begun_.pop_back();
    return next;
  }
  void clear() { begun_.clear(); }

 private:
  std::vector<std::shared_ptr<Branch>> begun_;
};

}  // namespace lockstep::checker
