#include "checker/time/parameter_space.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace lockstep::checker {
namespace {

constexpr std::uint32_t kNoBound = ParametricBound::none;

std::int64_t floor_of(const Fraction& f) {
  const Fraction::Integer quotient = f.numerator() / f.denominator();
  const bool is_above = f.numerator() % f.denominator() < 0;
  return static_cast<std::int64_t>(is_above ? quotient - 1 : quotient);
}

std::vector<std::int64_t> in_lowest_terms(std::span<const Fraction> fractions) {
  std::int64_t denominator = 1, divisor = 0;
  for (const Fraction& f : fractions) denominator = std::lcm(denominator, static_cast<std::int64_t>(f.denominator()));
  std::vector<std::int64_t> whole;
  for (const Fraction& f : fractions) {
    whole.push_back(static_cast<std::int64_t>((f * Fraction(denominator)).numerator()));
    divisor = std::gcd(divisor, whole.back());
  }
  for (std::int64_t& factor : whole) factor /= divisor;
  return whole;
}

}  // namespace

Extent LeastValue::whole() const { return {sim::Duration::nanoseconds(floor_of(value)), attained && value.is_whole()}; }

ParameterSpace::ParameterSpace(const DifferenceConstraints& base, std::span<const ParametricBound> bounds,
                               std::span<const sim::DurationRange> ranges)
    : ranges_(ranges.begin(), ranges.end()), variables_(base.variables()) {
  for (std::uint32_t i = 0; i < base.constraints(); ++i) add_edge(base.constraint(i), kNoBound, kNoBound);
  for (const ParametricBound& b : bounds) {
    is_never_ = is_never_ || b.base.bound == Bound::never();
    if (b.base.bound.is_finite()) add_edge(b.base, b.plus, b.minus);
  }
}

void ParameterSpace::add_edge(const Constraint& c, std::uint32_t plus, std::uint32_t minus) {
  edges_.push_back({c.from, c.to, c.bound.ns(), c.bound.strict_bounds(), plus, minus});
}

std::size_t ParameterSpace::add_parameter(sim::DurationRange range) {
  ranges_.push_back(range);
  for (HalfSpace& half_space : half_spaces_) half_space.coefficients.push_back(0);
  return dimensions() - 1;
}

std::size_t ParameterSpace::add_longest(std::span<const Length> lengths, sim::DurationRange range) {
  const std::size_t longest = add_parameter(range);
  for (const Length& length : lengths)
    add_edge(Constraint::at_most(length.until, length.from), static_cast<std::uint32_t>(longest), kNoBound);
  return longest;
}

std::size_t ParameterSpace::add_length(std::span<const Length> lengths, sim::DurationRange range) {
  const std::size_t each = add_longest(lengths, range);
  for (const Length& length : lengths)
    add_edge(Constraint::at_most(length.from, length.until), kNoBound, static_cast<std::uint32_t>(each));
  return each;
}

std::size_t ParameterSpace::add_largest(std::span<const std::size_t> offsets, bool up, bool down,
                                        sim::DurationRange range) {
  const std::size_t largest = add_parameter(range);
  for (const std::size_t offset : offsets) {
    for (const std::int64_t side : {1, -1}) {
      HalfSpace half_space{0, std::vector<std::int64_t>(dimensions()), false};
      half_space.coefficients[offset] = -side;
      half_space.coefficients[largest] = (side > 0 ? up : down) ? 1 : 0;
      require(std::move(half_space));
    }
  }
  return largest;
}

void ParameterSpace::require(HalfSpace half_space) {
  half_space.coefficients.resize(dimensions());
  half_spaces_.push_back(std::move(half_space));
}

LinearInequality ParameterSpace::inequality_of(const HalfSpace& half_space) const {
  LinearInequality inequality{Fraction(half_space.constant), {}};
  for (const std::int64_t c : half_space.coefficients) inequality.coefficients.emplace_back(c);
  // However many of its bounds are strict: how large e is does not matter, but whether it is above 0.
  inequality.coefficients.emplace_back(half_space.is_strict ? -1 : 0);
  return inequality;
}

/// The half-space of a cycle that is negative at this point.
std::optional<HalfSpace> ParameterSpace::violated_at(const std::vector<Fraction>& point) {
  using Integer = Fraction::Integer;
  Integer denominator = 1;
  for (const Fraction& f : point) denominator = (Fraction(denominator, f.denominator())).numerator() * f.denominator();
  std::vector<Integer> scaled;
  for (const Fraction& f : point) scaled.push_back(f.numerator() * (denominator / f.denominator()));
  // A cycle with n strict bounds is to be at least e: a share of e for each, so that no simple cycle asks for more than
  // its half-space does.
  const auto shares = static_cast<Integer>(variables_) + 1;
  const Integer e = scaled.back();
  const auto weight_of = [&](const Edge& edge) {
    Integer weight = edge.ns * denominator;
    if (edge.plus != kNoBound) weight += scaled[edge.plus];
    if (edge.minus != kNoBound) weight -= scaled[edge.minus];
    return weight * shares - (edge.strict != 0 ? e : 0);
  };
  const std::vector<std::uint32_t>& cycle = negative_cycle_.find(variables_, edges_, weight_of);
  if (cycle.empty()) return std::nullopt;
  HalfSpace half_space;
  half_space.coefficients.resize(dimensions());
  for (const std::uint32_t i : cycle) {
    const Edge& edge = edges_[i];
    half_space.constant += edge.ns;
    half_space.is_strict = half_space.is_strict || edge.strict != 0;
    if (edge.plus != kNoBound) ++half_space.coefficients[edge.plus];
    if (edge.minus != kNoBound) --half_space.coefficients[edge.minus];
  }
  return half_space;
}

