#pragma once

// Difference constraints with a parameter: by how much a clock jumped, or is skewed. x - y <= c + k * d. With several:
// parameter_space.hpp.
//
// The values of d for which there are times are an interval (the system is linear in the times and d together, and its
// solutions are convex), whose ends may be open. For fixed d the system is infeasible exactly if some simple cycle is
// negative, and a cycle of sum S + K * d says that d must be at least -S / K (K > 0), at most S / -K (K < 0), or that
// there is no d at all (K = 0). So the ends are found by Newton's method: begin at the end of the range, look for a
// negative cycle, go to the value at which it is no longer negative, and look again.
//
// It ends: a cycle that was found is not negative from there on, in the direction in which d moves, so each one found
// is another simple cycle, of which there are finitely many. It is exact: values are fractions, and strict bounds and
// open ends are compared as infinitesimals after them, in lexicographic order.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checker/time/difference_constraints.hpp"

namespace lockstep::checker {

/// x_to - x_from <= bound + parameters[plus] - parameters[minus], where an index of `none` is 0. The explorer's
/// constraints hold what follows from it for any value in range, so that they are differences; this says it exactly.
struct ParametricBound {
  static constexpr std::uint32_t none = 0xffffffff;
  Constraint base;
  std::uint32_t plus = none;
  std::uint32_t minus = none;

  /// Of one parameter.
  std::int64_t coefficient(std::uint32_t parameter) const { return (plus == parameter) - (minus == parameter); }
};

/// A length that a fault has on a trace: of a pause, from its beginning to its end.
struct Length {
  sim::Instant from;
  sim::Instant until;
};

/// An end of an interval of d, in nanoseconds, as a fraction in lowest terms.
struct ParameterEnd {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;  ///< positive
  bool attained = true;

  constexpr bool operator==(const ParameterEnd&) const = default;
};

struct ParameterInterval {
  ParameterEnd least;
  ParameterEnd greatest;

  /// The whole nanoseconds in it as an end from below: with {71ms, not attained} they are all above 71ms and none up to
  /// it. A fraction is rounded down, and then not attained: between it and the next whole nanosecond there is none.
  Extent least_whole() const;
  /// The same from above.
  Extent greatest_whole() const;
  bool contains(sim::Duration d) const;
};

/// The values in `range` of the only parameter, number 0, for which `base` and `bounds` together are feasible; nothing
/// if there is none.
std::optional<ParameterInterval> feasible_parameter(const DifferenceConstraints& base,
                                                    std::span<const ParametricBound> bounds, sim::DurationRange range);

/// The same system at a fixed value of each parameter (by index); nothing if it is infeasible. A solution in whole
/// nanoseconds is its `solution_ns`.
std::optional<DifferenceConstraints> fixed_parameters(const DifferenceConstraints& base,
                                                      std::span<const ParametricBound> bounds,
                                                      std::span<const sim::Duration> values);

}  // namespace lockstep::checker
