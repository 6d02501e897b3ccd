#pragma once

// What is found in branches of a stack before it is their turn to be taken in: see branches.hpp.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "checker/explorer/branches.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {

/// `Found`: has a `BranchOutcome outcome`. Not for several threads at once.
template <class Found>
class BranchesAhead {
 public:
  /// So much may be waiting for its turn: whoever would find more has to wait, unless it is the branch whose turn it
  /// is.
  static constexpr std::size_t kMost = 256;

  /// The next branch that nobody has begun, in the order in which they are taken in; now somebody has. Null: none is
  /// known at the moment.
  std::shared_ptr<Branch> begin_next(const BranchStack& stack) {
    std::shared_ptr<Branch> next;
    for (auto branch = stack.branches().rbegin(); branch != stack.branches().rend() && !next; ++branch) {
      if (begun_.size() >= kMost && branch != stack.branches().rbegin()) break;
      next = untouched(*branch);
    }
    if (next) begun_.push_back({next, std::nullopt});
    return next;
  }
  /// Requires: `begin_next` gave it.
  void hand_in(const Branch& branch, Found found) {
    const auto begun = find(branch);
    sim::invariant(begun != begun_.end() && !begun->found, "what is handed in was begun, once");
    begun->found = std::move(found);
  }
  /// What was found in the branch whose turn it is, if somebody has handed that in. Then the stack has to take in its
  /// outcome.
  std::optional<Found> next(const BranchStack& stack) {
    if (stack.is_done()) return std::nullopt;
    const auto next = find(*stack.branches().back());
    if (next == begun_.end() || !next->found) return std::nullopt;
    std::optional<Found> found = std::move(next->found);
    begun_.erase(next);
    return found;
  }

 private:
  struct Begun {
    std::shared_ptr<Branch> branch;
    std::optional<Found> found;  ///< nothing: somebody is still at it
  };

  auto find(const Branch& branch) {
    return std::find_if(begun_.begin(), begun_.end(),
                        [&](const Begun& begun) { return begun.branch.get() == &branch; });
  }
  /// This branch, or the next part of its rest, as far as that is known, that nobody has begun.
  std::shared_ptr<Branch> untouched(const std::shared_ptr<Branch>& branch) {
    const auto begun = find(*branch);
    if (begun == begun_.end()) return branch;
    if (!begun->found) return nullptr;
    const std::vector<std::shared_ptr<Branch>>& rest = begun->found->outcome.rest;
    for (auto part = rest.rbegin(); part != rest.rend(); ++part) {
      if (std::shared_ptr<Branch> next = untouched(*part)) return next;
    }
    return nullptr;
  }

  std::vector<Begun> begun_;  ///< and not taken in yet; few
};

}  // namespace lockstep::checker
