#pragma once

// A process's own clock: it may be off, drift and jump.

#include <cstdint>

#include "sim/time/time.hpp"

namespace lockstep::sim {

class World;

/// Reads time as its process sees it. A reading is `base + offset + elapsed * (1 + drift)`, in integers, so every
/// build and machine agrees; between two jumps it never runs backwards.
///
/// A reading is an `Instant` on this clock's scale: compare it with readings of the same clock (`has_reached`), or, as
/// timestamp locks do, with what another process wrote by its clock; the difference of the clocks is then the point.
class Clock {
 public:
  Clock() = default;
  Clock(World& world, Duration offset, std::int64_t drift_ppb);

  /// The reading at the present moment of the event that is being handled.
  Instant now() const;
  /// Whether the present reading is `deadline` or later. In exploration this is where the search forks.
  bool has_reached(Instant deadline) const;
  /// Whether the present reading is strictly later than `moment`.
  bool has_passed(Instant moment) const;

  /// How long true time must run until this clock has advanced by `d`: rounded up, so a timer never fires early.
  Duration true_length(Duration d) const;
  /// True time of a reading, with the clock as it is set now.
  Instant true_time_of(Instant reading) const;
  /// The reading at a true time, with the clock as it is set now.
  Instant reading_at(Instant true_time) const;

  /// Moves the reading by `d` (forward if positive), from now on.
  void jump(Duration d);
  /// For explorers: from now on its symbolic readings are on this scale: how they differ from true time, apart from a
  /// constant. 0: not at all.
  void set_scale(Scale scale) { scale_ = scale; }
  /// For explorers: it is off by `d` more, from the beginning.
  void skew(Duration d) { offset_ += d; }

  World& world() const { return *world_; }
  /// Whether anybody has asked it what time it is. (Lengths of time are none of its readings.)
  bool is_read() const { return is_read_; }
  Duration offset() const { return offset_; }
  std::int64_t drift_ppb() const { return drift_ppb_; }

 private:
  World* world_ = nullptr;
  Duration offset_;             ///< reading minus true time at `since_`
  std::int64_t drift_ppb_ = 0;  ///< gains this many nanoseconds each true second
  Scale scale_ = 0;
  Instant since_;  ///< true time of the last jump, or the origin
  mutable bool is_read_ = false;
};

}  // namespace lockstep::sim
