#include "sim/time/clock.hpp"

#include <cassert>

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
  is_read_ = true;
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

}  // namespace lockstep::sim
