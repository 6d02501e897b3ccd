#pragma once

// A trace once more, at concrete times and in the order of these times, event by event as the explorer did it. What
// comes of it is names: of the events, and of the steps at which faults strike.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"
#include "scenarios/witness/explored_trace.hpp"
#include "scenarios/witness/witness_times.hpp"
#include "sim/schedules/event_name.hpp"

namespace lockstep::scenarios {

/// What was seen of one event of the trace.
struct ReplayedEvent {
  std::optional<sim::EventName> name;
  /// The step that it is for a fault that strikes `after` it: "SET", "work", "A.SET"; and its ordinal. Empty: it is
  /// none, and what it does, if anything, sends nothing.
  std::string step;
  std::int64_t occurrence = 0;
  std::vector<sim::PlannedChoice> choices;  ///< those of the trace that were asked for at these times
};

struct LostMessage {
  sim::EventName name;
  std::int64_t occurrence = 0;  ///< among all messages of this step and direction, as faults count
};

struct Replay {
  std::vector<ReplayedEvent> events;             ///< by position in the trace
  std::vector<std::optional<LostMessage>> lost;  ///< by fault
  std::vector<sim::EventName> called_off;        ///< timers that could have fired at various times, and never did
  /// Positions in the order of their times: that of the schedule.
  std::vector<std::uint32_t> order;
};

/// A sentence if the world does not do what the trace says.
std::variant<Replay, std::string> replay(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                         const ExploredTrace& trace, const WitnessTimes& times);

}  // namespace lockstep::scenarios
