#pragma once

// Time on a grid: what brute force can enumerate of a range.

#include <cstdint>

#include "sim/time/time.hpp"

namespace lockstep::sim {

/// The multiples of `tick` within a range, and the range's ends, ascending; each once. Requires: tick > 0.
class Ticks {
 public:
  constexpr Ticks(DurationRange range, Duration tick) : range_(range), tick_(tick.count_ns()) {
    const std::int64_t below = floored(range.lo.count_ns());
    const std::int64_t above = -floored(-range.hi.count_ns());
    first_inner_ = below + tick_;
    // Between the ends there are as many multiples as fit between the one at or below `lo` and the one at or above
    // `hi`.
    inner_ = range.is_exact() ? 0 : static_cast<std::uint64_t>((above - below) / tick_ - 1);
  }

  constexpr std::uint64_t count() const { return range_.is_exact() ? 1 : inner_ + 2; }
  /// Requires: index < count().
  constexpr Duration operator[](std::uint64_t index) const {
    if (index == 0) return range_.lo;
    if (index > inner_) return range_.hi;
    return Duration::nanoseconds(first_inner_ + static_cast<std::int64_t>(index - 1) * tick_);
  }

 private:
  constexpr std::int64_t floored(std::int64_t ns) const {
    const std::int64_t rest = ns % tick_;
    return ns - (rest < 0 ? rest + tick_ : rest);
  }

  DurationRange range_;
  std::int64_t tick_;
  std::int64_t first_inner_ = 0;
  std::uint64_t inner_ = 0;
};

}  // namespace lockstep::sim
