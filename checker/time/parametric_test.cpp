// The parametric solver against a grid of values, each fixed in a plain system.

#include "checker/time/parametric.hpp"

#include <catch2/catch.hpp>

#include "sim/schedules/random.hpp"

namespace lockstep::checker::parametric_test {
namespace {

using sim::Duration;

Duration ns(std::int64_t n) { return Duration::nanoseconds(n); }

struct Drawn {
  DifferenceConstraints base;
  std::vector<ParametricBound> bounds;
};

/// All lengths are multiples of `unit`, so that a grid of 1 shows fractions of it.
Drawn draw(sim::Random& random, std::int64_t unit) {
  constexpr Variable variables = 6;
  Drawn drawn;
  for (Variable v = 1; v < variables; ++v) {
    const std::int64_t lo = random.between(0, 4);
    drawn.base.add_variable(static_cast<Variable>(random.below(v)),
                            {ns(lo * unit), ns((lo + random.between(0, 6)) * unit)});
  }
  const auto some = [&] { return static_cast<Variable>(random.below(variables)); };
  const auto bound = [&] {
    const Duration c = ns(random.between(-5, 6) * unit);
    return random.one_in(2) ? Bound::at_most(c) : Bound::less_than(c);
  };
  const auto parameter = [&] { return random.one_in(2) ? ParametricBound::none : 0u; };
  for (int i = 0; i < 2; ++i) drawn.base.add(some(), some(), bound());
  for (std::uint64_t i = 3 + random.below(6); i > 0; --i)
    drawn.bounds.push_back({{some(), some(), bound()}, parameter(), parameter()});
  return drawn;
}

}  // namespace

TEST_CASE("parametric: the feasible values are those of a scan, with open and closed ends and fractions") {
  sim::Random random(1);
  std::size_t feasible = 0;
  std::size_t open = 0;
  std::size_t fractions = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::int64_t unit = random.between(1, 7);
    const Drawn drawn = draw(random, unit);
    const sim::DurationRange range{ns(-40), ns(40)};
    const auto interval = feasible_parameter(drawn.base, drawn.bounds, range);
    INFO("system " << i);
    for (std::int64_t d = -40; d <= 40; ++d) {
      const Duration value[] = {ns(d)};
      const auto fixed = fixed_parameters(drawn.base, drawn.bounds, value);
      CHECK(fixed.has_value() == (interval && interval->contains(ns(d))));
    }
    if (!interval) continue;
    ++feasible;
    if (!interval->least.attained || !interval->greatest.attained) ++open;
    if (interval->least.denominator != 1) ++fractions;
    // An end that is attained, and whole, has a solution; each bound holds there.
    if (!interval->least.attained || interval->least.denominator != 1) continue;
    const Duration value[] = {ns(interval->least.numerator)};
    REQUIRE(fixed_parameters(drawn.base, drawn.bounds, value));
    if (const auto times = fixed_parameters(drawn.base, drawn.bounds, value)->solution_ns()) {
      for (const ParametricBound& b : drawn.bounds) {
        const Bound::Units most = b.base.bound.units() + b.coefficient(0) * value[0].count_ns() * Bound::units_per_ns;
        CHECK(((*times)[b.base.to] - (*times)[b.base.from]) * Bound::units_per_ns <= most);
      }
    }
  }
  CHECK(feasible > 600);
  CHECK(open > 100);
  CHECK(fractions > 2);
}

TEST_CASE("parametric: the ends of an interval are exact, not only between whole nanoseconds") {
  // The same system with all lengths, and the parameter, 12 times as long: whatever was a fraction by 2, 3 or 4 is whole.
  sim::Random random(2);
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t seed = random.next();
    sim::Random twelve(seed);
    const Drawn fine = draw(twelve, 12);
    const auto exact = feasible_parameter(fine.base, fine.bounds, {ns(-480), ns(480)});
    sim::Random again(seed);
    const Drawn coarse = draw(again, 1);
    const auto rough = feasible_parameter(coarse.base, coarse.bounds, {ns(-40), ns(40)});
    REQUIRE(exact.has_value() == rough.has_value());
    if (!exact) continue;
    for (const auto& [a, b] : {std::pair{exact->least, rough->least}, std::pair{exact->greatest, rough->greatest}}) {
      CHECK(a.attained == b.attained);
      CHECK(a.numerator * b.denominator == 12 * b.numerator * a.denominator);
    }
  }
}

}  // namespace lockstep::checker::parametric_test
