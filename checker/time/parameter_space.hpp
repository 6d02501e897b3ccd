#pragma once

// Difference constraints with several parameters: for which values of all of them together are there times?
// parametric.hpp answers that for one parameter; this for any number, as exactly.
//
// For fixed values d the system is infeasible exactly if some simple cycle is negative, and a cycle of sum S + K * d,
// of which n bounds are strict, says S + K * d >= 0, or > 0 if n > 0. So the feasible values are a polyhedron, and each
// negative cycle that is met names one of the half-spaces of which it is the intersection. The least value of a linear
// function over it: minimize over the half-spaces known so far (linear_program.hpp), look for a negative cycle at that
// point, add its half-space, and go on until there is none. It ends: each cycle found excludes the point at which it
// was found, so it is a new one, and there are finitely many simple cycles. It is exact: values are fractions.
//
// Strict bounds: read x < c as x <= c - e, with one more parameter e in [0, 1ns]. There is a solution of the strict
// system exactly if e can be above 0 (of finitely many strict half-spaces whose intersection is not empty, some point
// is inside all by some e, and less will do as well). And if there is one, the infimum is the least value over the
// closure, e = 0, because the closure of a convex set that is not empty is what the same bounds say when none is
// strict. It is attained if, with the function at most that, e can still be above 0.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checker/time/difference_constraints.hpp"
#include "checker/time/linear_program.hpp"
#include "checker/time/negative_cycle.hpp"
#include "checker/time/parametric.hpp"

namespace lockstep::checker {

/// constant + sum of coefficients[i] * parameter i is at least 0, in nanoseconds; or, strict, more than 0.
struct HalfSpace {
  std::int64_t constant = 0;
  std::vector<std::int64_t> coefficients;
  bool is_strict = false;

  bool operator==(const HalfSpace&) const = default;
};

/// The infimum of a linear function.
struct LeastValue {
  Fraction value;
  bool attained = false;

  /// As an end of whole nanoseconds: a fraction is rounded down, and then not attained.
  Extent whole() const;
};

class ParameterSpace {
 public:
  /// By parameter: its range. Requires: bounds name parameters that have one.
  ParameterSpace(const DifferenceConstraints& base, std::span<const ParametricBound> bounds,
                 std::span<const sim::DurationRange> ranges);

  /// One more parameter, which none of these lengths exceeds; returns its number.
  std::size_t add_longest(std::span<const Length> lengths, sim::DurationRange range);
  /// One more, as which each of these lengths is just as long.
  std::size_t add_length(std::span<const Length> lengths, sim::DurationRange range);
  /// One more, which none of these parameters exceeds to a side that is allowed; to the other they are not at all.
  std::size_t add_largest(std::span<const std::size_t> offsets, bool up, bool down, sim::DurationRange range);

  /// Between the parameters alone.
  void require(HalfSpace half_space);
  /// Whether no values are feasible.
  bool is_empty();
  /// The infimum of the sum of factors[i] * parameter i; nothing if no values are feasible.
  std::optional<LeastValue> least(std::span<const std::int64_t> factors);
  /// A point outside the closure of what is feasible for the parameters of these numbers: factors of a linear function
  /// of them that is less there than at all that is feasible, in lowest terms. Nothing: the point is not outside.
  /// Requires: some values are feasible.
  std::optional<std::vector<std::int64_t>> separation(std::span<const std::size_t> numbers,
                                                      std::span<const Fraction> point);
  /// Feasible values in whole nanoseconds, each as small in magnitude as those before it allow, and rather a whole
  /// millisecond; nothing if no values are feasible, or only fractions of nanoseconds. The first `large` of them as
  /// large as they can be instead.
  std::optional<std::vector<sim::Duration>> small_values(std::size_t large = 0);
  /// The half-spaces that are known: after `least` or `is_empty`, those that its answer rests on are among them.
  std::span<const HalfSpace> half_spaces() const { return half_spaces_; }
  std::size_t dimensions() const { return ranges_.size(); }

 private:
  struct Edge {
    Variable from;
    Variable to;
    std::int64_t ns;
    std::int64_t strict;  ///< 1 if it is
    std::uint32_t plus;
    std::uint32_t minus;
  };

  std::size_t add_parameter(sim::DurationRange range);
  void add_edge(const Constraint& constraint, std::uint32_t plus, std::uint32_t minus);
  /// Minimizes `costs` (the last is that of e).
  const std::vector<Fraction>* minimize(std::span<const Fraction> costs, std::span<const LinearInequality> further);
  std::optional<HalfSpace> violated_at(const std::vector<Fraction>& point);
  LinearInequality inequality_of(const HalfSpace& half_space) const;
  /// The greatest e, with these as well.
  bool has_room(std::span<const LinearInequality> further);

  std::vector<sim::DurationRange> ranges_;
  Variable variables_;
  std::vector<Edge> edges_;
  std::vector<HalfSpace> half_spaces_;
  std::optional<LinearProgram> program_;
  NegativeCycle<__int128> negative_cycle_;
  bool is_never_ = false;  ///< a bound that nothing satisfies
};

}  // namespace lockstep::checker
