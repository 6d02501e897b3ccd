#pragma once

// Runs a world at one point of its parameters, and knows how every moment moves when they change.
//
// A parameter is a length of time that a story gives: of a pause, of a delay, of a link. At a point all lengths are
// numbers, so the world does just what it does under a `Simulation` that takes the first of all decisions. But each
// instant also says how fast it moves with each parameter (`Slope`): its anchor is the number of that slope, its offset
// the time at the point. Sums of instants and lengths keep that by themselves, and instants of one slope are compared
// by their numbers alone. Whoever compares two of different slopes asks here; the answer is that of the point, and is
// noted with the values of the parameters for which it stays the same: a half-line, or a half-plane.
//
// All that was noted together is where the same happens in the same order, each moment being `time at the point + slope
// * (value - point)`. That is exact: what is decided without asking does not depend on the parameters. What does depend
// on digits of an instant that moves (a whole number of milliseconds) is noted as well, and so holds for less than a
// unit.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/schedules/scheduler.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::sim {

/// By how many nanoseconds a moment moves for each nanosecond of the first and of the second parameter.
struct Slope {
  std::int32_t x = 0;
  std::int32_t y = 0;

  constexpr Slope operator+(Slope o) const { return {x + o.x, y + o.y}; }
  constexpr Slope operator-(Slope o) const { return {x - o.x, y - o.y}; }
  constexpr Slope operator-() const { return {-x, -y}; }
  constexpr bool is_flat() const { return x == 0 && y == 0; }
  constexpr auto operator<=>(const Slope&) const = default;
};

/// value + slope.x * (X - x) + slope.y * (Y - y) >= 0, or > 0 if strict: X and Y are the parameters, x and y the point,
/// all in nanoseconds. It holds at the point.
struct LinearBound {
  std::int64_t value = 0;
  Slope slope;
  bool strict = false;
};

class LinearSimulation final : public Scheduler {
 public:
  struct Settings {
    /// The world is to take instants for symbolic, as in an exploration: scripts then calculate with them. Else it does
    /// all that a run does.
    bool explores = false;
    std::vector<Slope>
        faults;  ///< by `PlannedFault::number`: of its length, or of a crash: of the time until its restart
    std::vector<Slope> latencies;  ///< by connection
    std::vector<Slope> clocks;     ///< by process: of the offset of its wall clock
    std::vector<Pin> pins;
    std::function<Duration(const Event&)> delay;  ///< of what has a range; null: the least
  };

  /// Becomes the scheduler of `world`. Requires: outlives the world's last event; nothing has been emitted.
  LinearSimulation(World& world, Settings settings);
  LinearSimulation(const LinearSimulation&) = delete;
  LinearSimulation& operator=(const LinearSimulation&) = delete;
  ~LinearSimulation() { world_.leave(*this); }

  enum class End : std::uint8_t { quiet, too_many_events, pin_impossible };
  /// Executes what is pending, until nothing is or only what services do for ever.
  End run(std::uint64_t max_events);
  /// Under which the same happens.
  std::span<const LinearBound> bounds() const { return bounds_; }
  /// Something depends on the parameters in a way that is not known here: what the bounds say is then not certain.
  bool is_approximate() const { return is_approximate_; }

  /// How a true time, or a reading, moves.
  Slope slope(Instant instant) const { return slopes_[instant.variable()] + scales_[instant.scale()]; }
  /// An instant with this slope.
  Instant tilted(Instant instant, Slope more);
  /// Notes the order of two instants, whatever it is.
  void note_order(Instant a, Instant b);

  bool explores() const override { return settings_.explores; }
  void emitted(std::uint32_t slot) override;
  void lost(const Event& message) override;
  void cancelled(std::uint32_t slot) override;
  void postponed(std::uint32_t slot, Duration by) override;
  void crashed(ProcessId process) override;
  void approximated(const std::optional<WholeUnits>&) override { is_approximate_ = true; }
  bool is_at_or_after(Instant a, Instant b) override;
  Instant sum(Instant a, Instant plus, Instant minus) override;
  Instant later_of(Instant a, Instant b) override { return is_at_or_after(a, b) ? a : b; }
  void about_to_strike(const PlannedFault& fault) override;
  Instant moved(Instant at, const PlannedFault& fault, bool later) override;
  std::optional<std::int64_t> whole_units(Instant from, Instant until, Duration unit) override;

 private:
  /// What is known of a pending event.
  struct Pending {
    Instant at;
    Instant arrived;
    Instant own;  ///< when it would come if nothing were before it on its channel
    Instant base;
    Slope paused_before;
  };

  bool step();
  std::uint32_t number_of(Slope slope);
  Scale scale_of(Slope slope);
  Slope fault_slope(const PlannedFault& fault) const;
  Slope delay_slope(const Event& event);
  void note(std::int64_t value, Slope slope, bool strict);
  Instant latest_arrival(std::uint32_t channel, std::uint32_t before_sequence);
  bool comes_before(std::uint32_t a, std::uint32_t b) const;
  void note_first(std::uint32_t first, std::uint32_t other);
  void note_first(std::uint32_t first);
  std::uint32_t earliest() const;
  bool put_off(std::uint32_t slot);
  void remove(std::uint32_t slot);
  void assign_pin(Event& event);
  bool hold_back(std::uint32_t slot);
  bool is_overdue(Instant at);
  bool is_a_deadline_older_than(std::uint32_t sequence) const;
  void pinned_event_happened();

  World& world_;
  Settings settings_;
  std::vector<Slope> slopes_{Slope{}};  ///< by anchor
  std::map<Slope, std::uint32_t> numbers_;
  std::vector<Slope> scales_{Slope{}};  ///< by scale of a clock
  std::vector<LinearBound> bounds_;     ///< of each slope the closest
  std::map<Slope, std::size_t> bound_of_;
  bool is_approximate_ = false;

  std::vector<std::uint32_t> pending_;
  std::vector<std::uint32_t> held_;  ///< events that wait for their turn, or behind such an event
  std::vector<Pending> of_slot_;
  std::vector<Instant> channel_floor_;
  std::vector<Slope> paused_;     ///< by process: of all its pauses so far
  std::vector<Slope> restart_;    ///< by process: of its next start
  std::optional<Slope> delayed_;  ///< of the message that is about to leave
  std::uint32_t sequence_ = 0;
  std::optional<Instant> background_since_;
  std::optional<std::uint32_t> patience_ended_;

  std::vector<bool> pin_taken_;
  std::vector<std::int64_t> pin_seen_;
  std::size_t next_pin_ = 0;
};

}  // namespace lockstep::sim
