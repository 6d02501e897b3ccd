#pragma once

// The independent oracle of the mutex checker's tests: Wing and Gong's search over all linearizations and all unknown
// outcomes, straight from the definition, and a validator of proofs. Neither shares anything with the checker's paths.
// For at most 8 operations.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checker/linearizability/near_linear/mutex.hpp"

namespace lockstep::checker {

/// Does a have to come before b?
inline bool precedes(const MutexOperation& a, const MutexOperation& b) {
  return a.phase == sim::Phase::ok && a.completed < b.invoked;
}

/// `holder` is -1 while the lock is free, and otherwise whoever acquired it.
inline bool step(MutexSpecification specification, const MutexOperation& o, std::int64_t& holder) {
  if (o.function == MutexFunction::acquire) {
    if (holder != -1) return false;
    holder = o.process;
    return true;
  }
  if (holder == -1) return false;
  if (specification == MutexSpecification::owner_mutex && holder != o.process) return false;
  holder = -1;
  return true;
}

/// Can the operations outside `placed` follow? Unknown ones may be left out, certain ones may not.
inline bool can_complete(std::span<const MutexOperation> operations, MutexSpecification specification, unsigned placed,
                         std::int64_t holder) {
  bool is_complete = true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].phase == sim::Phase::ok && (placed >> i & 1) == 0) is_complete = false;
  }
  if (is_complete) return true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if ((placed >> i & 1) != 0 || operations[i].phase == sim::Phase::fail) continue;
    bool may_be_next = true;
    for (std::size_t j = 0; j < operations.size(); ++j) {
      if ((placed >> j & 1) == 0 && j != i && precedes(operations[j], operations[i])) may_be_next = false;
    }
    std::int64_t after = holder;
    if (!may_be_next || !step(specification, operations[i], after)) continue;
    if (can_complete(operations, specification, placed | 1U << i, after)) return true;
  }
  return false;
}

inline bool is_linearizable(std::span<const MutexOperation> operations, MutexSpecification specification) {
  return can_complete(operations, specification, 0, -1);
}

/// What was known of the history at this moment: later invocations are missing, and what has not completed is open.
inline std::vector<MutexOperation> until(std::span<const MutexOperation> operations, sim::Duration moment) {
  std::vector<MutexOperation> prefix;
  for (const MutexOperation& o : operations) {
    if (o.invoked > moment) continue;
    prefix.push_back(o);
    if (o.phase == sim::Phase::ok && o.completed > moment) prefix.back().phase = sim::Phase::invoke;
  }
  return prefix;
}

/// Does this order prove that the history is linearizable? Near-linear, for histories of any length.
inline bool is_linearization(std::span<const MutexOperation> operations, MutexSpecification specification,
                             std::span<const std::uint32_t> order) {
  std::vector<char> is_placed(operations.size(), 0);
  std::int64_t holder = -1;
  sim::Duration latest_invocation = -sim::Duration::forever();
  for (const std::uint32_t i : order) {
    if (i >= operations.size() || is_placed[i] != 0) return false;
    is_placed[i] = 1;
    const MutexOperation& o = operations[i];
    if (o.phase == sim::Phase::fail || !step(specification, o, holder)) return false;
    // Something before it in the order was invoked after it had completed.
    if (o.phase == sim::Phase::ok && o.completed < latest_invocation) return false;
    latest_invocation = std::max(latest_invocation, o.invoked);
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].phase == sim::Phase::ok && is_placed[i] == 0) return false;
  }
  return true;
}

}  // namespace lockstep::checker
