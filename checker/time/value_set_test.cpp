#include "checker/time/value_set.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <sstream>

#include "sim/schedules/random.hpp"

namespace lockstep::checker::value_set_test {
namespace {

constexpr int kMost = 12;

Extent end(std::int64_t value, bool attained) { return {sim::Duration::nanoseconds(value), attained}; }

/// Twice as fine as the ends, so that between two of them there is a point.
using Points = std::array<bool, 2 * kMost + 1>;

bool contains(const ValueInterval& interval, std::size_t point) {
  const auto twice = static_cast<std::int64_t>(point);
  const std::int64_t from = 2 * interval.least.value.count_ns();
  const std::int64_t to = 2 * interval.greatest.value.count_ns();
  return (interval.least.attained ? twice >= from : twice > from) &&
         (interval.greatest.attained ? twice <= to : twice < to);
}

Points points_of(std::span<const ValueInterval> intervals) {
  Points points{};
  for (std::size_t p = 0; p < points.size(); ++p)
    points[p] = std::any_of(intervals.begin(), intervals.end(), [&](const auto& i) { return contains(i, p); });
  return points;
}

}  // namespace

TEST_CASE("value set: it contains what the intervals contain, in any order, with no two that touch") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    sim::Random random(seed);
    std::vector<ValueInterval> intervals(random.below(6));
    for (ValueInterval& interval : intervals) {
      const std::int64_t from = random.between(0, kMost);
      interval = {end(from, random.one_in(2)),
                  end(std::min<std::int64_t>(kMost, from + random.between(-1, 4)), random.one_in(2))};
    }
    ValueSet set;
    for (const ValueInterval& interval : intervals) set.add(interval);
    INFO("seed " << seed);
    CHECK(points_of(set.intervals()) == points_of(intervals));
    for (std::size_t i = 1; i < set.intervals().size(); ++i) {
      const Extent& before = set.intervals()[i - 1].greatest;
      const Extent& after = set.intervals()[i].least;
      CHECK((before.value < after.value || (before.value == after.value && !before.attained && !after.attained)));
    }
    ValueSet backwards;
    ValueSet half;
    for (std::size_t i = intervals.size(); i-- > 0;) (i % 2 == 0 ? backwards : half).add(intervals[i]);
    backwards.merge(half);
    CHECK(backwards == set);
    std::stringstream text;
    set.write(text);
    ValueSet read;
    CHECK(read.read(text));
    CHECK(read == set);
  }
}

}  // namespace lockstep::checker::value_set_test
