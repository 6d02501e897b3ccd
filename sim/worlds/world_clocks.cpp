// What a clock asks of its world: the present moment, and how two moments compare.

#include <cassert>

#include "sim/time/clock.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::sim {

Clock::Clock(World& world, Duration offset, std::int64_t drift_ppb)
    : world_(&world), offset_(offset), drift_ppb_(drift_ppb) {}

Instant Clock::now() const {
  is_read_ = true;
  return reading_at(world_->now());
}

bool Clock::has_reached(Instant deadline) const { return world_->is_at_or_after(now(), deadline); }

bool Clock::has_passed(Instant moment) const { return !world_->is_at_or_after(moment, now()); }

void Clock::jump(Duration d) {
  if (scale_ != 0 || world_->is_explored()) {
    assert(drift_ppb_ == 0 && "explorations know clocks that drift and clocks that jump, not clocks that do both");
    offset_ += d;
    return;
  }
  const Instant present = world_->now();
  offset_ = reading_at(present).offset() - present.offset() + d;
  since_ = present;
}

}  // namespace lockstep::sim