const std::vector<Fraction>* ParameterSpace::minimize(std::span<const Fraction> costs,
                                                      std::span<const LinearInequality> further) {
  if (is_never_) return nullptr;
  std::vector<Fraction> least;
  std::vector<Fraction> greatest;
  for (const sim::DurationRange& range : ranges_) {
    least.emplace_back(range.lo.count_ns());
    greatest.emplace_back(range.hi.count_ns());
  }
  least.emplace_back(0);
  greatest.emplace_back(1);
  program_.emplace(least, greatest, costs);
  for (const HalfSpace& half_space : half_spaces_) program_->require(inequality_of(half_space));
  for (const LinearInequality& inequality : further) program_->require(inequality);
  while (const std::vector<Fraction>* point = program_->solve()) {
    std::optional<HalfSpace> violated = violated_at(*point);
    if (!violated) return point;
    program_->require(inequality_of(*violated));
    half_spaces_.push_back(*std::move(violated));
  }
  return nullptr;
}

bool ParameterSpace::has_room(std::span<const LinearInequality> further) {
  std::vector<Fraction> costs(dimensions() + 1);
  costs.back() = Fraction(-1);
  const std::vector<Fraction>* point = minimize(costs, further);
  return point != nullptr && point->back().sign() > 0;
}

bool ParameterSpace::is_empty() { return !has_room({}); }

std::optional<LeastValue> ParameterSpace::least(std::span<const std::int64_t> factors) {
  if (is_empty()) return std::nullopt;
  std::vector<Fraction> costs;
  for (const std::int64_t factor : factors) costs.emplace_back(factor);
  costs.resize(dimensions() + 1);
  const std::vector<Fraction>* point = minimize(costs, {});
  assert(point != nullptr && "what has a point has a least value over its closure");
  LeastValue least;
  for (std::size_t i = 0; i < costs.size(); ++i) least.value += costs[i] * (*point)[i];
  LinearInequality no_more{least.value, {}};
  for (const Fraction& cost : costs) no_more.coefficients.push_back(-cost);
  least.attained = has_room({&no_more, 1});
  return least;
}

/// How far apart they are: the least t so that some feasible values differ from the point by at most t in each of the
/// parameters. How much t would grow with each coordinate, the dual solution, is a function that tells them apart:
/// Lagrange.
std::optional<std::vector<std::int64_t>> ParameterSpace::separation(std::span<const std::size_t> numbers,
                                                                    std::span<const Fraction> point) {
  sim::Duration widest;
  for (const std::size_t number : numbers) widest = std::max(widest, ranges_[number].hi - ranges_[number].lo);
  ParameterSpace apart = *this;
  const std::size_t distance = apart.add_parameter({sim::Duration::zero(), widest});
  std::vector<LinearInequality> near;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (const std::int64_t side : {1, -1}) {
      LinearInequality& inequality = near.emplace_back(Fraction(side) * point[i], std::vector<Fraction>());
      inequality.coefficients.resize(apart.dimensions() + 1);
      inequality.coefficients[numbers[i]] = Fraction(-side);
      inequality.coefficients[distance] = Fraction(1);
    }
  }
  std::vector<Fraction> costs(apart.dimensions() + 1);
  costs[distance] = Fraction(1);
  const std::size_t first = apart.half_spaces_.size();
  const std::vector<Fraction>* nearest = apart.minimize(costs, near);
  assert(nearest != nullptr && "no point is further away than the ranges are wide");
  std::vector<Fraction> factors;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    factors.push_back(apart.program_->price(first + 2 * i) - apart.program_->price(first + 2 * i + 1));
  const bool is_outside = (*nearest)[distance].sign() > 0;
  half_spaces_ = std::move(apart.half_spaces_);
  for (HalfSpace& half_space : half_spaces_) half_space.coefficients.resize(dimensions());
  if (!is_outside) return std::nullopt;
  return in_lowest_terms(factors);
}

std::optional<std::vector<sim::Duration>> ParameterSpace::small_values(std::size_t large) {
  if (is_empty()) return std::nullopt;
  ParameterSpace rest = *this;
  std::vector<sim::Duration> values;
  std::vector<std::int64_t> factors(dimensions());
  for (std::size_t i = 0; i < dimensions(); ++i) {
    factors.assign(dimensions(), 0);
    factors[i] = 1;
    const std::optional<LeastValue> least = rest.least(factors);
    factors[i] = -1;
    const std::optional<LeastValue> most = rest.least(factors);
    if (!least || !most) return std::nullopt;
    const Extent from = least->whole();
    const Extent until{-most->whole().value, most->whole().attained};
    std::int64_t lo = from.value.count_ns() + (from.attained ? 0 : 1);
    const std::int64_t hi = until.value.count_ns() - (until.attained ? 0 : 1);
    if (hi < lo) return std::nullopt;
    std::int64_t value = std::clamp<std::int64_t>(0, lo, hi);
    if (i < large) value = hi >= -lo ? hi : lo;
    constexpr std::int64_t kRound = 1'000'000;
    const std::int64_t up = sim::Duration::nanoseconds(value + kRound - 1).floor_ms() * kRound;
    const std::int64_t down = sim::Duration::nanoseconds(value).floor_ms() * kRound;
    const std::int64_t round = value >= 0 ? up : down;
    if (round >= lo && round <= hi) value = round;
    values.push_back(sim::Duration::nanoseconds(value));
    HalfSpace at_least{-value, std::vector<std::int64_t>(dimensions()), false};
    at_least.coefficients[i] = 1;
    HalfSpace at_most{value, std::vector<std::int64_t>(dimensions()), false};
    at_most.coefficients[i] = -1;
    rest.require(std::move(at_least));
    rest.require(std::move(at_most));
  }
  return values;
}

}  // namespace lockstep::checker
