// Of several paths that explain, which one `DifferenceConstraints::is_infeasible_among` takes.

#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#include "checker/time/difference_constraints.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::infeasible_paths_test {
namespace {

/// What `is_infeasible_among` says of itself: the shortest path that Bellman and Ford's algorithm finds, in passes over
/// all constraints in their order, from the end of a constraint to its begin; back to front. Empty: it is long enough.
template <class Counts>
std::vector<std::uint32_t> path_by_passes(const DifferenceConstraints& system, const Constraint& c,
                                          const Counts& counts) {
  std::vector<std::optional<Bound::Units>> distance(system.variables());
  std::vector<std::uint32_t> over(system.variables());
  distance[c.to] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < system.constraints(); ++i) {
      const Constraint each = system.constraint(i);
      if (!counts(i) || !distance[each.from]) continue;
      const Bound::Units there = *distance[each.from] + each.bound.units();
      if (distance[each.to] && *distance[each.to] <= there) continue;
      distance[each.to] = there;
      over[each.to] = i;
      changed = true;
    }
  }
  std::vector<std::uint32_t> path;
  if (!distance[c.from] || *distance[c.from] + c.bound.units() >= 0) return path;
  for (Variable v = c.from; v != c.to; v = system.constraint(over[v]).from) path.push_back(over[v]);
  return path;
}

}  // namespace

TEST_CASE("difference constraints: which path explains does not depend on what cannot lie on it") {
  std::uint64_t explained = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    sim::Random random(seed);
    const auto variable = [&] { return static_cast<Variable>(random.below(40)); };
    DifferenceConstraints system;
    for (int i = 1; i < 40; ++i) system.add_variable();
    std::vector<std::uint32_t> why;
    for (int i = 0; i < 300; ++i) {
      // Few different bounds: so that many paths are as short as others.
      const Constraint c{variable(), variable(), Bound::at_most(sim::Duration::nanoseconds(random.between(-2, 3)))};
      if (system.add(c)) continue;
      const auto counts = [&](std::uint32_t k) { return sim::mix64(seed + k) % 4 != 0; };
      const bool is_infeasible = system.is_infeasible_among(c, counts);
      const std::vector<std::uint32_t> path = path_by_passes(system, c, counts);
      REQUIRE(system.is_infeasible_among(c, counts, &why) == is_infeasible);
      REQUIRE(why == path);
      REQUIRE((c.from == c.to || is_infeasible == !path.empty()));
      explained += is_infeasible ? 1 : 0;
    }
  }
  CHECK(explained > 5'000);
}

}  // namespace lockstep::checker::infeasible_paths_test
