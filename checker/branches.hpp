#pragma once

// A search cut into branches, so that threads can share it and an interrupted one can go on.
//
// The rounds make the result a function of the world alone. A round is a fixed number of branches from the top of the stack, each with
// a limit of traces; what they find is taken in in their order, whoever finished first. So any number of threads explores the same
// branches, gets the same counts, and meets the same traces in the same order. Nothing is taken in before the whole round is explored:
// what one branch found out changes what the next would do, and so an interruption within a round would change the rest.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "checker/explorer.hpp"

namespace lockstep::checker {

class BranchStack {
 public:
  static constexpr std::size_t kRound = 32;              ///< branches of one round
  static constexpr std::uint64_t kTracesOfBranch = 500;  ///< a larger one hands back its rest

  /// The whole search, untouched.
  BranchStack() : stack_(1) {}
  /// These branches alone.
  explicit BranchStack(std::vector<Branch> branches) : stack_(std::move(branches)) {}

  bool is_done() const { return stack_.empty() && round_.empty(); }
  const std::vector<Branch>& branches() const { return stack_; }
  /// What is left of the round, or the next one: at most `kRound` branches.
  std::vector<Branch> take_round();
  /// The first `outcomes.size()` of what `take_round` gave last are explored; the others are what is left of the round.
  void hand_back(std::vector<BranchOutcome> outcomes);

  /// Of all that was handed back. `complete` only when nothing is left.
  ExplorerCounts counts() const;
  /// Which part of the search is done, of `kWholeSearch`, where a branch counts as much as each of its neighbours (the weighted backtracking
  /// estimator of Kilby, Slaney, Thiébaux and Walsh 2006). Reversals that are found late were not expected and count nothing.
  std::uint64_t share_done() const { return share_done_; }

  /// All of it, as lines of text.
  void write(std::ostream& out) const;
  /// What `write` wrote. False: it is something else.
  bool read(std::istream& in);

 private:
  void take_in(const Branch& branch, BranchOutcome outcome);

  std::vector<Branch> stack_;
  std::vector<Branch> round_;
  std::vector<BranchOutcome> outcomes_;  ///< of the first branches of the round
  ExplorerCounts counts_;
  std::uint64_t share_done_ = 0;
};

}  // namespace lockstep::checker
