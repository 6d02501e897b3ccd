#pragma once

// When the present event can happen: the constraints that follow from where it is in the trace, and from what it turns
// out to read and change.

#include <cstddef>
#include <cstdint>

#include "checker/explorer/execution/fault_choices.hpp"
#include "checker/explorer/execution/questions.hpp"
#include "checker/explorer/execution/readings.hpp"
#include "checker/explorer/footprint.hpp"
#include "checker/explorer/reduction/arrivals.hpp"
#include "checker/explorer/reduction/conflicts.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::explorer {

class Placement {
 public:
  Placement(const SearchRules& rules, Trace& trace, const Moment& moment, Timing& timing, const Arrivals& arrivals,
            Conflicts& conflicts, Questions& questions, FaultChoices& faults, Readings& readings)
      : rules_(rules),
        trace_(trace),
        moment_(moment),
        timing_(timing),
        arrivals_(arrivals),
        conflicts_(conflicts),
        questions_(questions),
        faults_(faults),
        readings_(readings) {}

  /// It arrives within its delay, after what was sent before it on its channel, and is handled when its process is
  /// free, which a pause may put off. What has to hold whatever happens before it.
  void place(Step& step, const sim::Event& event);

  /// It comes where `OrderInTime` wants it.
  void keep_order(const Step& step, const sim::Event& event);

  /// It touches all of its process's state. Others before it need not have: it comes after each of these. `known`: what
  /// it has touched before.
  void come_after_all(const Step& step, const Footprint& known);
  /// It touches a part of its process's state, besides what is `known`.
  void come_after_those_at(std::uint64_t part, bool changes, const Step& step, const Footprint& known);
  /// All that is on its way to the process of the present event comes later, so it can: else the event waits for that.
  void come_before_pending(const Step& step);
  /// What the process of this event, which has just been emitted, has handled already, it has handled before it.
  void come_after_last(const sim::Event& event);
  /// The present event takes back this timer: had that been due before, it would have fired.
  void come_before_end(const sim::Event& timer);

 private:
  void place_described(Step& step, const sim::Event& event, const Step* earlier, bool waits);
  void place_on_time(Step& step, const sim::Event& event, const Step* earlier, bool waits);
  void place_late(Step& step, const sim::Event& event, std::size_t budget, bool waits);
  void place_in_pause(Step& step, const Step& doomed);
  const Step* doomed_before(const Step& step) const;
  bool is_at_work(const sim::Event& event) const;
  void place_late_work(Step& step, const sim::Event& work, std::size_t budget);
  sim::Instant end_of_work(const sim::Event& work);
  sim::Instant prolonged(sim::Instant end, std::span<const ExploredFault> pauses);
  void hold_back(Step& step, std::size_t budget);
  void come_after_alike(const Step& step);
  bool is_behind(const sim::Event& event, const Step* earlier);
  void arrive_after(sim::Instant arrival, const sim::Event& event, const Step* earlier, bool waits);
  void arrive_within(sim::Instant arrival, const sim::Event& event);
  /// When the process of an event is free for it.
  sim::Instant free_for(const Step& step) const {
    const Step* before = trace_.find(step.process_before);
    return before != nullptr ? before->process_free : sim::Instant::origin();
  }

  const SearchRules& rules_;
  Trace& trace_;
  const Moment& moment_;
  Timing& timing_;
  const Arrivals& arrivals_;
  Conflicts& conflicts_;
  Questions& questions_;
  FaultChoices& faults_;
  Readings& readings_;
};

}  // namespace lockstep::checker::explorer
