#pragma once

// A portable seeded generator: the same numbers on every compiler and machine, unlike the standard distributions.

#include <bit>
#include <cstdint>

#include "sim/time/time.hpp"

namespace lockstep::sim {

/// Spreads 64 bits over 64 bits (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Folds `value` into a running hash. Order matters.
constexpr std::uint64_t combine64(std::uint64_t hash, std::uint64_t value) {
  return mix64(std::rotl(hash, 23) ^ (value + 0x9e3779b97f4a7c15ULL));
}

/// SplitMix64: one word of state, so that a generator can be made for any purpose from any number.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix64(state_);
  }

  /// Uniform in [0, n), without bias (Lemire 2019, "Fast random integer generation in an interval").
  /// Requires: n > 0.
  constexpr std::uint64_t below(std::uint64_t n) {
    while (true) {
      const unsigned __int128 product = static_cast<unsigned __int128>(next()) * n;
      const auto low = static_cast<std::uint64_t>(product);
      if (low >= n || low >= (0 - n) % n) return static_cast<std::uint64_t>(product >> 64);
    }
  }

  /// Uniform in [lo, hi]. Requires: lo <= hi.
  constexpr std::int64_t between(std::int64_t lo, std::int64_t hi) {
    const auto width = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) + (width == ~0ULL ? next() : below(width + 1)));
  }

  constexpr bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// Whole milliseconds, uniform in [lo, hi]. Requires: lo <= hi.
constexpr Duration random_ms(Random& random, std::int64_t lo, std::int64_t hi) {
  return Duration::milliseconds(random.between(lo, hi));
}

}  // namespace lockstep::sim
