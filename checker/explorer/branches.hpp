#pragma once

// A search cut into branches, so that threads can share it and an interrupted one can go on.
//
// What makes the result a function of the world alone: branches lie on a stack, and what was found in them is taken in
// in the order of the stack, always the topmost next. What a branch finds depends on the branch alone, so any other
// that lies on the stack, and any that is part of the rest of one, may be explored meanwhile by whoever has time;
// nothing of that is in vain. Only what is taken in makes branches at places that others know, too, and by then these
// have been taken in.

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <utility>
#include <vector>

#include "checker/explorer/explorer.hpp"

namespace lockstep::checker {

class BranchStack {
 public:
  /// The whole search, untouched.
  BranchStack() : BranchStack(Branch()) {}
  /// This branch alone.
  explicit BranchStack(Branch branch) : stack_{std::make_shared<Branch>(std::move(branch))} {}

  bool is_done() const { return stack_.empty(); }
  /// What is left; what is to be taken in next comes last. They do not change any more, but for `share`.
  const std::vector<std::shared_ptr<Branch>>& branches() const { return stack_; }
  /// This was found in the last of the branches; the rest of it comes next, and what others are to try after that.
  void take_in(BranchOutcome outcome);

  /// Of all that was taken in. `complete` only when nothing is left.
  const ExplorerCounts& counts() const { return counts_; }
  /// Which part of the search is done, of `kWholeSearch`, where a branch counts as much as each of its neighbours (the
  /// weighted backtracking estimator of Kilby, Slaney, Thiébaux and Walsh 2006). Reversals that are found late were not
  /// expected and count nothing.
  std::uint64_t share_done() const { return share_done_; }

  /// All of it, as lines of text.
  void write(std::ostream& out) const;
  /// What `write` wrote. False: it is something else.
  bool read(std::istream& in);

 private:
  std::vector<std::shared_ptr<Branch>> stack_;
  ExplorerCounts counts_;
  std::uint64_t share_done_ = 0;
};

}  // namespace lockstep::checker
