#pragma once

// Exact times of events: what a run must keep to. `Simulation::schedule` uses it; this is the part that judges whether
// a listed event may happen when the list says.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/schedules/decisions.hpp"
#include "sim/schedules/event_namer.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::sim {

/// The event of this name is handled at exactly this true time.
struct ScheduledEvent {
  /// `never`: it does not happen, since something else calls it off; until then it takes as long as it may.
  Duration at;
  static constexpr Duration never = Duration::forever();
  EventName::What what = EventName::What::request;
  ProcessId process;
  std::string step;
  ProcessId server;  ///< valid: the `occurrence`-th such request to that server; else to any
  std::int64_t occurrence = 1;
  std::vector<PlannedChoice> choices;  ///< what is chosen while it is handled; of what follows, the decisions are asked
};

/// Events that happen at given times, in the order of the list. The delays of what is not listed are decided as ever,
/// and at one moment it comes after what is listed, except for faults, and that nothing overtakes on its channel.
///
/// The time is that of the handling. A message that waited for the end of a pause, or work that a pause made longer, is
/// listed with the later time, and its delay is any that leads there.
class Schedule {
 public:
  /// Requires: `events` are in the order of their times.
  Schedule(const World& world, std::vector<ScheduledEvent> events);
  void restart();

  // --- What the simulation tells.

  /// An event is pending. `floor`: when that arrives behind which it waits on its channel, at the earliest and at the
  /// latest. Whether it is listed.
  bool emitted(std::uint32_t slot, DurationRange floor);
  void lost(const Event& message) { namer_.name(message); }
  void cancelled(std::uint32_t slot);
  void postponed(std::uint32_t slot, DurationRange floor);
  /// A listed event comes next. False, and a failure: it may not.
  bool admit(std::uint32_t slot);
  /// The event that was admitted is being handled, and makes a choice.
  std::optional<std::uint64_t> planned_choice(std::uint64_t options);
  /// It has been handled. A failure, if it made fewer choices than are listed.
  void handled();
  /// An event that is not listed is handled `at` this time, and had `arrived` at that.
  void note_arrival(ProcessId process, Duration at, Duration arrived);

  // --- What it asks.

  bool is_listed(std::uint32_t slot) const { return slot < entry_of_.size() && entry_of_[slot] != kNone; }
  /// The time that is listed for it. Requires: it is listed.
  Duration time_of(std::uint32_t slot) const { return events_[entry_of_[slot]].at; }
  /// When it arrived, if it happens at the time that is listed: before that if its process was paused until then.
  Duration arrival_of(std::uint32_t slot) const;
  /// The shortest delay leads to this time. Requires: it is listed.
  Duration earliest(std::uint32_t slot) const;
  /// Whether it is the first of the list that has not happened yet.
  bool is_next(std::uint32_t slot) const { return is_listed(slot) && entry_of_[slot] == next_; }
  /// The moment at which it happens or, if its delay does not reach that far, at which it must be looked at again: a
  /// pause of its process may put it off. Nothing, and a failure: it cannot be that late.
  std::optional<Duration> next_look(std::uint32_t slot, Duration now);
  /// True, and a failure: an event of the list should have happened before `now`.
  bool is_overdue(Duration now);
  /// The failure that the first event of the list is not there when its turn comes.
  void fail_next();

  /// Whether something is listed that has not happened yet.
  bool is_expecting() const { return next_ < events_.size() && events_[next_].at != ScheduledEvent::never; }

  struct Failure {
    std::size_t entry = 0;
    std::string reason;  ///< a sentence with the remedy
  };
  const std::optional<Failure>& failure() const { return failure_; }
  /// The same after the last event: also finds what never came.
  std::optional<Failure> failure_at_end() const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  enum class State : std::uint8_t { expected, pending, called_off, happened };

  Duration pauses_in(const Event& event) const;
  Duration latest(std::uint32_t slot) const;
  /// The end of the pause that its process is in, or nothing.
  std::optional<Duration> frozen_until(const Event& event, Duration now) const;
  bool wakes(ProcessId process, Duration at) const;
  /// Those of the list that an event of this name is, by their places. Requires: used before the next call.
  const std::vector<std::uint32_t>& entries_of(const EventName& name);
  std::string describe(std::size_t entry) const;
  std::string why_absent(std::size_t entry) const;
  void fail(std::size_t entry, std::string reason);

  const World& world_;
  std::vector<ScheduledEvent> events_;
  std::vector<std::uint32_t> by_key_;  ///< places in the list, in the order of what is looked for
  std::vector<std::uint32_t> found_;
  std::vector<State> states_;
  EventNamer namer_;
  std::vector<std::uint32_t> entry_of_;  ///< by slot
  std::vector<DurationRange> floor_;     ///< by slot
  std::size_t next_ = 0;
  std::optional<std::size_t> present_;  ///< the entry that is being handled
  std::size_t chosen_ = 0;              ///< how many of its choices it has made
  /// By process, for the pause that ended last: its end, and the latest arrival of what was handled at that moment.
  /// What a process finds when it wakes up it handles in the order of arrival.
  struct Awakening {
    Duration at;
    Duration arrived;
  };
  std::vector<Awakening> awakenings_;
  std::optional<Failure> failure_;
};

}  // namespace lockstep::sim
