#pragma once

// Runs a world on a line of virtual time: every event gets a concrete moment, and the earliest is next.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/schedules/schedule.hpp"
#include "sim/schedules/scheduler.hpp"
#include "sim/time/ticks.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::sim {

/// A command of a client that must be handled in its turn.
struct Pin {
  ProcessId client;
  std::string step;                        ///< name of the request
  std::optional<std::int64_t> occurrence;  ///< ordinal of the client's request; else the next after its previous pin
  ProcessId server;                        ///< invalid: any
};

/// Decides about every event that is due and that nothing holds up, before it happens.
class Fate {
 public:
  enum class Answer : std::uint8_t {
    happens,
    look_again,  ///< a fault was struck (`World::strike_now`) that may put the event off
    lost         ///< it is a message that never arrives
  };
  /// `moment` is the true time at which the event in `slot` is about to happen.
  virtual Answer of(std::uint32_t slot, Instant moment) = 0;
  /// How much longer than the network alone would make it a message takes that is about to leave.
  virtual Duration late_by(const Event& message) {
    static_cast<void>(message);
    return Duration::zero();
  }

 protected:
  ~Fate() = default;
};

/// Lets a run take its time: by some clock outside.
class Pace {
 public:
  /// The next event is due at `moment`. Returns when it may happen. False: meanwhile something was emitted that is due
  /// before it.
  virtual bool wait_until(Instant moment) = 0;

 protected:
  ~Pace() = default;
};

class Simulation final : public Scheduler {
 public:
  /// Becomes the scheduler of `world`. Requires: outlives the world's last event.
  explicit Simulation(World& world);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation() { world_.leave(*this); }

  /// The world starts over (`World::restart`), under the same pins.
  void restart();

  /// Fixes the order in which servers handle certain commands. A pinned command travels as fast as the network allows
  /// and is then held back until its turn, but never longer than the network's longest latency.
  void pin(std::vector<Pin> order);

  /// Delays are the multiples of `tick` within their range, and its ends, instead of microseconds after its beginning.
  void set_tick(Duration tick) { tick_ = tick; }
  /// Requires: `fate` outlives the run. Null: all that is due happens.
  void set_fate(Fate* fate) { fate_ = fate; }
  /// Requires: `pace` outlives the run. Null: as fast as it can.
  void set_pace(Pace* pace) { pace_ = pace; }
  /// Fixes the times of certain events: see `Schedule`. Requires: called before anything is emitted; there are no pins;
  /// the times do not go back.
  void schedule(std::vector<ScheduledEvent> events);

  enum class End : std::uint8_t {
    quiet,       ///< nothing is pending any more, or only what services do for ever
    time_is_up,  ///< the next event lies after `until`
    too_many_events,
    pin_impossible,      ///< see `pin_failure`
    schedule_impossible  ///< see `schedule_failure`
  };
  /// Executes events up to and including true time `until`. Asks `Stop` between two of them.
  End run(Instant until, std::uint64_t max_events);
  /// Executes one event. False: nothing is left, or a pin cannot be kept.
  bool step();

  struct PinFailure {
    std::size_t entry = 0;  ///< of the order: the first that cannot happen
    std::string reason;
  };
  /// Call when the run has ended: also finds pins whose command never came.
  std::optional<PinFailure> pin_failure() const;

  /// Call when the run has ended: also finds listed events that never came.
  std::optional<Schedule::Failure> schedule_failure() const;

  /// When the next event is due; nothing if none is.
  std::optional<Instant> next_due() const;

  void emitted(std::uint32_t slot) override;
  void lost(const Event& message) override;
  void cancelled(std::uint32_t slot) override;
  void postponed(std::uint32_t slot, Duration by) override;
  void crashed(ProcessId process) override;
  std::uint64_t choose(Decisions& decisions, std::uint64_t options, EventId event) override;
  bool is_at_or_after(Instant a, Instant b) override;
  Instant later_of(Instant a, Instant b) override;

