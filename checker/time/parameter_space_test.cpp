// Several parameters at once, against a scan over all their values, each fixed in a plain system.

#include "checker/time/parameter_space.hpp"

#include <catch2/catch.hpp>

#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::parameter_space_test {
namespace {

using sim::Duration;
using sim::DurationRange;

Duration ns(std::int64_t n) { return Duration::nanoseconds(n); }

struct Drawn {
  DifferenceConstraints base;
  std::vector<ParametricBound> bounds;
  std::vector<DurationRange> ranges;
  std::vector<std::int64_t> factors;
};

/// All lengths are multiples of `unit`: what is a fraction of it shows on a grid of 1.
Drawn draw(sim::Random& random, std::int64_t unit, std::uint32_t parameters, bool has_strict) {
  constexpr Variable variables = 6;
  Drawn drawn;
  for (Variable v = 1; v < variables; ++v) {
    const std::int64_t lo = random.between(0, 3);
    drawn.base.add_variable(static_cast<Variable>(random.below(v)),
                            {ns(lo * unit), ns((lo + random.between(0, 3)) * unit)});
  }
  const auto some = [&] { return static_cast<Variable>(random.below(variables)); };
  const auto bound = [&] {
    const Duration c = ns(random.between(-3, 4) * unit);
    return has_strict && random.one_in(2) ? Bound::less_than(c) : Bound::at_most(c);
  };
  const auto parameter = [&] {
    return random.one_in(4) ? ParametricBound::none : static_cast<std::uint32_t>(random.below(parameters));
  };
  drawn.base.add(some(), some(), bound());
  for (std::uint64_t i = 4 + random.below(5); i > 0; --i)
    drawn.bounds.push_back({{some(), some(), bound()}, parameter(), parameter()});
  for (std::uint32_t p = 0; p < parameters; ++p) {
    const std::int64_t lo = random.between(-4, 1);
    drawn.ranges.push_back({ns(lo * unit), ns((lo + random.between(0, 5)) * unit)});
    drawn.factors.push_back(random.between(-2, 2));
  }
  return drawn;
}

/// Calls `then` for all values in the ranges, in steps of 1ns.
template <class Then>
void scan(const Drawn& drawn, const Then& then) {
  std::vector<Duration> values;
  for (const DurationRange& range : drawn.ranges) values.push_back(range.lo);
  for (;;) {
    then(values);
    std::size_t i = 0;
    for (; i < values.size(); ++i) {
      values[i] += ns(1);
      if (values[i] <= drawn.ranges[i].hi) break;
      values[i] = drawn.ranges[i].lo;
    }
    if (i == values.size()) return;
  }
}

std::int64_t dot(const std::vector<std::int64_t>& factors, const std::vector<Duration>& values) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += factors[i] * values[i].count_ns();
  return sum;
}

}  // namespace

