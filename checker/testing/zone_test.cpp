// Zones against the points that they stand for: every operation is done once more to each whole point, one by one.

#include "checker/testing/zone.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <array>
#include <vector>

namespace lockstep::checker::testing::zone_test {
namespace {

// Bounds are multiples of the step, so of two clocks only this can be told: the whole steps of each, whether it shows a whole
// number of them, and which has the larger rest. One point stands for all that are alike in this (a region), and its rests
// leave room for whole moments in between.
constexpr std::int64_t kStep = 8;
constexpr std::int64_t kSafe = 6 * kStep;  ///< what is compared
constexpr std::int64_t kEnd = 20 * kStep;  ///< what is kept; so much larger that what is missing beyond is not missed

bool satisfies(std::int64_t difference, Bound bound) { return bound.is_none() || Bound::at_most(difference) <= bound; }

bool contains(const Zone& zone, std::int64_t x, std::int64_t y) {
  if (zone.is_empty()) return false;
  const std::array<std::int64_t, 3> at{0, x, y};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (!satisfies(at[i] - at[j], zone.bound(i, j))) return false;
    }
  }
  return true;
}

class Points {
 public:
  template <class Predicate>
  explicit Points(const Predicate& is_in) : known_(static_cast<std::size_t>(kEnd * kEnd)) {
    for_each(kEnd, [&](std::int64_t x, std::int64_t y) { known_[index(x, y)] = is_in(x, y); });
  }

  bool has(std::int64_t x, std::int64_t y) const {
    const std::int64_t rest_x = x % kStep;
    const std::int64_t rest_y = y % kStep;
    const std::int64_t of_x = rest_x == 0 ? 0 : rest_x < rest_y ? 2 : 4;
    const std::int64_t of_y = rest_y == 0 ? 0 : rest_x != 0 && rest_y < rest_x ? 2 : 4;
    return known_[index(x - rest_x + of_x, y - rest_y + of_y)];
  }

  /// One point of each region below `end`.
  template <class Visit>
  static void for_each(std::int64_t end, const Visit& visit) {
    constexpr std::array<std::pair<int, int>, 6> kRests{{{0, 0}, {0, 4}, {4, 0}, {4, 4}, {2, 4}, {4, 2}}};
    for (std::int64_t x = 0; x < end; x += kStep) {
      for (std::int64_t y = 0; y < end; y += kStep) {
        for (const auto& [rest_x, rest_y] : kRests) visit(x + rest_x, y + rest_y);
      }
    }
  }

 private:
  static std::size_t index(std::int64_t x, std::int64_t y) { return static_cast<std::size_t>(x * kEnd + y); }

  std::vector<bool> known_;
};

Bound some_bound(std::int64_t low, std::int64_t high) {
  const std::int64_t value = kStep * *rc::gen::inRange(low, high + 1);
  return *rc::gen::arbitrary<bool>() ? Bound::at_most(value) : Bound::less_than(value);
}

}  // namespace

TEST_CASE("zone: a sum is attained if both bounds are, and what has no bound stays so") {
  CHECK(Bound::at_most(3) + Bound::at_most(-5) == Bound::at_most(-2));
  CHECK(Bound::at_most(3) + Bound::less_than(-5) == Bound::less_than(-2));
  CHECK(Bound::less_than(-3) + Bound::less_than(-5) == Bound::less_than(-8));
  CHECK((Bound::none() + Bound::at_most(-1)).is_none());
  CHECK(Bound::less_than(3) < Bound::at_most(3));
  CHECK(Bound::at_most(3) < Bound::less_than(4));
}

TEST_CASE("zone: a moment at which a clock is both less than 5 and at least 5 does not exist") {
  Zone zone(1);
  zone.elapse();
  CHECK(zone.less_than(1, 5));
  Zone other = zone;
  CHECK(other.at_least(1, 4));
  CHECK_FALSE(zone.at_least(1, 5));
  CHECK(zone.is_empty());
}

TEST_CASE("zone: operations on a zone are those on its points") {
  rc::prop("two clocks", [] {
    Zone zone(2);
    zone.elapse();
    if (*rc::gen::arbitrary<bool>()) zone.forget(2);
    Points known([&](std::int64_t x, std::int64_t y) { return contains(zone, x, y); });
    const auto was = [&](std::int64_t x, std::int64_t y) { return known.has(x, y); };
    const int count = *rc::gen::inRange(1, 9);
    for (int n = 0; n < count && !zone.is_empty(); ++n) {
      const std::size_t clock = *rc::gen::inRange<std::size_t>(1, 3);
      switch (*rc::gen::inRange(0, 5)) {
        case 0: {
          zone.elapse();
          known = Points([&](std::int64_t x, std::int64_t y) {
            for (std::int64_t d = 0; d <= std::min(x, y); ++d) {
              if (was(x - d, y - d)) return true;
            }
            return false;
          });
          break;
        }
        case 1: {
          zone.reset(clock);
          known = Points([&](std::int64_t x, std::int64_t y) {
            if ((clock == 1 ? x : y) != 0) return false;
            for (std::int64_t v = 0; v < kEnd; ++v) {
              if (clock == 1 ? was(v, y) : was(x, v)) return true;
            }
            return false;
          });
          break;
        }
        case 2: {
          zone.forget(clock);
          known = Points([&](std::int64_t x, std::int64_t y) {
            for (std::int64_t v = 0; v < kEnd; ++v) {
              if (clock == 1 ? was(v, y) : was(x, v)) return true;
            }
            return false;
          });
          break;
        }
        default: {
          const std::size_t i = *rc::gen::inRange<std::size_t>(0, 3);
          const std::size_t j = (i + *rc::gen::inRange<std::size_t>(1, 3)) % 3;
          const Bound bound = some_bound(-2, 3);
          zone.constrain(i, j, bound);
          known = Points([&](std::int64_t x, std::int64_t y) {
            const std::array<std::int64_t, 3> at{0, x, y};
            return was(x, y) && satisfies(at[i] - at[j], bound);
          });
        }
      }
      Points::for_each(kSafe, [&](std::int64_t x, std::int64_t y) { RC_ASSERT(contains(zone, x, y) == was(x, y)); });
      if (zone.is_empty()) break;
      Zone closed = zone;
      closed.close();
      RC_ASSERT(closed.includes(zone) && zone.includes(closed));
    }
  });
}

TEST_CASE("zone: one includes another if no bound is tighter") {
  Zone small(2);
  small.elapse();
  CHECK(small.at_most(1, 5));
  Zone large = small;
  large.forget(2);
  CHECK(large.includes(small));
  CHECK_FALSE(small.includes(large));
  Zone tight = small;
  CHECK(tight.less_than(1, 5));
  CHECK(small.includes(tight));
  CHECK_FALSE(tight.includes(small));
}

TEST_CASE("zone: beyond its constant a clock may show anything larger, and below it stays exact") {
  const auto between = [](std::int64_t low, std::int64_t high) {
    Zone zone(1);
    zone.elapse();
    CHECK(zone.at_least(1, low));
    CHECK(zone.at_most(1, high));
    zone.extrapolate(1, 10);
    return zone;
  };
  CHECK(between(3, 7).bound(1, 0) == Bound::at_most(7));
  CHECK(between(3, 7).bound(0, 1) == Bound::at_most(-3));
  CHECK(between(3, 12).bound(1, 0).is_none());
  CHECK(between(11, 12).bound(0, 1) == Bound::less_than(-10));
  CHECK(between(11, 12).includes(between(20, 30)));
}

}  // namespace lockstep::checker::testing::zone_test
