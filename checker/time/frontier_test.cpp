// Frontiers, point by point: what is printed breaks exactly where some way does, on the axes as well.

#include "checker/time/frontier.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::frontier_test {
namespace {

constexpr std::int64_t kMost = 12;
constexpr sim::DurationRange kFromZero{sim::Duration::zero(), sim::Duration::nanoseconds(kMost * 10)};
/// Restarts take that long.
constexpr sim::DurationRange kRestarts{sim::Duration::nanoseconds(2), sim::Duration::nanoseconds(9)};

/// A way: all of these half-spaces.
using Way = std::vector<HalfSpace>;
using Values = std::vector<std::int64_t>;

HalfSpace at_least(Values factors, std::int64_t value, bool is_strict) {
  return {-value, std::move(factors), is_strict};
}
HalfSpace at_least(std::int64_t x, std::int64_t y, std::int64_t value, bool is_strict) {
  return at_least(Values{x, y}, value, is_strict);
}

std::int64_t sum_of(const Values& factors, const Values& values) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += factors[i] * values[i];
  return sum;
}

bool breaks(const Way& way, const Values& values) {
  return std::all_of(way.begin(), way.end(), [&](const HalfSpace& h) {
    const std::int64_t value = h.constant + sum_of(h.coefficients, values);
    return value > 0 || (value == 0 && !h.is_strict);
  });
}

bool breaks(const Frontier& frontier, const Values& values) {
  const auto pieces = frontier.pieces();
  return std::any_of(pieces.begin(), pieces.end(), [&](const FrontierPiece& piece) {
    return std::all_of(piece.bounds.begin(), piece.bounds.end(), [&](const FrontierBound& b) {
      const std::int64_t value = sum_of(b.factors, values);
      return value > b.more_than || (value == b.more_than && b.attained);
    });
  });
}

bool breaks(const std::vector<Way>& ways, const Values& values) {
  return std::any_of(ways.begin(), ways.end(), [&](const Way& way) { return breaks(way, values); });
}

Frontier plane() { return Frontier({{"x", kFromZero}, {"y", kFromZero}}); }

void add(Frontier& frontier, const Way& way) {
  std::vector<sim::DurationRange> ranges;
  std::vector<std::size_t> numbers;
  for (const FrontierAxis& axis : frontier.axes()) {
    numbers.push_back(ranges.size());
    ranges.push_back(axis.range);
  }
  ParameterSpace space(DifferenceConstraints(), {}, ranges);
  for (const HalfSpace& h : way) space.require(h);
  if (!space.is_empty()) frontier.add(space, numbers);
}

/// All whole values from 0 on, of a restart those that it may take.
std::vector<Values> grid(const Frontier& frontier, std::int64_t most) {
  std::vector<Values> all(1);
  for (const FrontierAxis& axis : frontier.axes()) {
    std::vector<Values> next;
    const std::int64_t from = axis.is_upward ? 0 : axis.range.lo.count_ns();
    const std::int64_t to = axis.is_upward ? most : axis.range.hi.count_ns();
    for (const Values& values : all) {
      for (std::int64_t value = from; value <= to; ++value) {
        next.push_back(values);
        next.back().push_back(value);
      }
    }
    all = std::move(next);
  }
  return all;
}

std::string text_of(const Frontier& frontier) { return to_string(frontier); }

}  // namespace

TEST_CASE("frontier: what needs no y at all is not inside what needs a little of it") {
  // x > 7 breaks with y = 0, too, where "y > 0 and x + y > 7" says nothing. Together they are x + y > 7.
  Frontier frontier = plane();
  add(frontier, {at_least(0, 1, 0, true), at_least(1, 1, 7, true)});
  add(frontier, {at_least(1, 0, 7, true)});
  CHECK(breaks(frontier, {8, 0}));
  CHECK(text_of(frontier.with_axes()) == "x + y > 7ns");
}

