#pragma once

// Every order and every real-valued delay of a small world. Start here for `check`.
//
// - The world runs again and again, each time in another order. An executed event has a time variable; its delay
//   range, the order of what depends on each other, first-in-first-out order and the answers to `has_reached` are
//   difference constraints. One explored trace stands for all delays that satisfy them.
// - Only events of one process are ordered, and of a server only those of which one changes what the other reads or
//   changes.
// - A trace is over when nothing is pending but ticks, which repeat for ever, and none of them can be due before an
//   event that happened and is not itself of a tick.
// - A search can be cut into branches that are explored apart (`Branch`, `branches.hpp`): on several threads, or after
//   an interruption.
//
// How, and why nothing is lost: docs/argument/exploring.md, and checker/explorer/search/search.hpp.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "checker/explorer/branch.hpp"
#include "checker/explorer/counts.hpp"
#include "checker/explorer/explored.hpp"
#include "checker/explorer/fault_budget.hpp"
#include "checker/time/difference_constraints.hpp"
#include "checker/time/parametric.hpp"
#include "sim/coroutines/region.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker {

/// What comes when everything has come to rest.
struct Coda {
  sim::Duration after;     ///< it begins so long after all before
  bool has_ticks = false;  ///< what ticks for ever goes on in it
};

/// A world that can begin again as often as the explorer likes.
class Explorable {
 public:
  virtual ~Explorable() = default;
  /// Its decisions and its scheduler are the explorer.
  virtual sim::World& world() = 0;
  /// Emits what happens by itself. Called after `World::restart`.
  virtual void begin() = 0;
  /// Everything has come to rest. Messages of what comes then take the least delay: it asks how things stand, not how
  /// the network is. May emit events that are to come so long after everything else (`Coda::after`): they belong to
  /// the trace, but are no part of the races, and no pause strikes then. Nothing: the trace is over. `is_due`: the
  /// trace goes on as one before it did, which had a coda; so it must have one, too.
  virtual std::optional<Coda> begin_coda(bool is_due) {
    static_cast<void>(is_due);
    return std::nullopt;
  }
  /// Whether the story, or its coda, is over although something is pending that is no tick. Asked after each event.
  virtual bool is_over_early() const { return false; }
  /// The memory in which all of this world lies that an event may change, `begin` and `begin_coda` included; null: it
  /// can only begin again. The explorer is inside whenever it lets the world do something.
  virtual sim::Region* region() { return nullptr; }
};

class Explorer;

/// Sees the world between two events of a trace, while the search goes on.
class ExplorationObserver {
 public:
  /// A trace begins: nothing has been executed yet.
  virtual void began(const Explorer& explorer) = 0;
  /// The event at this position has been executed and is feasible so far; the trace may still turn out not to be.
  /// `is_replay`: as in the trace before, with the same state after it.
  virtual void executed(const Explorer& explorer, std::uint32_t position, bool is_replay) = 0;

 protected:
  ~ExplorationObserver() = default;
};

struct ExplorerOptions {
  bool reduction = true;  ///< false: all interleavings
  std::vector<FaultBudget> faults;
  /// Processes whose names can be exchanged in every execution, faults included, and what comes of it is an execution.
  /// Nobody is in two lists. Only executions are explored in which they come in the order of their list: the first
  /// request of each, on its first connection, is handled no earlier than that of the one before it, and not at all if
  /// that never is. Where a crash or a loss may take requests away they are started in this order instead: that event
  /// is in every execution.
  std::vector<std::vector<sim::ProcessId>> alike;
  std::uint64_t max_traces = 0;             ///< 0: no bound
  std::uint64_t max_steps = 1'000;          ///< of one trace: a world that does not end is not small
  ExplorationObserver* observer = nullptr;  ///< outlives the exploration
  /// Asked now and then: true ends the branch where it is, and nothing that was found in it counts. Null: never.
  std::function<bool()> gives_up;
  bool goes_back = true;  ///< false: each trace runs from its beginning, for comparison
  /// Without asking why an event is infeasible: it is executed all the same, and the trace goes on to its end, ignoring
  /// time and forking nowhere. All that is run there and can come in place of that event is tried there. For
  /// comparison; that may take very long.
  bool thorough = false;
};

/// What a branch asks of time, besides what its events do: for who goes along one execution, event by event.
struct OrderInTime {
  /// So many events, the first of each trace, happen in this order, and all others no earlier than the last of them. 0:
  /// none; only the events of one process are in order.
  std::uint32_t events = 0;
  /// The last of them happens beyond this: later, or if it is not attained, then or later.
  std::optional<Extent> later_than = std::nullopt;
  std::optional<Extent> earlier_than = std::nullopt;  ///< likewise
};

namespace explorer {
class Search;
}

class Explorer final : public sim::Decisions {
 public:
  /// Called at the end of every complete feasible trace, while its world and constraints stand. False: stop.
  using Visitor = std::function<bool(Explorer&)>;

  explicit Explorer(ExplorerOptions options);
  ~Explorer() override;
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// Requires: `subject`'s world has this explorer as decisions.
  ExplorerCounts explore(Explorable& subject, const Visitor& visit);
  /// One branch of a search, as far as the limits allow. Depends on these alone, not on what was explored before.
  /// Requires: whoever else has let the subject's world run since the last branch has claimed its region.
  BranchOutcome explore(Explorable& subject, const Branch& branch, BranchLimits limits, const Visitor& visit);
  /// Of the branches that are explored from now on. Requires: each has as many events, with that of its own.
  void keep(OrderInTime order);

  // --- For the visitor: the present trace.

  /// With the answers that the branch's first event has in it nothing more is to be tried.
  void have_enough();
  sim::World& world();
  const sim::World& world() const;
  /// Events that are still to come, as slots of the world, in order of emission.
  std::span<const std::uint32_t> pending() const;
  /// Further constraints may be added between a mark and its undo.
  DifferenceConstraints& constraints();
  std::vector<ExploredEvent> trace() const;
  /// The branch that consists of this trace alone: its first trace, whenever it is explored.
  Branch here() const;
  const ExploredEvent& event_at(std::uint32_t position) const;
  /// What was chosen (`sim::Choice::model`) while this event was handled, in this order.
  std::vector<sim::PlannedChoice> choices_at(std::uint32_t position) const;
  sim::Instant time_at(std::uint32_t position) const;
  sim::ProcessId process_at(std::uint32_t position) const;
  std::uint32_t trace_length() const;
  /// Where the coda begins: how many events the story has.
  std::uint32_t story_length() const;
  /// In the order in which they were met.
  std::span<const ExploredFault> faults() const;
  std::span<const ExploredParameter> parameters() const;
  std::span<const ParametricBound> parametric() const;
  /// With which times runs show what this trace assumed of digits, which its instants do not have.
  std::span<const sim::WholeUnits> whole_units() const;
  /// Whether a comparison of this trace was widened in a way that `parametric` does not say, because a clock drifts.
  bool is_widened() const;

  /// For the world alone.
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override;

 private:
  friend struct ExplorerForTests;  // checker/testing/explorer_mutants.hpp
  std::unique_ptr<explorer::Search> search_;
};

}  // namespace lockstep::checker
