#pragma once

// Who waits for whom, and the circles in that.
//
// A process *wants* an object from the invocation of its first attempt on until it has it, gives up, or crashes:
// attempts in a row, with nothing but sleep in between, are one want. Meanwhile it gives nothing back. It *holds* an
// object from the moment at which it learns that it has it until it asks to give it back, learns that it lost it, knows
// by its own clock that its lease is over, or crashes. P waits for Q because of X while P wants X and Q holds X.
//
// A pause does not prolong a hold beyond its deadline here, other than in ownership.hpp: the paused goes on believing,
// but the lock is free, and whoever wants it gets it. A crashed holder is not waited for: nobody of a circle can be
// dead, and that its lock is never free again is `recoverable`.
//
// Only ids and steps are looked at, never two instants, but in `WaitInterval`: a history of an exploration, with
// symbolic instants, is as good as one of a run.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/properties/ownership.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// Attempts in a row of one process to get one object.
struct Want {
  sim::ProcessId process;
  std::string_view object;     ///< belongs to the history
  sim::OperationId first = 0;  ///< the first attempt
  sim::Instant from;
  sim::Step from_step = sim::no_step;
  std::optional<Ending> until;  ///< it got it, gave up, or crashed; nothing: it waits for ever
};

/// By their first attempts.
std::vector<Want> collect_wants(const sim::History& history);

/// One want, and one hold of the same object.
struct Wait {
  std::size_t want = 0;
  std::size_t hold = 0;
};

/// All wants and holds of a history, and which of them are about the same object and may come together as far as steps
/// say.
struct Waits {
  std::vector<Want> wants;
  std::vector<Belief> holds;
  std::vector<Wait> possible;  ///< by waiter, holder, want and hold

  sim::ProcessId waiter(const Wait& wait) const { return wants[wait.want].process; }
  sim::ProcessId holder(const Wait& wait) const { return holds[wait.hold].process; }
};

/// Points into `history`, which must outlive it.
Waits collect_waits(const sim::History& history);

/// When a hold ends by something that its process does, or that happens to it; its deadline is not looked at.
std::optional<Ending> end_by_event(const Belief& hold);

/// From `from` on, until `to`, if that comes: true times.
struct WaitInterval {
  sim::Instant from;
  std::optional<sim::Instant> to;

  /// Whether it lasts from `moment` on for `length`; for no length, whether it contains `moment`.
  bool lasts(sim::Instant moment, sim::Duration length) const;
};

/// Processes of which each waits for the next, and the last for the first; the smallest comes first.
using WaitCycle = std::vector<sim::ProcessId>;

struct WaitCycles {
  std::vector<WaitCycle> cycles;  ///< elementary (no process twice): shortest first, then by processes
  bool all = true;                ///< false: there are more than `cycles_max`, and these are some of them
};

/// Without repetitions, by waiter, holder and object.
std::vector<WaitFor> edges_of(const Waits& waits, const std::vector<Wait>& some);

/// Hawick and James 2008, "Enumerating circuits and loops in graphs with self-arcs and multiple-arcs". n readers that
/// all want to become writers wait in more than (n - 1)! circles, hence the bound.
WaitCycles wait_for_cycles(const std::vector<WaitFor>& edges, std::size_t cycles_max = 1'000);

/// "A waits for b, which B holds".
std::string sentence_of(const WaitFor& wait, const Names& names);

/// The wait-for graph for Graphviz: a vertex for everybody who waits or is waited for; what is part of a circle is red.
std::string wait_for_dot(const std::vector<WaitFor>& edges, const Names& names);

}  // namespace lockstep::checker