TEST_CASE("frontier: an axis that begins elsewhere stays apart") {
  // On the axis of x alone from 9 on; beside it from 7 on.
  Frontier frontier = plane();
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
    Frontier frontier = plane(), backwards = plane();
    for (const Way& way : ways) add(frontier, way);
    for (auto way = ways.rbegin(); way != ways.rend(); ++way) add(backwards, *way);
    const Frontier with_axes = frontier.with_axes();
    CHECK(text_of(frontier) == text_of(backwards));
    CHECK(text_of(with_axes) == text_of(backwards.with_axes()));
    joined += text_of(with_axes) != text_of(frontier) ? 1 : 0;
    for (const Values& values : grid(frontier, kMost)) {
      INFO(values[0] << ", " << values[1] << ": " << text_of(frontier) << "; " << text_of(with_axes));
      REQUIRE(breaks(frontier, values) == breaks(ways, values));
      REQUIRE(breaks(with_axes, values) == breaks(ways, values));
    }
  }
  CHECK(joined > cases / 200);
}

TEST_CASE("frontier: of three parameters, what needs only some of the faults joins what needs all") {
  // Each fault that strikes has some length; those that do not strike are not needed.
  Frontier frontier({{"pause", kFromZero}, {"delay", kFromZero}, {"jump", kFromZero}});
  for (const Values& strikes : {Values{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}) {
    Way way{at_least(strikes, 7, true)};
    for (std::size_t i = 0; i < 3; ++i) {
      Values factors(3);
      factors[i] = strikes[i];
      if (strikes[i] != 0) way.push_back(at_least(factors, 0, true));
    }
    add(frontier, way);
  }
  CHECK(text_of(frontier.with_axes()) == "pause + delay + jump > 7ns");
}

TEST_CASE("frontier: restarts take just so long, and what follows from the ranges is left out") {
  Frontier frontier({{"pause", kFromZero}, {"restart_after", kRestarts, false}});
  add(frontier, {at_least(1, -1, 2, true)});
  add(frontier, {at_least(1, 0, 8, true)});
  CHECK(text_of(frontier) == "pause - restart_after > 2ns or pause > 8ns");
  const auto corner = [](std::int64_t pause, std::int64_t restart) {
    return FrontierCorner{Fraction(pause), Fraction(restart)};
  };
  CHECK(frontier.pieces()[0].corners == std::vector{corner(4, 2), corner(11, 9)});
  const std::vector<sim::DurationRange> ranges{{sim::Duration::zero(), sim::Duration::nanoseconds(8)}, kRestarts};
  CHECK(text_of(frontier.within(ranges)) == "pause - restart_after > 2ns");
  // One time alone: what another bound says of it is a number.
  Frontier exact({{"pause", kFromZero}, {"restart_after", kRestarts, false}});
  add(exact, {at_least(0, 1, 5, false), at_least(0, -1, -5, false), at_least(1, 1, 9, true)});
  CHECK(text_of(exact) == "restart_after <= 5ns and restart_after >= 5ns and pause > 4ns");
}

TEST_CASE("frontier: what several pieces have together is said once") {
  // Of a restart of up to 7ns the first, of one from 5ns on the second: for every pause above 6ns, however long it takes.
  Frontier frontier({{"pause", kFromZero}, {"restart_after", kRestarts, false}});
  add(frontier, {at_least(0, -1, -7, false), at_least(1, 0, 6, true)});
  add(frontier, {at_least(0, 1, 5, false), at_least(1, 0, 6, true), at_least(1, 1, 13, true)});
  CHECK(frontier.pieces().size() == 2);
  CHECK(text_of(frontier.simplified()) == "pause > 6ns");
  CHECK_FALSE(frontier.simplified().says_more());
}

TEST_CASE("frontier: a clock that may be off to both sides has its sign") {
  std::vector<Frontier> sides{Frontier({{"skew", kFromZero}, {"pause", kFromZero}}),
                              Frontier({{"skew", kFromZero, true, true}, {"pause", kFromZero}})};
  for (Frontier& side : sides) add(side, {at_least(1, 1, 7, true)});
  CHECK(text_of(together(sides)) == "pause - skew > 7ns or skew + pause > 7ns");
  // Where it is to one side alone that it does harm, the other needs the pause alone.
  sides[1] = Frontier({{"skew", kFromZero, true, true}, {"pause", kFromZero}});
  add(sides[1], {at_least(0, 1, 7, true)});
  CHECK(text_of(together(sides)) == "pause > 7ns or skew + pause > 7ns");
  sides[1] = Frontier({{"skew", kFromZero, true, true}, {"pause", kFromZero}});
  add(sides[1], {at_least(1, 0, 3, true)});
  CHECK(text_of(together(sides)) == "skew < -3ns or skew + pause > 7ns");
}

TEST_CASE("frontier: of three parameters it breaks where some way does, whatever the order, and mutants do not") {
  const std::uint64_t cases = sim::cases<std::uint64_t>(3'000, 150);
  std::size_t weaker = 0, strict = 0, mutants = 0;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    INFO("seed " << seed);
    sim::Random random(sim::combine64(0x7468726565, seed));
    const bool restarts = random.one_in(2);
    const FrontierAxis third = restarts ? FrontierAxis{"z", kRestarts, false} : FrontierAxis{"z", kFromZero};
    std::vector<Way> ways;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      Way& way = ways.emplace_back();
      for (std::uint64_t m = 1 + random.below(3); m > 0; --m) {
        Values factors{random.between(0, 2), random.between(0, 2), random.between(restarts ? -2 : 0, 2)};
        if (factors == Values(3)) factors[0] = 1;
        way.push_back(at_least(factors, random.one_in(3) ? 0 : random.between(restarts ? -6 : 0, 8), random.one_in(2)));
      }
    }
    Frontier frontier({{"x", kFromZero}, {"y", kFromZero}, third}), backwards(frontier);
    for (const Way& way : ways) add(frontier, way);
    for (auto way = ways.rbegin(); way != ways.rend(); ++way) add(backwards, *way);
    const Frontier with_axes = frontier.with_axes();
    CHECK(text_of(frontier) == text_of(backwards));
    CHECK(text_of(with_axes) == text_of(backwards.with_axes()));
    const Frontier simplified = with_axes.simplified();
    for (const FrontierPiece& piece : simplified.pieces()) CHECK_FALSE(piece.corners.empty());
    constexpr std::int64_t kBox = 6;
    const sim::DurationRange box{sim::Duration::zero(), sim::Duration::nanoseconds(kBox)};
    const std::vector<sim::DurationRange> ranges{box, box, restarts ? kRestarts : box};
    const Frontier within = frontier.within(ranges).with_axes().simplified();
    for (const Values& values : grid(frontier, kBox)) {
      INFO(values[0] << ", " << values[1] << ", " << values[2] << ": " << text_of(frontier) << "; "
                     << text_of(with_axes) << "; " << text_of(within));
      const bool is_broken = breaks(ways, values);
      REQUIRE(breaks(frontier, values) == is_broken);
      REQUIRE(breaks(with_axes, values) == is_broken);
      REQUIRE(breaks(within, values) == is_broken);
    }
    // No bound is there for nothing: without the first of all, or with its end in or out, some point differs.
    if (frontier.pieces().size() != 1 || frontier.pieces()[0].bounds.empty()) continue;
    ++mutants;
    const FrontierPiece& piece = frontier.pieces()[0];
    const auto differs = [&](const Way& mutant) {
      const std::vector<Values> all = grid(frontier, 2 * kMost);
      return std::any_of(all.begin(), all.end(),
                         [&](const Values& values) { return breaks(mutant, values) != breaks(frontier, values); });
    };
    Way mutant;
    for (const FrontierBound& b : piece.bounds) mutant.push_back(at_least(b.factors, b.more_than, !b.attained));
    CHECK_FALSE(differs(mutant));
    Way without(mutant.begin() + 1, mutant.end());
    weaker += differs(without) ? 1 : 0;
    mutant.front().is_strict = !mutant.front().is_strict;
    strict += differs(mutant) ? 1 : 0;
  }
  // Of some the difference is between whole numbers.
  CHECK(weaker > mutants / 2);
  CHECK(strict > mutants / 2);
}

}  // namespace lockstep::checker::frontier_test