TEST_CASE("parameter space: the least value of a linear function is that of a scan, fractions included") {
  sim::Random random(11);
  std::size_t feasible = 0;
  std::size_t fractions = 0;
  for (int i = 0; i < sim::cases(1'500, 300); ++i) {
    // With unit 12 all corners that have to do with halves, thirds and quarters lie on the grid.
    const std::uint64_t seed = random.next();
    sim::Random fine_random(seed);
    const Drawn fine = draw(fine_random, 12, 2, false);
    sim::Random coarse_random(seed);
    const Drawn coarse = draw(coarse_random, 1, 2, false);
    std::optional<std::int64_t> scanned;
    scan(fine, [&](const std::vector<Duration>& values) {
      const std::int64_t value = dot(fine.factors, values);
      if ((!scanned || value < *scanned) && fixed_parameters(fine.base, fine.bounds, values)) scanned = value;
    });
    INFO("system " << i);
    ParameterSpace fine_space(fine.base, fine.bounds, fine.ranges);
    const auto least = fine_space.least(fine.factors);
    REQUIRE(least.has_value() == scanned.has_value());
    ParameterSpace coarse_space(coarse.base, coarse.bounds, coarse.ranges);
    const auto small = coarse_space.least(coarse.factors);
    REQUIRE(small.has_value() == scanned.has_value());
    if (!scanned) continue;
    ++feasible;
    CHECK(least->value == Fraction(*scanned));
    CHECK(least->attained);
    CHECK(small->value * Fraction(12) == Fraction(*scanned));
    fractions += small->value.is_whole() ? 0 : 1;
  }
  CHECK(feasible > sim::cases<std::uint64_t>(150, 30));
  if (!sim::takes_few_cases()) CHECK(fractions > 1);
}

TEST_CASE("parameter space: with strict bounds it knows what is feasible, and whether the least value is attained") {
  sim::Random random(12);
  std::size_t open = 0;
  std::size_t feasible = 0;
  for (int i = 0; i < sim::cases(4'000, 800); ++i) {
    const Drawn drawn = draw(random, 4, 2, true);
    ParameterSpace space(drawn.base, drawn.bounds, drawn.ranges);
    const auto least = space.least(drawn.factors);
    bool is_feasible = false;
    bool is_attained_on_grid = false;
    scan(drawn, [&](const std::vector<Duration>& values) {
      if (!fixed_parameters(drawn.base, drawn.bounds, values)) return;
      is_feasible = true;
      REQUIRE(least.has_value());
      const Fraction value(dot(drawn.factors, values));
      REQUIRE((least->attained ? least->value <= value : least->value < value));
      is_attained_on_grid = is_attained_on_grid || least->value == value;
    });
    INFO("system " << i);
    // What is feasible has a point with these denominators, unless it is thinner than a quarter.
    if (is_feasible) ++feasible;
    if (is_attained_on_grid) CHECK(least->attained);
    if (least && !least->attained) ++open;
    if (const auto values = space.small_values()) CHECK(fixed_parameters(drawn.base, drawn.bounds, *values));
  }
  CHECK(feasible > sim::cases<std::uint64_t>(300, 60));
  CHECK(open > sim::cases<std::uint64_t>(50, 5));
}

TEST_CASE("parameter space: one parameter is an interval as parametric.hpp finds it") {
  sim::Random random(13);
  for (int i = 0; i < 2'000; ++i) {
    const Drawn drawn = draw(random, random.between(1, 7), 1, true);
    const auto interval = feasible_parameter(drawn.base, drawn.bounds, drawn.ranges.front());
    ParameterSpace space(drawn.base, drawn.bounds, drawn.ranges);
    INFO("system " << i);
    REQUIRE(space.is_empty() == !interval.has_value());
    if (!interval) continue;
    const std::int64_t up[] = {1};
    const std::int64_t down[] = {-1};
    CHECK(space.least(up)->whole() == interval->least_whole());
    const LeastValue greatest = *space.least(down);
    CHECK(greatest.attained == interval->greatest.attained);
    CHECK(-greatest.value == Fraction(interval->greatest.numerator, interval->greatest.denominator));
  }
}

TEST_CASE("parameter space: three parameters, and half-spaces between them") {
  sim::Random random(14);
  std::size_t feasible = 0;
  for (int i = 0; i < 300; ++i) {
    const Drawn drawn = draw(random, 2, 3, false);
    HalfSpace between{
        random.between(-4, 4), {random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)}, false};
    ParameterSpace space(drawn.base, drawn.bounds, drawn.ranges);
    space.require(between);
    const auto least = space.least(drawn.factors);
    scan(drawn, [&](const std::vector<Duration>& values) {
      if (dot(between.coefficients, values) + between.constant < 0) return;
      if (!fixed_parameters(drawn.base, drawn.bounds, values)) return;
      REQUIRE(least.has_value());
      REQUIRE(least->value <= Fraction(dot(drawn.factors, values)));
      ++feasible;
    });
    if (!least) continue;
    // It is really there: fixed at the least value, the rest has a point.
    ParameterSpace fixed = space;
    HalfSpace no_more{0, drawn.factors, false};
    for (std::int64_t& factor : no_more.coefficients) factor = -factor;
    no_more.constant = least->whole().value.count_ns() + (least->whole().attained ? 0 : 1);
    fixed.require(no_more);
    CHECK_FALSE(fixed.is_empty());
  }
  CHECK(feasible > 1'000);
}

}  // namespace lockstep::checker::parameter_space_test
