#pragma once

// One story for all values of one of its lengths: how long a pause is, how far a clock is off, how slow a link is.
// Start here.
//
//   family_story   which lengths a story has, and the story with another value; a witness of `check` as such a story
//   family_point what happens at one value, how each moment moves, and for which values the same happens; and the run
//   that proves it families all values of one length, in pieces; of two lengths, in regions
//
// Within a piece the same events happen in the same order, and the time of each is a + b * p. Everything else is as the
// story's own run has it: faults, pins, the least delays, or the delays of the witness. docs/manual/margins.md says
// what is exact, and why.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "checker/time/fraction.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/trace.hpp"

namespace lockstep::scenarios {

/// A length of a story.
struct FamilyParameter {
  std::optional<sim::FaultKind> fault;  ///< whose length it is; nothing: a latency
  /// Of a fault: of `Scenario::faults`; of a clock that is off: clients, then servers. Of a latency: 0 is the
  /// network's, n the n-th server's own.
  std::size_t index = 0;
  std::string who;           ///< whose; empty: the network's
  sim::Duration value;       ///< in the story
  sim::DurationRange range;  ///< of the family: from 0, or from both sides of 0; what [[may]] allows if it says so
  bool operator==(const FamilyParameter&) const = default;
};

/// "pause", "restart_after", …
std::string_view kind_of(const FamilyParameter& parameter);
/// "pause A", "latency": the same for people, in either language.
std::string name_of(const FamilyParameter& parameter);

/// A story that has families: what `run` shows of a file, or what shows how `check` breaks a property.
struct FamilyStory {
  Scenario scenario;                             ///< without a schedule
  std::string property;                          ///< that the witness breaks; empty: it is the file's own run
  std::map<sim::EventId, sim::Duration> beyond;  ///< how much longer than it must an event takes
};

/// A moment as a function of the parameter: at_zero + slope * p. `at_zero` may lie before the beginning; the moment
/// itself does not, for the values it is meant for.
struct LinearTime {
  sim::Duration at_zero;
  std::int64_t slope = 0;

  sim::Duration at(sim::Duration p) const { return at_zero + p * slope; }
  bool operator==(const LinearTime&) const = default;
};

/// A line of the run's trace: `sim::TraceRecord`.
struct FamilyEvent {
  sim::EventId id;
  sim::EventKind kind = sim::EventKind::start;
  sim::ProcessId process;
  sim::ProcessId from;
  std::string name;
  std::string text;  ///< at the least value: timestamps in it may be others elsewhere
  bool is_reply = false;
  bool lost = false;
  LinearTime sent;
  LinearTime at;
};

/// From when on a client believes to hold the lock, and until when; nothing: to the end.
struct FamilyHold {
  sim::ProcessId process;
  std::string object;
  LinearTime from;
  std::optional<LinearTime> to;
};

/// Two clients believe at once. They stand in the order in which they came.
struct FamilyOverlap {
  sim::ProcessId first;
  sim::ProcessId second;
  LinearTime from;
  std::optional<LinearTime> to;
};

struct FamilyVerdict {
  std::string_view property;
  checker::Verdict verdict = checker::Verdict::unknown;
  bool operator==(const FamilyVerdict&) const = default;
};

/// The same happens for all values from one to another, both included.
struct FamilyPiece {
  sim::Duration from;
  sim::Duration to;
  std::string impossible;  ///< not empty: the story cannot happen so, and why at `from`; all below is empty
  std::vector<FamilyEvent> events;
  std::vector<FamilyHold> holds;
  std::vector<FamilyOverlap> overlaps;
  std::vector<FamilyVerdict> verdicts;  ///< in the order of checker/properties/properties.hpp
  /// Runs at both ends, and between them, show the very events, times and verdicts. Else how it moves is not known (it
  /// depends on digits of a time): the piece ends at the next whole millisecond, and what it tells is true of its first
  /// value.
  bool is_confirmed = false;
};

/// From which value on, going up from 0 or down from it, a property is broken.
struct FamilyMargin {
  std::string_view property;
  sim::Duration broken_from;
  std::optional<sim::Duration> kept_up_to;  ///< the value before, in whole nanoseconds; nothing: there is none
  bool is_upward = true;
  bool operator==(const FamilyMargin&) const = default;
};

struct Family {
  std::string property;  ///< of `FamilyStory`
  FamilyParameter parameter;
  std::vector<FamilyPiece> pieces;  ///< ascending, without gaps
  std::vector<FamilyMargin> margins;
  /// Whether they reach to the end of the range; else why not.
  bool is_complete = true;
  std::string stopped;
};

/// A moment as a function of both parameters of a plane.
struct PlaneTime {
  sim::Duration at_zero;
  std::int64_t slope_x = 0;
  std::int64_t slope_y = 0;

  sim::Duration at(sim::Duration x, sim::Duration y) const { return at_zero + x * slope_x + y * slope_y; }
  bool operator==(const PlaneTime&) const = default;
};

/// A message of the run, as in `FamilyEvent`.
struct PlaneMessage {
  sim::ProcessId from;
  sim::ProcessId process;
  std::string name;
  bool is_reply = false;
  bool lost = false;
  PlaneTime sent;
  PlaneTime at;
};

struct PlaneHold {
  sim::ProcessId process;
  PlaneTime from;
  std::optional<PlaneTime> to;  ///< nothing: to the end
};

struct PlaneOverlap {
  sim::ProcessId first;
  sim::ProcessId second;
  PlaneTime from;
  std::optional<PlaneTime> to;
};

/// A convex region of the plane of two parameters, in which the same happens. What lies just on a border belongs to one
/// of its sides, or is on its own.
struct FamilyRegion {
  struct Corner {
    checker::Fraction x;  ///< nanoseconds
    checker::Fraction y;
    bool operator==(const Corner&) const = default;
  };
  std::vector<Corner> corners;  ///< counterclockwise, of its closure
  sim::Duration x;              ///< a point within it, or on its border
  sim::Duration y;
  std::string impossible;
  std::vector<FamilyVerdict> verdicts;  ///< at that point
  std::vector<PlaneMessage> messages;   ///< in the order of the trace
  std::vector<PlaneHold> holds;
  std::vector<PlaneOverlap> overlaps;
  std::uint64_t digest = 0;   ///< of the events in their order: equal where the same happens
  bool is_confirmed = false;  ///< a run at the point shows the very events and times
};

struct FamilyPlane {
  std::string property;
  FamilyParameter x;
  FamilyParameter y;
  std::vector<FamilyRegion> regions;
  bool is_complete = true;  ///< the regions' areas add up to that of the whole
  std::string stopped;
};

}  // namespace lockstep::scenarios
