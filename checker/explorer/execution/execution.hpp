#pragma once

// One step of an exploration: an event is executed in its world, and what the world tells and asks meanwhile.

#include <cstdint>

#include "checker/explorer/execution/fault_choices.hpp"
#include "checker/explorer/execution/placement.hpp"
#include "checker/explorer/execution/questions.hpp"
#include "checker/explorer/execution/readings.hpp"
#include "checker/explorer/reduction/arrivals.hpp"
#include "checker/explorer/reduction/conflicts.hpp"
#include "checker/explorer/reduction/races.hpp"
#include "checker/explorer/trace/alike_order.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/coroutines/region.hpp"
#include "sim/schedules/scheduler.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

class Execution final : public sim::Scheduler {
 public:
  Execution(const SearchRules& rules, Trace& trace, Moment& moment, Timing& timing, const AlikeOrder& alike,
            const Arrivals& arrivals, Conflicts& conflicts, Races& races)
      : rules_(rules),
        trace_(trace),
        moment_(moment),
        timing_(timing),
        alike_(alike),
        arrivals_(arrivals),
        conflicts_(conflicts),
        races_(races),
        questions_(trace, timing, conflicts),
        faults_(rules, trace, moment, timing, questions_),
        readings_(trace, moment, timing, questions_, faults_),
        placement_(rules, trace, moment, timing, arrivals, conflicts, questions_, faults_, readings_) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  const FaultChoices& faults() const { return faults_; }
  const Readings& readings() const { return readings_; }

  /// What is decided before the first event. The world has begun again, and has emitted nothing.
  void decide_beforehand(sim::Region* region);
  /// Inside of the world's region.
  void arm_faults() { faults_.arm(); }
  /// The chosen event of this position. `is_replay`: it was executed before, with the same answers, and all that it has
  /// added stands.
  void execute(std::uint32_t position, bool is_replay, sim::Region* region);
  /// Takes back what the last event that stands has added.
  void undo_last();
  /// Takes back all that was added, and forgets what was decided before the first event.
  void clear();
  /// A question of the world that is none of time.
  std::uint64_t answer(sim::Choice choice, std::uint64_t options) {
    break_silence();
    return questions_.ask(options, choice == sim::Choice::model);
  }

  // --- sim::Scheduler.

  void emitted(std::uint32_t slot) override;
  void cancelled(std::uint32_t slot) override;
  void postponed(std::uint32_t slot, sim::Duration by) override;
  bool explores() const override { return true; }
  void accessed(std::uint64_t part, bool changes) override;
  void accessed_all() override;
  void counted(std::uint64_t question) override;
  bool loses(sim::Event& message) override;
  void held_up(sim::Instant until) override;
  void approximated(const std::optional<sim::WholeUnits>& shown_by) override;
  sim::Instant sum(sim::Instant a, sim::Instant plus, sim::Instant minus) override;
  sim::DurationRange apart(sim::Instant later, sim::Instant earlier, sim::DurationRange usual) override;
  sim::Instant moved(sim::Instant at, const sim::PlannedFault& fault, bool later) override;
  bool is_at_or_after(sim::Instant a, sim::Instant b) override;
  sim::Instant later_of(sim::Instant a, sim::Instant b) override { return is_at_or_after(a, b) ? a : b; }

 private:
  /// Whether what the world tells is new, and of an event.
  bool is_new() const { return !trace_.is_replay() && trace_.position() != kNone; }
  void begin(Step& step, const sim::Event& event);
  /// A reply that has not said what it reads and changes does it with everything: this is so before it asks or emits
  /// something.
  void break_silence() {
    if (is_silent_) accessed_all();
  }

  const SearchRules& rules_;
  Trace& trace_;
  Moment& moment_;
  Timing& timing_;
  const AlikeOrder& alike_;
  const Arrivals& arrivals_;
  Conflicts& conflicts_;
  Races& races_;
  Questions questions_;
  FaultChoices faults_;
  Readings readings_;
  Placement placement_;

  // While one event is executed.
  bool is_silent_ = false;     ///< a reply that has not said yet what it reads and changes
  bool has_answered_ = false;  ///< the request that it handles
  bool is_held_back_ = false;
  sim::Instant held_back_until_;
};

}  // namespace lockstep::checker::explorer
