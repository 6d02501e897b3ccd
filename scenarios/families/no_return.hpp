#pragma once

// The point of no return of a violated run: the first of its events after which every continuation breaks the property.
// Computed: of all executions that `check` explores, those that have the same past are asked whether one of them keeps
// it.
//
// The *past* up to an event is which events have happened, and when; which faults have begun, and when, and how long
// those lasted that are over; and that nothing else has happened. All else is open: the delays of what is on its way,
// how long a pause lasts that has begun, and the faults that [[may]] allows and that have not struck.
//
// One search is enough. A trace of the explorer stands for all its delays, as difference constraints; so a past is a
// few more constraints: these events at these times, all others not before the last of them. And a property is kept if
// of each way to break it (`checker/violations/violations.hpp`), a conjunction of constraints, one does not hold. If
// some continuation of a past keeps the property, so does one of each shorter past, namely the same; so per trace it is
// enough to go on from the longest past that is known to be avoidable.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/trace.hpp"

namespace lockstep::scenarios {

/// An event of the run, in the order of its times.
struct NoReturnEvent {
  sim::EventId id;
  sim::ProcessId process;
  sim::EventKind kind = sim::EventKind::start;
  std::string name;  ///< of a message: "SET"; else empty
  bool is_reply = false;
  sim::Duration at;
};

struct NoReturn {
  std::string_view property;
  Scenario witness;  ///< the run: `run` plays it
  std::vector<NoReturnEvent> events;
  sim::Duration violated_at;
  enum class Answer : std::uint8_t {
    beginning,  ///< it is broken whatever happens
    at_event,   ///< from `step` on: after the event before it could still be avoided
    at_end,     ///< until the moment at which it is broken it could be avoided
    unknown     ///< `why` says
  };
  Answer answer = Answer::unknown;
  /// at_event, at_end: by position in `events`.
  std::size_t step = 0;
  /// False: the point may be later, since a bound ended the search, or ways to break it are no differences of two
  /// moments. Avoidable before `step` it is in any case.
  bool is_exact = true;
  std::string why;
  std::uint64_t traces = 0;
};

/// For tests alone: a search that is broken on purpose, and must be found out.
enum class NoReturnMutant : std::uint8_t {
  none,
  past_is_open,      ///< other events may have happened in the past as well
  faults_are_free,   ///< which faults have struck is left open
  one_way,           ///< of several ways to break it one is looked at
  lengths_are_fixed  ///< a pause that has begun lasts as long as it did
};

struct NoReturnOptions {
  std::uint64_t max_traces = 20'000;
  NoReturnMutant mutant = NoReturnMutant::none;
};

/// Of a witness of the property, found as `check` finds it. Nothing: no execution breaks it, or none that a replay
/// shows; or the story cannot be explored, or it is none of the properties that order alone decides (it is one that the
/// probe asks, or that compares lengths with a bound).
std::optional<NoReturn> no_return(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                  std::string_view property, const NoReturnOptions& options = {});

/// Of each property that `check` found broken and that is claimed, or expected, or has a margin.
std::vector<NoReturn> points_of_no_return(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                          const Exploration& exploration, const NoReturnOptions& options = {});

}  // namespace lockstep::scenarios
