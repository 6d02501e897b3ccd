#include "checker/time/parametric.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "checker/time/negative_cycle.hpp"

namespace lockstep::checker {
namespace {

/// sum of c + k * d of some constraints, and how many were strict.
struct Sum {
  std::int64_t ns = 0;
  std::int64_t slope = 0;
  std::int64_t strict = 0;
};

struct Edge {
  Variable from;
  Variable to;
  Sum weight;
};

/// d = numerator / denominator, or just inside: infinitesimally further from the end at which the search began.
struct Probe {
  std::int64_t numerator;
  std::int64_t denominator;
  bool is_open;
};

/// The value of a sum at a probe: a fraction's numerator, then infinitesimals: that of d, and that of strict bounds.
struct CornerValue {
  __int128 at = 0;
  std::int64_t inside = 0;
  std::int64_t strict = 0;

  bool operator<(const CornerValue& o) const {
    if (at != o.at) return at < o.at;
    return inside != o.inside ? inside < o.inside : strict > o.strict;
  }
};

CornerValue operator+(const CornerValue& a, const CornerValue& b) {
  return {a.at + b.at, a.inside + b.inside, a.strict + b.strict};
}

CornerValue value_of(const Sum& sum, const Probe& probe) {
  return {static_cast<__int128>(sum.ns) * probe.denominator + static_cast<__int128>(sum.slope) * probe.numerator,
          probe.is_open ? sum.slope : 0, sum.strict};
}

/// Looks for negative cycles from below; the other end is the same question about -d.
class Newton {
 public:
  Newton(Variable variables, std::vector<Edge> edges) : variables_(variables), edges_(std::move(edges)) {}

  /// The least d from `begin` on for which no cycle is negative; nothing if there is none, whatever comes after
  /// `begin`.
  std::optional<ParameterEnd> least(std::int64_t begin) {
    Probe probe{begin, 1, false};
    while (const std::optional<Sum> cycle = negative_cycle(probe)) {
      // It is negative here: if it does not grow with d, it is so further on.
      if (cycle->slope <= 0) return std::nullopt;
      const std::int64_t divisor = std::gcd(cycle->ns, cycle->slope);
      probe = {-cycle->ns / divisor, cycle->slope / divisor, cycle->strict > 0};
    }
    return ParameterEnd{probe.numerator, probe.denominator, !probe.is_open};
  }

 private:
  std::optional<Sum> negative_cycle(const Probe& probe) {
    const auto& cycle =
        cycles_.find(variables_, edges_, [&](const Edge& edge) { return value_of(edge.weight, probe); });
    if (cycle.empty()) return std::nullopt;
    Sum sum;
    for (const std::uint32_t i : cycle) {
      sum.ns += edges_[i].weight.ns;
      sum.slope += edges_[i].weight.slope;
      sum.strict += edges_[i].weight.strict;
    }
    return sum;
  }

  std::size_t variables_;
  std::vector<Edge> edges_;
  NegativeCycle<CornerValue> cycles_;
};

std::int64_t floor_of(const ParameterEnd& end) {
  const std::int64_t quotient = end.numerator / end.denominator;
  return end.numerator % end.denominator < 0 ? quotient - 1 : quotient;
}

sim::Duration value_at(std::uint32_t parameter, std::span<const sim::Duration> values) {
  return parameter == ParametricBound::none ? sim::Duration::zero() : values[parameter];
}

}  // namespace

Extent ParameterInterval::least_whole() const {
  return {sim::Duration::nanoseconds(floor_of(least)), least.attained && least.denominator == 1};
}

Extent ParameterInterval::greatest_whole() const {
  const std::int64_t below = -floor_of({-greatest.numerator, greatest.denominator, true});
  return {sim::Duration::nanoseconds(below), greatest.attained && greatest.denominator == 1};
}

bool ParameterInterval::contains(sim::Duration d) const {
  const Extent from = least_whole();
  const Extent to = greatest_whole();
  return (from.attained ? d >= from.value : d > from.value) && (to.attained ? d <= to.value : d < to.value);
}

std::optional<ParameterInterval> feasible_parameter(const DifferenceConstraints& base,
                                                    std::span<const ParametricBound> bounds, sim::DurationRange range) {
  assert(range.lo <= range.hi);
  std::vector<Edge> edges;
  const auto add = [&](const Constraint& c, std::int64_t slope) {
    edges.push_back({c.from, c.to, {c.bound.ns(), slope, c.bound.strict_bounds()}});
  };
  for (std::uint32_t i = 0; i < base.constraints(); ++i) add(base.constraint(i), 0);
  for (const ParametricBound& b : bounds) {
    if (b.base.bound == Bound::never()) return std::nullopt;
    if (b.base.bound.is_finite()) add(b.base, b.coefficient(0));
  }
  const std::optional<ParameterEnd> least = Newton(base.variables(), edges).least(range.lo.count_ns());
  if (!least) return std::nullopt;
  for (Edge& edge : edges) edge.weight.slope = -edge.weight.slope;
  std::optional<ParameterEnd> greatest = Newton(base.variables(), std::move(edges)).least(-range.hi.count_ns());
  if (!greatest) return std::nullopt;
  greatest->numerator = -greatest->numerator;
  // Some feasible d is at least `lo`, and some is at most `hi`; they are an interval, so one is both.
  return ParameterInterval{*least, *greatest};
}

std::optional<DifferenceConstraints> fixed_parameters(const DifferenceConstraints& base,
                                                      std::span<const ParametricBound> bounds,
                                                      std::span<const sim::Duration> values) {
  DifferenceConstraints fixed = base;
  for (const ParametricBound& b : bounds) {
    Bound bound = b.base.bound;
    if (bound.is_finite()) bound = bound.shifted(value_at(b.plus, values) - value_at(b.minus, values));
    if (!fixed.add(b.base.from, b.base.to, bound)) return std::nullopt;
  }
  return fixed;
}

}  // namespace lockstep::checker
