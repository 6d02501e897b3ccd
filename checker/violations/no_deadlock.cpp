// no-deadlock of one explored trace: which circles of waits some of its delays let last.
//
// A wait is a want and a hold of the same object; a circle of them lasts from the latest of their beginnings to the
// earliest of their ends. That it lasts for `lasting` says of each beginning and each end that the one is so much
// before the other: constraints on pairs of instants, all of which have to hold. Of the events that would end a want or
// a hold, steps say which comes first, since they are of one process. A deadline is one more end.

#include <algorithm>
#include <array>

#include "checker/violations/violations.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {

void ViolationFinder::no_deadlock(sim::Duration lasting) {
  Waits waits = collect_waits(*history_);
  // The probe is no part of the story.
  std::erase_if(waits.possible, [&](const Wait& wait) {
    return waits.wants[wait.want].first > operations_.size() || waits.holds[wait.hold].acquire > operations_.size();
  });
  if (waits.possible.size() < 2 && std::none_of(waits.possible.begin(), waits.possible.end(), [&](const Wait& wait) {
        return waits.waiter(wait) == waits.holder(wait);
      }))
    return;
  const WaitCycles cycles = wait_for_cycles(edges_of(waits, waits.possible));
  std::vector<const Wait*> reasons;
  for (const WaitCycle& cycle : cycles.cycles) add_circles(waits, cycle, reasons, lasting);
  if (cycles.all) return;
  // Nothing is known of the circles that are not listed.
  begin("no-deadlock", true, {}, {});
  finish();
}

/// One way for each choice of reasons for which each process of the circle waits for the next.
void ViolationFinder::add_circles(const Waits& waits, const WaitCycle& cycle, std::vector<const Wait*>& reasons,
                                  sim::Duration lasting) {
  if (reasons.size() == cycle.size()) {
    add_circle(waits, reasons, lasting);
    return;
  }
  const sim::ProcessId waiter = cycle[reasons.size()];
  const sim::ProcessId holder = cycle[(reasons.size() + 1) % cycle.size()];
  for (const Wait& wait : waits.possible) {
    if (waits.waiter(wait) != waiter || waits.holder(wait) != holder) continue;
    reasons.push_back(&wait);
    add_circles(waits, cycle, reasons, lasting);
    reasons.pop_back();
  }
}

void ViolationFinder::add_circle(const Waits& waits, const std::vector<const Wait*>& reasons, sim::Duration lasting) {
  for (std::size_t i = 0; i < reasons.size(); ++i)
    sim::invariant(waits.holder(*reasons[i]) == waits.waiter(*reasons[(i + 1) % reasons.size()]),
                   "in a circle each waits for the next");
  begin("no-deadlock", false, {}, {});
  const bool strict = lasting == sim::Duration::zero();
  for (const Wait* wait : reasons) current_->by.push_back(waits.waiter(*wait));
  for (const Wait* ended : reasons) {
    const Want& want = waits.wants[ended->want];
    const Belief& hold = waits.holds[ended->hold];
    for (const std::optional<Ending>& ending : {want.until, end_by_event(hold), hold.deadline}) {
      if (!ending) continue;
      for (const Wait* begun : reasons) {
        require(waits.wants[begun->want].from + lasting, ending->at, strict);
        require(waits.holds[begun->hold].from + lasting, ending->at, strict);
      }
    }
  }
  finish();
}

}  // namespace lockstep::checker