 private:
  struct Key {
    /// When it is due, and among those due together, when it arrived: in one number, since which of two is smaller is
    /// a coin toss for the processor, and one comparison needs no branch.
    __int128 due_and_arrived;
    std::uint32_t sequence;
    std::uint32_t slot;
    Key(const Event& event, std::uint32_t event_slot)
        : due_and_arrived((static_cast<__int128>(event.at.count_ns()) << 64) +
                          static_cast<std::uint64_t>(event.arrived.count_ns())),
          sequence(event.sequence),
          slot(event_slot) {}
    Duration at() const { return Duration::nanoseconds(static_cast<std::int64_t>(due_and_arrived >> 64)); }
    bool before(const Key& o) const {
      return due_and_arrived < o.due_and_arrived || (due_and_arrived == o.due_and_arrived && sequence < o.sequence);
    }
  };

  bool is_only_background_for_long();
  bool step_until(Duration until);
  bool step_on_schedule(Duration until);
  Duration concrete_delay(const Event& event);
  template <typename ArrivalOf>
  Duration latest_before(std::uint32_t channel, std::uint32_t sequence, const ArrivalOf& arrival_of) const;
  Duration latest_arrival(std::uint32_t channel, std::uint32_t before_sequence) const;
  DurationRange channel_floor(const Event& event, Duration latest) const;
  void push(std::uint32_t slot);
  std::uint32_t pop();
  void remove(std::uint32_t position);
  void sift_up(std::uint32_t position);
  void sift_down(std::uint32_t position);
  void place(std::uint32_t position, Key key);
  std::uint32_t pick_among_simultaneous();
  bool must_wait(const Event& event);
  bool has_simultaneous() const;
  void find_simultaneous();
  void take_simultaneous(std::uint32_t first);
  bool may_be_put_off(const Event& event) const;
  bool put_off(std::uint32_t slot);
  bool hold_back(std::uint32_t slot);
  void assign_pin(Event& event);
  void pinned_event_happened();
  std::optional<PinFailure> overdue_pin(Duration at) const;

  World& world_;
  std::optional<Duration> tick_;
  Fate* fate_ = nullptr;
  Pace* pace_ = nullptr;
  std::vector<Key> heap_;
  std::vector<std::uint32_t> heap_position_;  ///< by slot; meaningless for slots that are not in the heap
  std::vector<Duration> channel_floor_;       ///< latest arrival on each channel: the next may not be earlier
  std::uint32_t sequence_ = 0;
  std::optional<Duration> background_since_;     ///< nothing else has been pending since this true time
  std::optional<std::uint32_t> patience_ended_;  ///< a minute later: the next event's `sequence`
  std::vector<std::uint32_t> simultaneous_;
  std::vector<std::uint32_t> candidates_;  ///< those of the simultaneous ones that may come first
  // Of those that are due together with the first.
  struct Arrival {
    std::uint64_t turn = 0;
    Duration at;
  };
  std::vector<std::uint32_t> positions_;        ///< in the heap
  std::vector<Key> together_;                   ///< in order
  std::uint64_t turn_ = 0;                      ///< how often there were several
  std::vector<std::uint64_t> turn_of_channel_;  ///< by channel: in which turn one of its events was seen last
  std::vector<Arrival> first_arrival_;          ///< by process: of those seen in that turn the earliest

  std::vector<Pin> pins_;
  std::vector<bool> pin_taken_;
  std::size_t next_pin_ = 0;
  std::vector<std::int64_t> pin_seen_;  ///< requests so far that match each pin with an occurrence
  std::vector<std::uint32_t> held_;     ///< events that wait for their turn, or behind such an event
  std::optional<PinFailure> failure_;

  std::unique_ptr<Schedule> schedule_;  ///< null: nothing is listed
};

}  // namespace lockstep::sim
