#pragma once

// Decides when pending events happen: `Simulation` on a line of virtual time, an explorer in every order.

#include <cstdint>
#include <optional>

#include "sim/schedules/decisions.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::sim {

struct Event;
struct PlannedFault;

class Scheduler {
 public:
  /// An event became pending in this slot of its world.
  virtual void emitted(std::uint32_t slot) = 0;
  /// A message was sent that never arrives, and so never becomes pending.
  virtual void lost(const Event& message) { static_cast<void>(message); }
  /// A pending event was taken back; its slot is still filled.
  virtual void cancelled(std::uint32_t slot) = 0;
  /// The base of a pending event has moved by this much: the pause that keeps it from leaving has grown.
  virtual void postponed(std::uint32_t slot, Duration by) = 0;
  /// A process has crashed: what waited for the end of its pause waits no longer.
  virtual void crashed(ProcessId process) { static_cast<void>(process); }
  /// Does it try all executions? Then it is told of accesses and decides about losses, and no digest is needed.
  virtual bool explores() const { return false; }
  /// The event that is being handled reads, or changes, a part of its process's state. Parts have numbers.
  virtual void accessed(std::uint64_t part, bool changes) {
    static_cast<void>(part);
    static_cast<void>(changes);
  }
  /// The same for all of its process's state.
  virtual void accessed_all() {}
  /// The event that is being handled is one of several answers that are only counted: see `World::count_answer`.
  virtual void counted(std::uint64_t question) { static_cast<void>(question); }
  /// Whether this message, which is about to leave, never arrives. Its departure (`base`) may be put off here.
  virtual bool loses(Event& message) {
    static_cast<void>(message);
    return false;
  }
  /// A message that is about to leave waits for the end of a partition, which is at `until`.
  virtual void held_up(Instant until) { static_cast<void>(until); }
  /// `a >= b`. Called only for instants with different anchors.
  virtual bool is_at_or_after(Instant a, Instant b) = 0;
  /// `a + (plus - minus)`. An explorer without a number for that returns an instant with weaker constraints, and counts
  /// it as an approximation.
  virtual Instant sum(Instant a, Instant plus, Instant minus) { return a + (plus.offset() - minus.offset()); }
  /// How much later the one is than the other. An explorer knows between which lengths, by what led to the present
  /// event; if these are not one length, and not within `usual`, it counts an approximation.
  virtual DurationRange apart(Instant later, Instant earlier, DurationRange usual) {
    static_cast<void>(usual);
    return DurationRange::exactly(later.offset() - earlier.offset());
  }
  /// A planned fault strikes; nothing of it has happened yet.
  virtual void about_to_strike(const PlannedFault& fault) { static_cast<void>(fault); }
  /// `at`, later or earlier by the length of this fault. For some schedulers that length is a parameter, not a number.
  virtual Instant moved(Instant at, const PlannedFault& fault, bool later);
  /// The answer to a `Choice::model` of the event that is being handled, an index below `options`: what is planned for
  /// it, or what the world's decisions say.
  virtual std::uint64_t choose(Decisions& decisions, std::uint64_t options, EventId event) {
    return decisions.choose(Choice::model, options, event);
  }
  /// How many whole units there are from one reading to another, rounded down. Called only for instants with different
  /// anchors. Nothing: they have no numbers, as in an exploration.
  virtual std::optional<std::int64_t> whole_units(Instant from, Instant until, Duration unit) {
    static_cast<void>(from), static_cast<void>(until), static_cast<void>(unit);
    return std::nullopt;
  }
  /// What happens now depends on a length of time that is not known exactly: more can follow than really could. With
  /// times of which `shown_by` is true, if there is one, it does follow.
  virtual void approximated(const std::optional<WholeUnits>& shown_by) { static_cast<void>(shown_by); }
  /// The later of the two.
  virtual Instant later_of(Instant a, Instant b) = 0;

 protected:
  ~Scheduler() = default;
};

}  // namespace lockstep::sim
