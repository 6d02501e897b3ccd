#include "checker/time/difference_constraints.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/bellman_ford_shortest_paths.hpp>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::difference_constraints_test {
namespace {

using namespace sim::literals;
using sim::Duration;
using sim::Instant;

Duration ns(std::int64_t n) { return Duration::nanoseconds(n); }
Bound at_most(std::int64_t n) { return Bound::at_most(ns(n)); }
Bound less_than(std::int64_t n) { return Bound::less_than(ns(n)); }
std::optional<Extent> extent(std::int64_t n, bool attained) { return Extent{ns(n), attained}; }

// The oracle: Boost's Bellman-Ford over pairs, and nothing remembered.

/// A sum of bounds: of the same nanoseconds, the one with more strict ones is less.
struct Weight {
  std::int64_t ns = 0;
  std::int64_t strict = 0;
  bool is_infinite = false;

  bool operator<(const Weight& o) const {
    if (is_infinite || o.is_infinite) return !is_infinite && o.is_infinite;
    return ns != o.ns ? ns < o.ns : strict > o.strict;
  }
};

Weight sum(const Weight& a, const Weight& b) {
  return {a.ns + b.ns, a.strict + b.strict, a.is_infinite || b.is_infinite};
}

/// x_to - x_from <= ns, or < ns.
struct Plain {
  Variable from;
  Variable to;
  std::int64_t ns;
  bool strict;

  Constraint constraint() const { return {from, to, strict ? less_than(ns) : at_most(ns)}; }
};

struct Oracle {
  Variable variables = 1;
  std::vector<Plain> constraints;

