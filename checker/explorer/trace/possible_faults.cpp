#include "checker/explorer/trace/possible_faults.hpp"

namespace lockstep::checker::explorer {

PossibleFaults::PossibleFaults(std::span<const FaultBudget> budgets) : budgets_(budgets) {
  const auto add = [](std::vector<bool>& processes, sim::ProcessId process) {
    if (processes.size() <= process.index) processes.resize(process.index + 1u, false);
    processes[process.index] = true;
  };
  for (const FaultBudget& budget : budgets) {
    if (budget.times == 0) continue;
    may_lose_ = may_lose_ || loses_message(budget.kind);
    may_crash_ = may_crash_ || kills(budget.kind);
    may_delay_ = may_delay_ || delays_message(budget.kind);
    may_be_late_ = may_be_late_ || delays_message(budget.kind) || cuts_off(budget.kind);
    if (is_own_event(budget.kind)) most_planned_ += budget.times;
    if (!freezes(budget.kind)) continue;
    const bool is_of_work = budget.during == sim::Activity::work;
    asks_afterwards_ = asks_afterwards_ || (!is_of_work && budget.during != sim::Activity::anything);
    for (const sim::ProcessId process : budget.who) {
      add(may_pause_, process);
      if (!is_of_work) add(may_pause_anywhere_, process);
    }
  }
}

sim::Duration PossibleFaults::longest_pause(sim::ProcessId process) const {
  sim::Duration sum = sim::Duration::zero();
  for (const FaultBudget& budget : budgets_) {
    if (!freezes(budget.kind)) continue;
    if (std::find(budget.who.begin(), budget.who.end(), process) == budget.who.end()) continue;
    sum = sum + budget.range.hi * budget.times;
  }
  return sum;
}

sim::Duration PossibleFaults::longest_delay() const {
  sim::Duration sum = sim::Duration::zero();
  for (const FaultBudget& budget : budgets_) {
    if (delays_message(budget.kind)) sum = sum + budget.range.hi * budget.times;
  }
  return sum;
}

}  // namespace lockstep::checker::explorer
