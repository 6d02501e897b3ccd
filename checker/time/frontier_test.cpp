// Frontiers, point by point: what is printed breaks exactly where some way does, on the axes as well.

#include "checker/time/frontier.hpp"

#include <array>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::frontier_test {
namespace {

constexpr std::int64_t kMost = 12;

/// A way: all of these half-spaces, of x and y from 0 on.
using Way = std::vector<HalfSpace>;

HalfSpace at_least(std::int64_t x, std::int64_t y, std::int64_t value, bool is_strict) {
  return {-value, {x, y}, is_strict};
}

bool breaks(const Way& way, std::int64_t x, std::int64_t y) {
  for (const HalfSpace& h : way) {
    const std::int64_t value = h.constant + h.coefficients[0] * x + h.coefficients[1] * y;
    if (value < 0 || (value == 0 && h.is_strict)) return false;
  }
  return true;
}

bool breaks(const Frontier& frontier, std::int64_t x, std::int64_t y) {
  for (const FrontierPolygon& polygon : frontier.polygons()) {
    bool is_in = true;
    for (const FrontierBound& b : polygon.bounds) {
      const std::int64_t value = b.x * x + b.y * y;
      is_in = is_in && (value > b.more_than || (value == b.more_than && b.attained));
    }
    if (is_in) return true;
  }
  return false;
}

void add(Frontier& frontier, const Way& way) {
  const sim::DurationRange range{sim::Duration::zero(), sim::Duration::nanoseconds(kMost * 10)};
  const std::array ranges{range, range};
  ParameterSpace space(DifferenceConstraints(), {}, ranges);
  for (const HalfSpace& h : way) space.require(h);
  if (!space.is_empty()) frontier.add(space, 0, 1);
}

std::string text_of(const Frontier& frontier) { return to_string(frontier.polygons(), "x", "y"); }

}  // namespace

TEST_CASE("frontier: what needs no y at all is not inside what needs a little of it") {
  // x > 7 breaks with y = 0, too, where "y > 0 and x + y > 7" says nothing. Together they are x + y > 7.
  Frontier frontier;
  add(frontier, {at_least(0, 1, 0, true), at_least(1, 1, 7, true)});
  add(frontier, {at_least(1, 0, 7, true)});
  CHECK(breaks(frontier, 8, 0));
  CHECK(text_of(frontier.with_axes()) == "x + y > 7ns");
}

TEST_CASE("frontier: an axis that begins elsewhere stays apart") {
  // On the axis of x alone from 9 on; beside it from 7 on.
  Frontier frontier;
  add(frontier, {at_least(0, 1, 0, true), at_least(1, 1, 7, true)});
  add(frontier, {at_least(1, 0, 9, true)});
  CHECK(text_of(frontier.with_axes()) == "y > 0ms and x + y > 7ns or x > 9ns");
}

TEST_CASE("frontier: it breaks where some way does, whatever the order, with the axes joined or not") {
  std::size_t joined = 0;
  const std::uint64_t cases = sim::cases<std::uint64_t>(20'000, 1'500);
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    INFO("seed " << seed);
    sim::Random random(sim::combine64(0x66726f6e74, seed));
    std::vector<Way> ways;
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
      Way& way = ways.emplace_back();
      for (std::uint64_t m = 1 + random.below(3); m > 0; --m) {
        const std::int64_t x = random.between(0, 2);
        const std::int64_t y = x == 0 ? random.between(1, 2) : random.between(0, 2);
        way.push_back(at_least(x, y, random.one_in(3) ? 0 : random.between(0, 8), random.one_in(2)));
      }
    }
    Frontier frontier, backwards;
    for (const Way& way : ways) add(frontier, way);
    for (auto way = ways.rbegin(); way != ways.rend(); ++way) add(backwards, *way);
    const Frontier with_axes = frontier.with_axes();
    CHECK(text_of(frontier) == text_of(backwards));
    CHECK(text_of(with_axes) == text_of(backwards.with_axes()));
    joined += text_of(with_axes) != text_of(frontier) ? 1 : 0;
    for (std::int64_t x = 0; x <= kMost; ++x) {
      for (std::int64_t y = 0; y <= kMost; ++y) {
        bool is_broken = false;
        for (const Way& way : ways) is_broken = is_broken || breaks(way, x, y);
        INFO(x << ", " << y << ": " << text_of(frontier) << "; " << text_of(with_axes));
        REQUIRE(breaks(frontier, x, y) == is_broken);
        REQUIRE(breaks(with_axes, x, y) == is_broken);
      }
    }
  }
  CHECK(joined > cases / 200);
}

}  // namespace lockstep::checker::frontier_test
