#pragma once

// Who decides when pending events happen: `Simulation` on a line of virtual time, an explorer in every order.

#include <cstdint>

#include "sim/time.hpp"

namespace lockstep::sim {

class Scheduler {
 public:
  /// An event became pending in this slot of its world.
  virtual void emitted(std::uint32_t slot) = 0;
  /// A pending event was taken back; its slot is still filled.
  virtual void cancelled(std::uint32_t slot) = 0;
  /// The base of a pending event has moved by this much: the pause that keeps it from leaving has grown.
  virtual void postponed(std::uint32_t slot, Duration by) = 0;
  /// `a >= b`. Called only for instants with different anchors.
  virtual bool is_at_or_after(Instant a, Instant b) = 0;
  /// The later of the two.
  virtual Instant later_of(Instant a, Instant b) = 0;

 protected:
  ~Scheduler() = default;
};

}  // namespace lockstep::sim
