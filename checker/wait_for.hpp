#pragma once

// Who waits for whom, when nothing more will happen; and the circles in that, each of which is a deadlock.
//
// Process P waits for Q because of an object X if an acquire of X by P is still open and Q holds X: an acquire of Q ended
// ok, and since then Q neither released it, nor learnt that it lost it, nor crashed. What is left open by a process that
// crashed meanwhile waits for nobody.
//
// A hold with a validity deadline keeps nobody waiting here. Counterexample to the other reading: A holds lock1 with
// such a lease and waits for lock2, which B holds, and B waits for lock1. When the lease is over lock1 is free: if B is never told,
// a wake-up was lost, which is another property and another repair than taking locks in one order.
//
// Only ids and steps are looked at, never two instants: a history of an exploration, with symbolic instants, is as good as
// one of a run.
//
// Requires, for all of them: the history is of a world that has come to rest. Before, an open acquire may yet give up.

#include <cstddef>
#include <string>
#include <vector>

#include "checker/verdict.hpp"
#include "sim/history.hpp"

namespace lockstep::checker {

/// One reason of one process to wait for one holder.
struct WaitFor {
  sim::ProcessId waiter;
  sim::ProcessId holder;  ///< may be the waiter itself: it takes a lock twice that can be taken once
  std::string object;
  sim::OperationId acquire = 0;  ///< open, of the waiter
  sim::OperationId hold = 0;     ///< the acquire that ended ok, of the holder
  bool operator==(const WaitFor&) const = default;
};

/// By waiter, holder, object and operations.
std::vector<WaitFor> wait_for_relation(const sim::History& history);

/// Processes of which each waits for the next, and the last for the first; the smallest comes first.
using WaitCycle = std::vector<sim::ProcessId>;

struct WaitCycles {
  std::vector<WaitCycle> cycles;  ///< elementary (no process twice): shortest first, then by processes
  bool all = true;                ///< false: there are more than `cycles_max`, and these are some of them
};

/// Hawick and James 2008, "Enumerating circuits and loops in graphs with self-arcs and multiple-arcs". n readers that all
/// want to become writers wait in more than (n - 1)! circles, hence the bound.
WaitCycles wait_for_cycles(const std::vector<WaitFor>& relation, std::size_t cycles_max = 1'000);

/// "no-deadlock": violated if somebody waits in a circle. Blames the processes of a shortest circle, in the order in which
/// they wait for each other. `at` is the moment that closed it, and absent if the history's instants are symbolic.
Finding no_deadlock(const sim::History& history, const Names& names);

/// The wait-for graph for Graphviz: a vertex for everybody who waits or is waited for; what is part of a circle is red.
std::string wait_for_dot(const sim::History& history, const Names& names);

}  // namespace lockstep::checker
