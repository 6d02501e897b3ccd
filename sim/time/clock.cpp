#include "sim/time/clock.hpp"

#include <cassert>

#include "sim/worlds/world.hpp"

namespace lockstep::sim {
namespace {

constexpr std::int64_t kBillion = 1'000'000'000;

/// length * numerator / denominator, rounded down, without overflow in between.
std::int64_t scaled(std::int64_t length, std::int64_t numerator, std::int64_t denominator) {
  const __int128 product = static_cast<__int128>(length) * numerator;
  __int128 quotient = product / denominator;
  if (product % denominator != 0 && (product < 0) != (denominator < 0)) --quotient;
  return static_cast<std::int64_t>(quotient);
}

}  // namespace

Clock::Clock(World& world, Duration offset, std::int64_t drift_ppb)
    : world_(&world), offset_(offset), drift_ppb_(drift_ppb) {}

Instant Clock::now() const { return reading_at(world_->now()); }

bool Clock::has_reached(Instant deadline) const { return world_->is_at_or_after(now(), deadline); }

bool Clock::has_passed(Instant moment) const { return !world_->is_at_or_after(moment, now()); }

Instant Clock::reading_at(Instant true_time) const {
  if (scale_ != 0) {
    // With drift, an anchor at true time x stands for x * (1 + drift) on this scale, and the offset counts local time.
    const Duration since_anchor = true_time.offset() + offset_;
    const Duration gained = Duration::nanoseconds(scaled(true_time.offset().count_ns(), drift_ppb_, kBillion));
    return Instant(true_time.anchor(), since_anchor + gained).on_scale(scale_);
  }
  if (drift_ppb_ == 0) return true_time + offset_;
  // With drift the reading is no longer an anchor plus a constant, unless the anchors agree.
  assert(true_time.anchor() == since_.anchor());
  const Duration elapsed = true_time.offset() - since_.offset();
  return true_time + offset_ + Duration::nanoseconds(scaled(elapsed.count_ns(), drift_ppb_, kBillion));
}

Instant Clock::true_time_of(Instant reading) const {
  if (scale_ != 0) {
    assert(reading.scale() == scale_);
    return Instant(reading.variable(), true_length(reading.offset() - offset_));
  }
  if (drift_ppb_ == 0) return reading - offset_;
  assert(reading.anchor() == since_.anchor());
  const Duration local = reading.offset() - offset_ - since_.offset();
  return since_ + true_length(local);
}

Duration Clock::true_length(Duration d) const {
  if (drift_ppb_ == 0) return d;
  return Duration::nanoseconds(-scaled(-d.count_ns(), kBillion, kBillion + drift_ppb_));
}

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
