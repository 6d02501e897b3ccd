#pragma once

// Sets of clock values as timed automata have them: all that satisfy bounds on differences of two clocks. A matrix of bounds,
// kept canonical, so that inclusion is comparison entry by entry (Dill 1989; Bengtsson and Yi 2004).
//
// For tests: an oracle's part. It shares nothing with `difference_constraints.hpp`, which is what it helps to judge.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace lockstep::checker::testing {

/// "at most" or "less than" a number: twice the number, and one more for "at most". So a tighter bound is a smaller one.
struct Bound {
  std::int64_t raw = 0;

  static constexpr Bound at_most(std::int64_t value) { return {2 * value + 1}; }
  static constexpr Bound less_than(std::int64_t value) { return {2 * value}; }
  static constexpr Bound none() { return {INT64_MAX}; }

  constexpr bool is_none() const { return raw == INT64_MAX; }
  /// The sum of two bounds is attained if both are.
  friend constexpr Bound operator+(Bound a, Bound b) {
    if (a.is_none() || b.is_none()) return none();
    return {(a.raw >> 1) * 2 + (b.raw >> 1) * 2 + (a.raw & b.raw & 1)};
  }
  friend constexpr auto operator<=>(Bound, Bound) = default;
};

/// Clocks are numbered from 1; 0 is the clock that always shows zero.
class Zone {
 public:
  static constexpr std::size_t kMostClocks = 9;

  /// All clocks show zero.
  explicit Zone(std::size_t clocks) : size_(clocks + 1) {
    assert(clocks <= kMostClocks);
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) at(i, j) = Bound::at_most(0);
    }
  }

  std::size_t clocks() const { return size_ - 1; }
  /// The bound on clock i less clock j.
  Bound bound(std::size_t i, std::size_t j) const { return bounds_[i * kRow + j]; }
  bool is_empty() const { return is_empty_; }

  /// Clock i less clock j is within this bound. False: then nothing is left.
  bool constrain(std::size_t i, std::size_t j, Bound bound) {
    if (is_empty_ || bound >= at(i, j)) return !is_empty_;
    if (at(j, i) + bound < Bound::at_most(0)) {
      is_empty_ = true;
      return false;
    }
    // Whatever is now shorter goes by way of the new edge, and once.
    at(i, j) = bound;
    for (std::size_t a = 0; a < size_; ++a) {
      const Bound here = at(a, i) + bound;
      if (here.is_none()) continue;
      for (std::size_t b = 0; b < size_; ++b) at(a, b) = std::min(at(a, b), here + at(j, b));
    }
    return true;
  }
  bool at_most(std::size_t clock, std::int64_t value) { return constrain(clock, 0, Bound::at_most(value)); }
  bool less_than(std::size_t clock, std::int64_t value) { return constrain(clock, 0, Bound::less_than(value)); }
  bool at_least(std::size_t clock, std::int64_t value) { return constrain(0, clock, Bound::at_most(-value)); }

  void reset(std::size_t clock) {
    for (std::size_t i = 0; i < size_; ++i) {
      at(clock, i) = at(0, i);
      at(i, clock) = at(i, 0);
    }
    at(clock, clock) = Bound::at_most(0);
  }
  /// It may show anything.
  void forget(std::size_t clock) {
    for (std::size_t i = 0; i < size_; ++i) {
      if (i == clock) continue;
      at(clock, i) = Bound::none();
      at(i, clock) = at(i, 0);
    }
    at(0, clock) = Bound::at_most(0);
  }
  /// Any time passes.
  void elapse() {
    for (std::size_t i = 1; i < size_; ++i) at(i, 0) = Bound::none();
  }

  /// What a clock shows beyond its constant makes no difference, if it is compared with nothing larger and with no other
  /// clock. So that there are finitely many zones.
  void extrapolate(std::size_t clock, std::int64_t constant) {
    for (std::size_t i = 0; i < size_; ++i) {
      if (i == clock) continue;
      if (at(clock, i) > Bound::at_most(constant)) at(clock, i) = Bound::none();
      if (at(i, clock) < Bound::less_than(-constant)) at(i, clock) = Bound::less_than(-constant);
    }
    close();
  }

  bool includes(const Zone& other) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        if (other.bound(i, j) > bound(i, j)) return false;
      }
    }
    return true;
  }

  /// Floyd and Warshall: every bound becomes the tightest that follows from all of them.
  void close() {
    for (std::size_t k = 0; k < size_; ++k) {
      for (std::size_t i = 0; i < size_; ++i) {
        if (at(i, k).is_none()) continue;
        for (std::size_t j = 0; j < size_; ++j) at(i, j) = std::min(at(i, j), at(i, k) + at(k, j));
      }
    }
    for (std::size_t i = 0; i < size_; ++i) is_empty_ = is_empty_ || at(i, i) < Bound::at_most(0);
  }

 private:
  static constexpr std::size_t kRow = kMostClocks + 1;

  Bound& at(std::size_t i, std::size_t j) { return bounds_[i * kRow + j]; }

  std::size_t size_;
  bool is_empty_ = false;
  std::array<Bound, kRow * kRow> bounds_{};
};

}  // namespace lockstep::checker::testing
