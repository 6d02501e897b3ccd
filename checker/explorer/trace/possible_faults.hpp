#pragma once

// What the budgets of a search allow at all, whatever has happened so far.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "checker/explorer/fault_budget.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::checker::explorer {

class PossibleFaults {
 public:
  /// `budgets` outlive it.
  explicit PossibleFaults(std::span<const FaultBudget> budgets);

  std::span<const FaultBudget> budgets() const { return budgets_; }
  bool may_pause(sim::ProcessId process) const { return is_among(may_pause_, process); }
  /// Not only during its work.
  bool may_pause_anywhere(sim::ProcessId process) const { return is_among(may_pause_anywhere_, process); }
  /// Whether anybody may be paused.
  bool may_pause() const { return !may_pause_.empty(); }
  bool may_lose() const { return may_lose_; }
  bool may_crash() const { return may_crash_; }
  /// A message, alone.
  bool may_delay() const { return may_delay_; }
  /// Whether a message has no longest delay that is known beforehand: it may be delayed, or wait for the end of a
  /// partition.
  bool may_be_late() const { return may_be_late_; }
  /// Whether what a process is at when it has handled an event allows the pause that begins there.
  bool asks_afterwards() const { return asks_afterwards_; }
  /// How many faults can be planned before the first event, and are events then.
  std::size_t most_planned() const { return most_planned_; }
  /// All that pauses can hold a process back.
  sim::Duration longest_pause(sim::ProcessId process) const;
  /// All that delays can hold a message back, be it that one before it on its channel is delayed.
  sim::Duration longest_delay() const;

 private:
  static bool is_among(const std::vector<bool>& processes, sim::ProcessId process) {
    return process.index < processes.size() && processes[process.index];
  }

  std::span<const FaultBudget> budgets_;
  std::vector<bool> may_pause_;           ///< by process
  std::vector<bool> may_pause_anywhere_;  ///< by process
  bool may_lose_ = false;
  bool may_crash_ = false;
  bool may_delay_ = false;
  bool may_be_late_ = false;
  bool asks_afterwards_ = false;
  std::size_t most_planned_ = 0;
};

}  // namespace lockstep::checker::explorer