  /// Relaxes `distance`; false if there is a negative cycle.
  bool relax(std::vector<Weight>& distance) const {
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                        boost::property<boost::edge_weight_t, Weight>>;
    Graph graph(variables);
    for (const Plain& c : constraints) boost::add_edge(c.from, c.to, Weight{c.ns, c.strict ? 1 : 0}, graph);
    return boost::bellman_ford_shortest_paths(
        graph, variables,
        boost::weight_map(boost::get(boost::edge_weight, graph))
            .distance_map(distance.data())
            .distance_combine(&sum)
            .distance_compare([](const Weight& a, const Weight& b) { return a < b; }));
  }
  bool is_feasible() const {
    std::vector<Weight> from_all(variables);
    return relax(from_all);
  }
  bool is_feasible_with(std::vector<Plain> more) const {
    Oracle with = *this;
    with.constraints.insert(with.constraints.end(), more.begin(), more.end());
    return with.is_feasible();
  }
  std::optional<Extent> greatest_difference(Variable a, Variable b) const {
    std::vector<Weight> distance(variables, Weight{0, 0, true});
    distance[a] = {};
    relax(distance);
    if (distance[b].is_infinite) return std::nullopt;
    return Extent{ns(distance[b].ns), distance[b].strict == 0};
  }
  std::optional<Extent> least_difference(Variable a, Variable b) const {
    std::optional<Extent> extent = greatest_difference(b, a);
    if (extent) extent->value = -extent->value;
    return extent;
  }
};

/// The first thing that the system and the oracle do not agree on; empty if there is none.
std::string difference(const DifferenceConstraints& system, const Oracle& oracle) {
  if (system.variables() != oracle.variables) return "variables";
  for (Variable a = 0; a < oracle.variables; ++a) {
    for (Variable b = 0; b < oracle.variables; ++b) {
      if (system.least_difference(a, b) != oracle.least_difference(a, b)) return "least difference";
      if (system.greatest_difference(a, b) != oracle.greatest_difference(a, b)) return "greatest difference";
    }
  }
  Oracle whole = oracle;
  for (Plain& c : whole.constraints) c = {c.from, c.to, c.ns - (c.strict ? 1 : 0), false};
  const auto times = system.solution_ns();
  if (times.has_value() != whole.is_feasible()) return "whether there is a solution in nanoseconds";
  if (!times) return "";
  if ((*times)[0] != 0) return "the solution's origin";
  for (const Plain& c : whole.constraints) {
    if ((*times)[c.to] - (*times)[c.from] > c.ns) return "the solution satisfies everything";
  }
  for (Variable v = 0; v < oracle.variables; ++v) {
    const std::optional<Extent> least = whole.least_difference(0, v);
    if (least && least->value != ns((*times)[v])) return "the solution is as early as possible";
  }
  return "";
}

/// What to do next, in numbers that fit every system: they are taken modulo what there is.
struct Action {
  int kind;
  Variable from;
  Variable to;
  int ns;
  bool strict;
};

constexpr Variable kVariablesMax = 9;

/// The first disagreement on the way; empty if there is none.
std::string run(const std::vector<Action>& actions) {
  DifferenceConstraints system;
  Oracle oracle;
  std::vector<std::pair<DifferenceConstraints::Mark, Oracle>> marks;
  for (const Action& a : actions) {
    const Variable from = a.from % oracle.variables;
    const Variable to = a.to % oracle.variables;
    const Plain plain{from, to, a.ns, a.strict};
    if (a.kind <= 1 && oracle.variables < kVariablesMax) {
      if (a.kind == 0) {
        if (system.add_variable() != oracle.variables++) return "the variable's number";
      } else {
        const std::int64_t width = static_cast<std::int64_t>(a.to % 4);
        const Variable v = system.add_variable(from, {ns(a.ns), a.strict ? Duration::forever() : ns(a.ns + width)});
        if (v != oracle.variables++) return "the variable's number";
        oracle.constraints.push_back({v, from, -a.ns, false});
        if (!a.strict) oracle.constraints.push_back({from, v, a.ns + width, false});
      }
    } else if (a.kind == 2) {
      marks.emplace_back(system.mark(), oracle);
    } else if (a.kind == 3 && !marks.empty()) {
      system.undo(marks.back().first);
      oracle = marks.back().second;
      marks.pop_back();
      if (const std::string d = difference(system, oracle); !d.empty()) return "after undo: " + d;
    } else if (a.kind == 4) {
      const Plain other{to, (a.from + 1) % oracle.variables, a.to % 3 - 1, !a.strict};
      if (system.is_feasible_with(plain.constraint(), other.constraint()) != oracle.is_feasible_with({plain, other})) {
        return "feasible with two";
      }
      const std::vector<Constraint> both{plain.constraint(), other.constraint()};
      if (a.to % 2 == 0 && system.add_all(both) != oracle.is_feasible_with({plain, other})) return "all added";
      if (a.to % 2 == 0 && oracle.is_feasible_with({plain, other})) {
        oracle.constraints.insert(oracle.constraints.end(), {plain, other});
      }
    } else {
      const bool feasible = oracle.is_feasible_with({plain});
      if (system.is_feasible_with(plain.constraint()) != feasible) return "feasible with";
      if (system.add(plain.constraint()) != feasible) return "feasible";
      if (feasible) oracle.constraints.push_back(plain);
      if (!feasible || a.to % 8 == 0) {
        if (const std::string d = difference(system, oracle); !d.empty()) return "after add: " + d;
      }
    }
  }
  return difference(system, oracle);
}

TEST_CASE("difference constraints: 20,000 random sequences of add, mark and undo agree with Bellman-Ford") {
  std::string disagreement;
  for (std::uint64_t seed = 0; seed < sim::cases(20'000U, 250U) && disagreement.empty(); ++seed) {
    sim::Random random(seed);
    std::vector<Action> actions(8 + random.below(22));
    for (Action& a : actions) {
      a = {static_cast<int>(random.below(11)), static_cast<Variable>(random.below(64)),
           static_cast<Variable>(random.below(64)), static_cast<int>(random.between(-3, 5)), random.one_in(3)};
    }
    disagreement = run(actions);
    if (!disagreement.empty()) disagreement += " (seed " + std::to_string(seed) + ")";
  }
  CHECK(disagreement == "");
}

TEST_CASE("difference constraints: shrunk sequences agree with Bellman-Ford too") {
  const auto action = rc::gen::apply(
      [](int kind, Variable from, Variable to, int n, bool strict) { return Action{kind, from, to, n, strict}; },
      rc::gen::inRange(0, 11), rc::gen::inRange<Variable>(0, 64), rc::gen::inRange<Variable>(0, 64),
      rc::gen::inRange(-3, 6), rc::gen::arbitrary<bool>());
  CHECK(rc::check("the system agrees with the oracle", [&action] {
    // Shown as numbers: kind, from, to, ns, strict.
    const auto actions = *rc::gen::container<std::vector<Action>>(action);
    const std::string disagreement = run(actions);
    for (const Action& a : actions) {
      RC_LOG() << a.kind << ' ' << a.from << ' ' << a.to << ' ' << a.ns << ' ' << a.strict << '\n';
    }
    RC_ASSERT(disagreement == "");
  }));
}

TEST_CASE("difference constraints: systems of up to 200 variables agree with Bellman-Ford, feasible or not") {
  const Variable most = sim::cases<Variable>(200, 100);
  for (std::uint64_t seed = 0; seed < sim::cases(12U, 1U); ++seed) {
    sim::Random random(seed);
    DifferenceConstraints system;
    Oracle oracle;
    std::uint64_t refused = 0;
    while (oracle.variables < most) {
      const Variable cause = static_cast<Variable>(random.below(oracle.variables));
      const std::int64_t lo = random.between(1, 3);
      const Variable v = system.add_variable(cause, {ns(lo), ns(lo + 9)});
      oracle.variables = v + 1;
      oracle.constraints.insert(oracle.constraints.end(),
                                {Plain{v, cause, -lo, false}, Plain{cause, v, lo + 9, false}});
      for (int i = 0; i < 2; ++i) {
        const Plain c{static_cast<Variable>(random.below(v + 1)), static_cast<Variable>(random.below(v + 1)),
                      random.between(-9, 9), random.one_in(2)};
        const bool feasible = oracle.is_feasible_with({c});
        CAPTURE(seed, v, c.from, c.to);
        REQUIRE(system.add(c.constraint()) == feasible);
        if (feasible) oracle.constraints.push_back(c);
        if (!feasible) ++refused;
      }
    }
    CHECK(refused > most / 4);
    for (int i = 0; i < 200; ++i) {
      const Variable a = static_cast<Variable>(random.below(most));
      const Variable b = static_cast<Variable>(random.below(most));
      REQUIRE(system.greatest_difference(a, b) == oracle.greatest_difference(a, b));
    }
  }
}

TEST_CASE("difference constraints: tiny systems agree with all points of a grid of quarters") {
  // A system of n variables and whole constants that has a solution has one whose fractions are n + 1 different ones at
  // most; quarters are enough for the origin and three variables. Constants up to 1 keep the connected within 3.
  constexpr std::int64_t range = 4 * 4;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    sim::Random random(seed);
    DifferenceConstraints system;
    for (int i = 0; i < 3; ++i) system.add_variable();
    std::vector<Plain> plain;
    bool feasible = true;
    for (std::uint64_t i = 4 + random.below(5); i > 0; --i) {
      const Plain c{static_cast<Variable>(random.below(4)), static_cast<Variable>(random.below(4)),
                    random.between(-1, 1), random.one_in(2)};
      if (c.from == c.to) continue;
      plain.push_back(c);
      if (!system.add(c.constraint())) {
        feasible = false;
        break;
      }
    }
    bool found = false;
    bool found_whole = false;
    std::array<std::array<std::int64_t, 4>, 4> least{};
    for (auto& row : least) row.fill(1'000);
    std::array<std::int64_t, 4> x{};
    for (x[1] = -range; x[1] <= range; ++x[1]) {
      for (x[2] = -range; x[2] <= range; ++x[2]) {
        for (x[3] = -range; x[3] <= range; ++x[3]) {
          const auto holds = [&](const Plain& c) {
            return c.strict ? x[c.to] - x[c.from] < 4 * c.ns : x[c.to] - x[c.from] <= 4 * c.ns;
          };
          if (!std::all_of(plain.begin(), plain.end(), holds)) continue;
          found = true;
          if (x[1] % 4 == 0 && x[2] % 4 == 0 && x[3] % 4 == 0) found_whole = true;
          for (Variable a = 0; a < 4; ++a) {
            for (Variable b = 0; b < 4; ++b) least[a][b] = std::min(least[a][b], x[b] - x[a]);
          }
        }
      }
    }
    CAPTURE(seed);
    REQUIRE(found == feasible);
    if (!feasible) continue;
    REQUIRE(found_whole == system.solution_ns().has_value());
    for (Variable a = 0; a < 4; ++a) {
      for (Variable b = 0; b < 4; ++b) {
        const std::optional<Extent> expected = system.least_difference(a, b);
        if (!expected) continue;
        const std::int64_t quarters = 4 * expected->value.count_ns();
        if (expected->attained) {
          REQUIRE(least[a][b] == quarters);
        } else {
          REQUIRE(least[a][b] > quarters);
          REQUIRE(least[a][b] < quarters + 4);
        }
      }
    }
  }
}

TEST_CASE("difference constraints: x < y and y < x + 1ns has solutions, but none in whole nanoseconds") {
  DifferenceConstraints system;
  const Variable x = system.add_variable();
  const Variable y = system.add_variable();
  CHECK(system.least_difference(x, y) == std::nullopt);
  REQUIRE(system.add(y, x, less_than(0)));
  REQUIRE(system.add(x, y, less_than(1)));
  CHECK(system.least_difference(x, y) == extent(0, false));
  CHECK(system.greatest_difference(x, y) == extent(1, false));
  CHECK(!system.solution_ns());
  CHECK(!system.is_feasible_with({x, y, at_most(0)}));
  CHECK(!system.is_feasible_with({y, x, at_most(-1)}));
  // Two strict steps fit between 0 and 1ns as well, being dense; but not within 0.
  const Variable z = system.add_variable();
  CHECK(system.is_feasible_with({z, x, less_than(0)}, {y, z, less_than(0)}));
  CHECK(!system.is_feasible_with({z, x, less_than(0)}, {x, z, at_most(0)}));
}

TEST_CASE("difference constraints: a bound is attained exactly if a tightest chain has no strict link") {
  DifferenceConstraints system;
  const Variable x = system.add_variable();
  const Variable y = system.add_variable();
  const Variable z = system.add_variable();
  // x + 3 <= y <= x + 5 and y + 2 < z.
  REQUIRE(system.add(y, x, at_most(-3)));
  REQUIRE(system.add(x, y, at_most(5)));
  REQUIRE(system.add(z, y, less_than(-2)));
  CHECK(system.least_difference(x, y) == extent(3, true));
  CHECK(system.greatest_difference(x, y) == extent(5, true));
  CHECK(system.least_difference(x, z) == extent(5, false));
  CHECK(system.greatest_difference(x, z) == std::nullopt);
  // Beside it, x + 5 <= z changes nothing; x + 6 <= z decides alone.
  const DifferenceConstraints::Mark before = system.mark();
  REQUIRE(system.add(z, x, at_most(-5)));
  CHECK(system.least_difference(x, z) == extent(5, false));
  REQUIRE(system.add(z, x, at_most(-6)));
  CHECK(system.least_difference(x, z) == extent(6, true));
  system.undo(before);
  CHECK(system.least_difference(x, z) == extent(5, false));
  CHECK(system.least_difference(x, x) == extent(0, true));
}

TEST_CASE("difference constraints: the pause that breaks a 100ms lease, 71ms, is an infimum that no pause attains") {
  // A learns of its lock up to 10ms late, works 20ms and pauses; B learns 1ms or more after the expiry.
  DifferenceConstraints system;
  const Variable granted = system.add_variable();
  const Variable learned = system.add_variable(granted, {1_ms, 10_ms});
  const Variable worked = system.add_variable(learned, {20_ms, 20_ms});
  const Variable done = system.add_variable(worked, {0_ms, 10_s});
  const Variable second = system.add_variable();
  REQUIRE(system.add_at_most(Instant(granted, 100_ms), Instant(second, 0_ms)));
  const Variable second_learned = system.add_variable(second, {1_ms, 10_ms});
  REQUIRE(system.add_at_most(Instant(second_learned, 0_ms), Instant(done, 0_ms), true));
  CHECK(system.least_difference(worked, done) == Extent{71_ms, false});
  const Preference shortest{worked, done, 0_ms, true};
  const auto times = system.solution_ns({&shortest, 1});
  REQUIRE(times);
  CHECK((*times)[done] - (*times)[worked] == (71_ms + 1_ns).count_ns());
  CHECK((*times)[learned] - (*times)[granted] == (10_ms).count_ns());
}

TEST_CASE("difference constraints: an infeasible add leaves every answer as it was, wherever the wave stopped") {
  DifferenceConstraints system;
  std::vector<Variable> chain{0};
  for (int i = 0; i < 100; ++i) chain.push_back(system.add_variable(chain.back(), {1_ms, 2_ms}));
  const auto answers = [&] {
    std::vector<std::optional<Extent>> all;
    for (const Variable v : chain)
      all.insert(all.end(), {system.least_difference(7, v), system.least_difference(v, 7)});
    return all;
  };
  const auto before = answers();
  for (const Variable v : chain) {
    if (v == 0) continue;
    CHECK(!system.add(0, v, Bound::less_than(1_ms * v)));
    CHECK(!system.add(v, 0, Bound::less_than(-2_ms * v)));
    CHECK(!system.is_feasible_with({0, v, Bound::at_most(1_ms * v)},
                                   {v, chain[v / 2], Bound::less_than(-2_ms * (v - v / 2))}));
    CHECK(system.is_feasible_with({0, v, Bound::at_most(1_ms * v)}));
    CHECK(system.is_feasible_with({v, 0, Bound::at_most(-2_ms * v)}));
  }
  CHECK(system.constraints() == 200);
  CHECK(answers() == before);
}

TEST_CASE("difference constraints: instants are compared by anchor and offset, and with themselves") {
  DifferenceConstraints system;
  const Variable a = system.add_variable(0, {5_ms, 10_ms});
  CHECK(system.can_be_at_most(Instant(a, 1_ms), Instant::at(6_ms)));
  CHECK(!system.can_be_at_most(Instant(a, 1_ms), Instant::at(6_ms), true));
  CHECK(system.can_be_at_most(Instant::at(11_ms), Instant(a, 1_ms)));
  CHECK(!system.can_be_at_most(Instant::at(11_ms), Instant(a, 1_ms), true));
  CHECK(system.can_be_at_most(Instant(a, 1_ms), Instant(a, 1_ms)));
  CHECK(!system.can_be_at_most(Instant(a, 1_ms), Instant(a, 1_ms), true));
  CHECK(system.add_at_most(Instant(a, 1_ms), Instant(a, 1_ms)));
  CHECK(!system.add_at_most(Instant(a, 1_ms), Instant(a, 1_ms), true));
}

TEST_CASE("difference constraints: forever is no bound, and nothing comes after it") {
  DifferenceConstraints system;
  const Variable a = system.add_variable(0, {5_ms, Duration::forever()});
  CHECK(system.greatest_difference(0, a) == std::nullopt);
  const Instant deadline = Instant(a, 3_ms) + Duration::forever();
  CHECK(system.add_at_most(Instant(a, 0_ms), deadline, true));
  CHECK(!system.can_be_at_most(deadline, Instant(a, 0_ms)));
  CHECK(!system.add_at_most(deadline, Instant::origin()));
  CHECK(!system.is_feasible_with({0, a, Bound::always()}, {0, a, Bound::never()}));
  CHECK(system.constraints() == 1);
}

TEST_CASE("difference constraints: a cycle of 20,000 strict bounds within 1ns is feasible, within 0 it is not") {
  DifferenceConstraints system;
  Variable last = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Variable next = system.add_variable();
    REQUIRE(system.add(next, last, less_than(0)));
    last = next;
  }
  CHECK(!system.is_feasible_with({0, last, at_most(0)}));
  CHECK(system.least_difference(0, last) == extent(0, false));
  REQUIRE(system.add(0, last, less_than(1)));
  CHECK(system.greatest_difference(0, last) == extent(1, false));
  CHECK(!system.solution_ns());
}

TEST_CASE("difference constraints: potentials that adds and undos carry away are brought back") {
  // Each round moves the origin later by four years, without any bound on where it is.
  DifferenceConstraints system;
  const Duration half = Duration::seconds(std::int64_t{2} * 365 * 86'400);  // of it
  const Variable b = system.add_variable();
  const Variable c = system.add_variable();
  REQUIRE(system.add(0, c, Bound::at_most(half * 1)));  // c <= 2 years
  for (int round = 0; round < 400; ++round) {
    const DifferenceConstraints::Mark before = system.mark();
    REQUIRE(system.add(c, b, Bound::at_most(-half * 2)));  // c >= b + 4 years
    CHECK(system.least_difference(b, 0) == Extent{half, true});
    CHECK(system.least_difference(b, c) == Extent{half * 2, true});
    CHECK(system.add(c, b, Bound::at_most(half * -2 - 1_ns)));
    system.undo(before);
    REQUIRE(system.add(b, 0, Bound::at_most(-half * 2)));  // b >= 4 years
    CHECK(!system.is_feasible_with({c, b, Bound::at_most(0_ms)}));
    CHECK(system.least_difference(0, b) == Extent{half * 2, true});
    system.undo(before);
    CHECK(system.least_difference(b, c) == std::nullopt);
  }
  CHECK(system.greatest_difference(0, c) == Extent{half, true});
}

TEST_CASE("difference constraints: undo takes variables away, and their numbers are given again") {
  DifferenceConstraints system;
  const Variable a = system.add_variable(0, {1_ms, 2_ms});
  const DifferenceConstraints::Mark mark = system.mark();
  const Variable b = system.add_variable(a, {1_ms, 1_ms});
  REQUIRE(system.add_at_most(Instant(b, 0_ms), Instant::at(2_ms)));
  CHECK(system.greatest_difference(0, a) == Extent{1_ms, true});
  system.undo(mark);
  CHECK(system.greatest_difference(0, a) == Extent{2_ms, true});
  CHECK(system.add_variable() == b);
  CHECK(system.greatest_difference(0, b) == std::nullopt);
  system.clear();
  CHECK(system.variables() == 1);
  CHECK(system.constraints() == 0);
}

TEST_CASE("difference constraints: preferences are granted in turn, and then everything is as early as possible") {
  DifferenceConstraints system;
  const Variable a = system.add_variable(0, {ns(2), ns(10)});
  const Variable b = system.add_variable(a, {ns(1), ns(5)});
  const Variable free = system.add_variable();
  const Variable before = system.add_variable();
  REQUIRE(system.add(0, before, less_than(-3)));
  REQUIRE(system.add(0, b, less_than(12)));
  CHECK(system.solution_ns() == std::vector<std::int64_t>{0, 2, 3, 0, -4});
  const std::vector<Preference> wishes{{0, a, ns(20)}, {0, b, ns(20), true}, {a, b, ns(3)}, {0, free, ns(-7)}};
  CHECK(system.solution_ns(wishes) == std::vector<std::int64_t>{0, 8, 11, -7, -4});
  const std::vector<Preference> less{{0, a, ns(-20), true}, {a, b, ns(5)}, {a, b, ns(4)}};
  CHECK(system.solution_ns(less) == std::vector<std::int64_t>{0, 2, 7, 0, -4});
  CHECK(system.greatest_difference(0, b) == extent(12, false));
  REQUIRE(system.in_whole_ns());
  CHECK(system.in_whole_ns()->greatest_difference(0, b) == extent(11, true));
}

TEST_CASE("difference constraints: answers and solutions do not depend on the order of adding or on what was undone") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    sim::Random random(seed);
    std::vector<Plain> plain;
    for (int i = 0; i < 30; ++i) {
      plain.push_back({static_cast<Variable>(random.below(12)), static_cast<Variable>(random.below(12)),
                       random.between(-2, 9), random.one_in(4)});
    }
    DifferenceConstraints one;
    DifferenceConstraints other;
    for (int i = 1; i < 12; ++i) {
      one.add_variable();
      other.add_variable();
    }
    std::erase_if(plain, [&](const Plain& c) { return !one.add(c.constraint()); });
    for (auto c = plain.rbegin(); c != plain.rend(); ++c) {
      const DifferenceConstraints::Mark before = other.mark();
      other.add(static_cast<Variable>(random.below(12)), static_cast<Variable>(random.below(12)), at_most(-5));
      other.undo(before);
      REQUIRE(other.add(c->constraint()));
    }
    REQUIRE(one.solution_ns() == other.solution_ns());
    for (Variable v = 0; v < 12; ++v) REQUIRE(one.least_difference(3, v) == other.least_difference(3, v));
  }
}

