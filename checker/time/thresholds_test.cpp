// Thresholds against a scan over all integer lengths with plain feasibility.

#include "checker/time/thresholds.hpp"

#include <catch2/catch.hpp>

#include "sim/schedules/random.hpp"

namespace lockstep::checker::thresholds_test {
namespace {

using namespace sim::literals;
using sim::Duration;

Duration ns(std::int64_t n) { return Duration::nanoseconds(n); }

/// A few variables with random bounds, some strict.
DifferenceConstraints some_system(sim::Random& random, Variable variables, std::uint64_t constraints) {
  DifferenceConstraints system;
  for (Variable v = 1; v < variables; ++v) {
    const std::int64_t lo = random.between(0, 6);
    system.add_variable(static_cast<Variable>(random.below(v)), {ns(lo), ns(lo + random.between(0, 12))});
  }
  for (std::uint64_t i = 0; i < constraints; ++i) {
    const auto u = static_cast<Variable>(random.below(variables));
    const auto v = static_cast<Variable>(random.below(variables));
    const Duration c = ns(random.between(-12, 6));
    system.add(u, v, random.one_in(2) ? Bound::at_most(c) : Bound::less_than(c));
  }
  return system;
}

/// The scan: the least whole L that is enough, times a factor so that fractions show.
std::optional<std::int64_t> least_enough(DifferenceConstraints& system, std::span<const Length> lengths) {
  for (std::int64_t limit = -60; limit <= 60; ++limit) {
    const auto mark = system.mark();
    bool feasible = true;
    for (const Length& length : lengths)
      feasible = feasible && system.add_at_most(length.until, length.from + ns(limit));
    system.undo(mark);
    if (feasible) return limit;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("thresholds: the least largest length is what a scan over all lengths finds") {
  sim::Random random(1);
  std::size_t attained = 0;
  std::size_t not_attained = 0;
  for (int i = 0; i < 3'000; ++i) {
    DifferenceConstraints system = some_system(random, 8, 6);
    std::vector<Length> lengths;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      const auto from = static_cast<Variable>(random.below(8));
      const auto until = static_cast<Variable>((from + 1 + random.below(7)) % 8);
      lengths.push_back(
          {sim::Instant(from, ns(random.between(-2, 2))), sim::Instant(until, ns(random.between(-2, 2)))});
    }
    const std::optional<std::int64_t> scanned = least_enough(system, lengths);
    const std::optional<Extent> found = least_largest(system, lengths);
    if (!scanned) continue;
    INFO("system " << i);
    REQUIRE(found);
    // Attained: it is the least that is enough. Otherwise the next whole nanosecond is.
    CHECK(found->value.count_ns() + (found->attained ? 0 : 1) == *scanned);
    ++(found->attained ? attained : not_attained);
  }
  CHECK(attained > 300);
  CHECK(not_attained > 300);
}

TEST_CASE("thresholds: two pauses that share what is needed, and a fraction of a nanosecond") {
  // from0 = 0, until0 = x1; from1 = x1, until1 = x2; together more than, or at least, 71.
  for (const bool strict : {false, true}) {
    for (const std::int64_t needed : {70, 71}) {
      DifferenceConstraints system;
      system.add_variable(0, {ns(0), ns(1'000)});
      system.add_variable(1, {ns(0), ns(1'000)});
      system.add(2, 0, strict ? Bound::less_than(ns(-needed)) : Bound::at_most(ns(-needed)));
      const Length lengths[] = {{sim::Instant(0, ns(0)), sim::Instant(1, ns(0))},
                                {sim::Instant(1, ns(0)), sim::Instant(2, ns(0))}};
      const Extent expected{ns(35), needed == 70 && !strict};
      CHECK(least_largest(system, lengths) == expected);
    }
  }
}

TEST_CASE("thresholds: a fold is the smallest of its traces, however they are divided") {
  sim::Random random(2);
  for (int i = 0; i < 300; ++i) {
    const sim::DurationRange range{ns(0), ns(1'000)};
    std::vector<DifferenceConstraints> systems;
    for (int s = 0; s < 6; ++s) systems.push_back(some_system(random, 6, 4));
    const Length lengths[] = {{sim::Instant(1, ns(0)), sim::Instant(3, ns(0))},
                              {sim::Instant(2, ns(0)), sim::Instant(5, ns(0))}};
    std::optional<Extent> least;
    ThresholdFold all(range);
    ThresholdFold halves[] = {ThresholdFold(range), ThresholdFold(range)};
    for (std::size_t s = 0; s < systems.size(); ++s) {
      const auto own = least_largest(systems[s], lengths);
      if (own && (!least || is_smaller(*own, *least))) least = own;
      all.add(systems[s], lengths);
      halves[random.below(2)].add(systems[s], lengths);
    }
    halves[1].merge(halves[0]);
    CHECK(all.upward() == least);
    CHECK(halves[1].upward() == least);
  }
}

TEST_CASE("thresholds: each side of zero has its own, and no fault at all is the smallest magnitude of the range") {
  const auto interval = [](std::int64_t lo, bool lo_attained, std::int64_t hi, bool hi_attained) {
    return ParameterInterval{{lo, 1, lo_attained}, {hi, 1, hi_attained}};
  };
  ThresholdFold fold({ns(-50), ns(50)});
  fold.add(interval(20, true, 50, true));
  CHECK(fold.upward() == Extent{ns(20), true});
  CHECK_FALSE(fold.downward());
  fold.add(interval(-50, true, -7, false));
  fold.add(interval(15, false, 16, true));
  CHECK(fold.upward() == Extent{ns(15), false});
  CHECK(fold.downward() == Extent{ns(-7), false});
  fold.add(interval(-9, true, -7, true));
  CHECK(fold.downward() == Extent{ns(-7), true});
  fold.add(interval(-1, true, 3, true));
  CHECK(fold.upward() == Extent{ns(0), true});
  CHECK(fold.downward() == Extent{ns(0), true});

  for (const auto& [lo, hi] : {std::pair{5, 50}, std::pair{-50, -5}, std::pair{-50, 50}}) {
    ThresholdFold without({ns(lo), ns(hi)});
    without.add_without();
    CHECK(without.upward() == (hi > 0 ? std::optional(Extent{ns(std::max(lo, 0)), true}) : std::nullopt));
    CHECK(without.downward() == (lo < 0 ? std::optional(Extent{ns(std::min(hi, 0)), true}) : std::nullopt));
  }
}

}  // namespace lockstep::checker::thresholds_test
