#include "checker/parametric.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace lockstep::checker {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;

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
struct Value {
  __int128 at = 0;
  std::int64_t inside = 0;
  std::int64_t strict = 0;

  bool operator<(const Value& o) const {
    if (at != o.at) return at < o.at;
    return inside != o.inside ? inside < o.inside : strict > o.strict;
  }
};

Value operator+(const Value& a, const Value& b) { return {a.at + b.at, a.inside + b.inside, a.strict + b.strict}; }

Value value_of(const Sum& sum, const Probe& probe) {
  return {static_cast<__int128>(sum.ns) * probe.denominator + static_cast<__int128>(sum.slope) * probe.numerator,
          probe.is_open ? sum.slope : 0, sum.strict};
}

/// Looks for negative cycles from below; the other end is the same question about -d.
class Newton {
 public:
  Newton(Variable variables, std::vector<Edge> edges)
      : edges_(std::move(edges)), distance_(variables), by_(variables) {}

  /// The least d from `begin` on for which no cycle is negative; nothing if there is none, whatever comes after `begin`.
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
  /// Bellman and Ford's algorithm from all variables at once.
  std::optional<Sum> negative_cycle(const Probe& probe) {
    std::fill(distance_.begin(), distance_.end(), Value{});
    std::fill(by_.begin(), by_.end(), kNone);
    Variable last = 0;
    bool changed = true;
    for (std::size_t round = 0; changed && round <= distance_.size(); ++round) {
      changed = false;
      for (std::uint32_t i = 0; i < edges_.size(); ++i) {
        const Value shorter = distance_[edges_[i].from] + value_of(edges_[i].weight, probe);
        if (!(shorter < distance_[edges_[i].to])) continue;
        distance_[edges_[i].to] = shorter;
        by_[edges_[i].to] = i;
        last = edges_[i].to;
        changed = true;
      }
    }
    if (!changed) return std::nullopt;
    // After as many rounds as there are variables, a way back of that many steps is on a cycle.
    for (std::size_t i = 0; i < distance_.size(); ++i) last = edges_[by_[last]].from;
    Sum cycle;
    for (Variable at = last;;) {
      const Edge& edge = edges_[by_[at]];
      cycle.ns += edge.weight.ns;
      cycle.slope += edge.weight.slope;
      cycle.strict += edge.weight.strict;
      at = edge.from;
      if (at == last) return cycle;
    }
  }

  std::vector<Edge> edges_;
  std::vector<Value> distance_;
  std::vector<std::uint32_t> by_;  ///< the edge that last shortened it
};

std::int64_t ceil_ns(std::int64_t units) { return (units + Bound::units_per_ns - 1) >> 12; }
static_assert(Bound::units_per_ns == 1 << 12);

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
    const std::int64_t ns = ceil_ns(c.bound.units());
    edges.push_back({c.from, c.to, {ns, slope, ns * Bound::units_per_ns - c.bound.units()}});
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

std::optional<SeveralParameters> several_parameters(const DifferenceConstraints& base,
                                                    std::span<const ParametricBound> bounds,
                                                    std::span<const sim::DurationRange> ranges) {
  const auto nearest_to_zero = [](sim::Duration lo, sim::Duration hi) {
    return std::clamp(sim::Duration::zero(), lo, hi);
  };
  /// The interval of one parameter while the others have fixed values.
  const auto interval_of = [&](std::uint32_t parameter, std::span<const sim::Duration> values) {
    std::vector<ParametricBound> rest;
    for (const ParametricBound& b : bounds) {
      ParametricBound& only = rest.emplace_back(b);
      only.plus = b.plus == parameter ? 0 : ParametricBound::none;
      only.minus = b.minus == parameter ? 0 : ParametricBound::none;
      if (!b.base.bound.is_finite()) continue;
      const auto fixed = [&](std::uint32_t other) {
        return other == parameter ? sim::Duration::zero() : value_at(other, values);
      };
      only.base.bound = only.base.bound.shifted(fixed(b.plus) - fixed(b.minus));
    }
    return feasible_parameter(base, rest, ranges[parameter]);
  };
  /// The whole nanosecond of an interval with the smallest magnitude; nothing if it contains none.
  const auto smallest = [&](const ParameterInterval& interval) -> std::optional<sim::Duration> {
    const sim::Duration one = sim::Duration::nanoseconds(1);
    const Extent from = interval.least_whole();
    const Extent to = interval.greatest_whole();
    const sim::Duration lo = from.attained ? from.value : from.value + one;
    const sim::Duration hi = to.attained ? to.value : to.value - one;
    if (hi < lo) return std::nullopt;
    return nearest_to_zero(lo, hi);
  };
  const auto parameters = static_cast<std::uint32_t>(ranges.size());
  for (std::uint32_t start = 0; start < 3; ++start) {
    for (std::uint32_t first = 0; first < parameters; ++first) {
      std::vector<sim::Duration> values;
      for (const sim::DurationRange& range : ranges) {
        values.push_back(start == 0 ? nearest_to_zero(range.lo, range.hi) : start == 1 ? range.lo : range.hi);
      }
      SeveralParameters found;
      found.intervals.resize(parameters);
      bool is_feasible = true;
      for (std::uint32_t i = 0; i < parameters && is_feasible; ++i) {
        const std::uint32_t parameter = (first + i) % parameters;
        const std::optional<ParameterInterval> interval = interval_of(parameter, values);
        const std::optional<sim::Duration> value = interval ? smallest(*interval) : std::nullopt;
        is_feasible = value.has_value();
        if (value) values[parameter] = *value;
      }
      for (std::uint32_t i = 0; i < parameters && is_feasible; ++i) {
        const std::optional<ParameterInterval> interval = interval_of(i, values);
        assert(interval);
        found.intervals[i] = *interval;
      }
      if (!is_feasible) continue;
      found.values = std::move(values);
      found.is_exact = parameters == 1;
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace lockstep::checker