TEST_CASE("difference constraints: why an add fails is enough for it to fail, and all of that is needed") {
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    sim::Random random(seed);
    const auto drawn = [&] {
      return Plain{static_cast<Variable>(random.below(8)), static_cast<Variable>(random.below(8)),
                   random.between(-3, 6), random.one_in(3)}
          .constraint();
    };
    DifferenceConstraints system;
    for (int i = 1; i < 8; ++i) system.add_variable();
    std::vector<std::uint32_t> why;
    for (int i = 0; i < 40; ++i) {
      const Constraint c = drawn();
      // Whether those of a set alone do not allow it, by a system that has no others.
      const auto fails_with = [&](const auto& is_in) {
        DifferenceConstraints some;
        for (int v = 1; v < 8; ++v) some.add_variable();
        for (std::uint32_t k = 0; k < system.constraints(); ++k) {
          if (is_in(k)) REQUIRE(some.add(system.constraint(k)));
        }
        return !some.add(c);
      };
      const auto is_even = [](std::uint32_t k) { return k % 2 == 0; };
      REQUIRE(system.is_infeasible_among(c, is_even) == fails_with(is_even));
      if (system.add(c)) continue;
      ++failed;
      REQUIRE(!system.is_feasible_with(c));
      system.explain_last(why);
      const auto is_why = [&](std::uint32_t k) { return std::find(why.begin(), why.end(), k) != why.end(); };
      REQUIRE(fails_with(is_why));
      for (const std::uint32_t one : why) REQUIRE(!fails_with([&](std::uint32_t k) { return k != one && is_why(k); }));
    }
  }
  CHECK(failed > 1'000);
}

}  // namespace
}  // namespace lockstep::checker::difference_constraints_test
