#pragma once

// One execution of a story, chosen event by event: what can happen next at a place, and when. Start here.
//
// Places are those of the explorer's traces, with the events in the order of their times (`checker::OrderInTime`). An
// event is listed if the search finds an execution that has it next; if none was given up, nothing else can come.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "checker/explorer/branch.hpp"
#include "checker/explorer/explored.hpp"
#include "checker/time/difference_constraints.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

/// What has been chosen so far. Small: places share what leads to them.
struct StepPlace {
  /// One for each way to decide before the first event who crashes, and whose clock jumps or is off, as long as all of
  /// them are possible: nobody has to choose that before it shows. Empty: the beginning.
  std::vector<std::shared_ptr<checker::BranchPoint>> ways;
  std::uint32_t events = 0;  ///< chosen
};

/// The end of the times at which something can happen. Not attained: only before it, or after it.
using TimeEnd = checker::Extent;

/// A run that begins as was chosen, with the time of each event in `[schedule]`, and then goes on by itself: what can
/// be next comes as early as it can, and no fault strikes that need not.
struct SteppedRun {
  Scenario scenario;
  sim::Duration at;  ///< when the last event that was chosen happens
};

/// An event that can be next, with what the world, and whoever decides about faults, answers while it is handled.
struct NextStep {
  StepPlace place;  ///< when it has happened
  checker::ExploredEvent event;
  std::string message;                         ///< `event.name`
  std::vector<checker::ExploredFault> faults;  ///< that strike with it; or from the beginning, and that had to show now
  TimeEnd earliest;
  std::optional<TimeEnd> latest;                              ///< nothing: as late as one likes
  bool knows_times = true;                                    ///< false: it may also be possible earlier or later
  std::variant<SteppedRun, std::string> run = std::string();  ///< or why no run could be made of it
};

struct StepsHere {
  StepPlace place;
  std::vector<NextStep> next;  ///< in the order of their earliest times
  bool is_all = true;          ///< false: a bound was hit, and more may be possible
  bool is_over = false;        ///< the story may end here
  std::variant<SteppedRun, std::string> run = std::string();
};

/// Requires: `place` is one of this story, as read from the same text. A diagnostic where the story cannot be explored.
/// Asks `sim::Stop`.
std::variant<StepsHere, Diagnostic> steps_at(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                             const StepPlace& place);

/// Which of two that are next at one place happens stays open. Requires: both are of one event, and look alike.
void join(NextStep& step, const NextStep& other);

}  // namespace lockstep::scenarios
