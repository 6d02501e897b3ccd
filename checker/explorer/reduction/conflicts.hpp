#pragma once

// Events that cannot come where they are tried, since time does not allow it: why not, and what has to be tried
// instead. docs/argument/exploring.md, "What time does not allow", says why nothing is lost.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checker/explorer/branch.hpp"
#include "checker/explorer/reduction/arrivals.hpp"
#include "checker/explorer/reduction/search_tree.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/positions.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

class Conflicts {
 public:
  Conflicts(const SearchRules& rules, const Trace& trace, const Moment& moment, Timing& timing,
            const Arrivals& arrivals, SearchTree& tree)
      : rules_(rules), trace_(trace), moment_(moment), timing_(timing), arrivals_(arrivals), tree_(tree) {}

  // --- While an event is executed.

  void begin() {
    overdue_.reset();
    denied_by_.clear();
  }
  /// Time leaves the present event no such answer: who does not allow it is as much in conflict with it as with an
  /// event that fails. Requires: the constraint of the answer is the last that failed.
  void deny();
  /// The present event is infeasible since what is in this slot has to come first.
  void note_overdue(std::uint32_t slot);

  // --- When it has been.

  bool has_denied() const { return !denied_by_.empty(); }
  /// Answers that the event was not given. Requires: its past is known.
  void try_denied(std::uint32_t position);
  /// The event is infeasible, because of `failure`: what has to come first is to be tried in its place, and it in place
  /// of what does not allow it. Requires: its past is known.
  void try_instead_of(std::uint32_t position, const Failure& failure);
  /// The event is infeasible with each of its answers, and nothing that can still happen would change that. So no
  /// execution begins like the trace up to the last of those that do not allow it. False: nor does any begin as the
  /// branch does, with the present answers of its first event.
  bool give_up(std::uint32_t position);

  /// Whether the reversal of a race is infeasible: `later` cannot have arrived by the time at which `earlier` has, as
  /// long as `part`, the part of the trace that comes first with it, has. Then what does not allow that is tried.
  bool is_too_late(std::uint32_t earlier, std::uint32_t later, std::span<const std::uint32_t> part);
  /// Whether somebody who is asleep at the place after the trace has to come before anything else can that is still to
  /// be tried: then nobody will wake him. That this is so is explained as what fails is.
  bool sleeps_for_good(const Place& place);

 private:
  /// An event that cannot come in time.
  struct Wanted {
    Scheduled event;
    std::uint32_t cause;
    sim::Duration least_delay;  ///< after its cause
    const Positions* past;      ///< what happens before it, and itself if it has been executed
    bool is_failed;             ///< with the constraint of the failure
    // What is known already of the places at which it would come: the later, the more comes before it, and the less is
    // possible.
    std::uint32_t possible_before = 0;      ///< at each position before this
    std::uint32_t impossible_from = kNone;  ///< at this and each after it
  };
  Wanted wanted(const sim::Event& event);
  Wanted wanted(Scheduled event, const std::array<std::uint32_t, 3>& causes, sim::Duration least_delay);
  Wanted wanted(const Step& step);
  void find(Wanted wanted, const Failure& failure, std::uint32_t end);
  bool is_in_conflict(Wanted& wanted, const Failure& failure, std::uint32_t other) const;
  bool may_be_in_conflict(const Wanted& wanted, std::uint32_t other) const;
  bool is_possible_at(std::uint32_t position, Wanted& wanted, const Failure& failure) const;
  void try_in_place_of(std::uint32_t position, const Positions& past, Scheduled event);
  void begin_reversal(std::uint32_t position, const Positions& past, Scheduled event);

  const SearchRules& rules_;
  const Trace& trace_;
  const Moment& moment_;
  Timing& timing_;
  const Arrivals& arrivals_;
  SearchTree& tree_;

  std::optional<Scheduled> overdue_;      ///< an event that has to come before the present one
  std::vector<std::uint32_t> denied_by_;  ///< positions: who does not allow answers that time does not leave to it
  // Scratch.
  Positions past_;
  Positions first_;
  std::vector<std::uint32_t> part_;
  Reversal reversal_;
};

}  // namespace lockstep::checker::explorer
