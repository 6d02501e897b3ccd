#pragma once

// From which value of a range on a violation is possible: "safe up to 71ms, broken from there on", exactly.

#include <cstdint>
#include <optional>
#include <span>

#include "checker/time/difference_constraints.hpp"
#include "checker/time/parametric.hpp"

namespace lockstep::checker {

/// The infimum, over all solutions, of the largest of these lengths; nothing if there is no solution. Zero, attained,
/// for none.
///
/// One length is a shortest path. Several: the largest is at most L exactly if all `until - from <= L` can be added, so
/// L is a parameter with coefficient 1, and the least feasible one is exact by parametric.hpp's argument. It can be a
/// fraction of a nanosecond (half of what two equal pauses need together), and is then given rounded down and not
/// attained: of the whole nanoseconds, exactly those above it are enough.
std::optional<Extent> least_largest(const DifferenceConstraints& constraints, std::span<const Length> lengths);

/// a is reached earlier than b: it is smaller, or equal and attained.
bool is_smaller(const Extent& a, const Extent& b);

/// The threshold of one parameter over many traces: the smallest of theirs. What is equal and attained beats what is
/// only approached. The order in which traces come makes no difference, nor how they are divided among several folds.
///
/// A range can reach to both sides of 0, as jumps and skews do. Then each side has its own threshold, of the smallest
/// magnitude. A violation that needs no such fault at all has the smallest magnitude that the range allows.
class ThresholdFold {
 public:
  explicit ThresholdFold(sim::DurationRange range) : range_(range) {}

  /// A violation: `constraints` are those of the trace and of the way. `lengths`: of the faults that struck. Requires:
  /// they are at least `range.lo`, which is not negative.
  void add(DifferenceConstraints& constraints, std::span<const Length> lengths);
  /// A violation that is possible for the values in this interval.
  void add(const ParameterInterval& interval);
  /// A violation without this fault.
  void add_without();
  /// The same, where the value is known: the least from 0 on, and the greatest up to 0.
  void add_upward(const Extent& extent);
  void add_downward(const Extent& extent);
  /// Whether a violation with faults of these lengths might lower the threshold: false is certain.
  bool can_improve(DifferenceConstraints& constraints, std::span<const Length> lengths) const;
  /// Whether the other one is lower on some side.
  bool is_undercut_by(const ThresholdFold& other) const;
  void merge(const ThresholdFold& other);
  /// What `upward` and `downward` gave before.
  void restore(std::optional<Extent> up, std::optional<Extent> down) {
    upward_ = up;
    downward_ = down;
  }

  /// The least value from 0 on; nothing if no violation was added that one from 0 on allows.
  const std::optional<Extent>& upward() const { return upward_; }
  /// The greatest value up to 0; the same.
  const std::optional<Extent>& downward() const { return downward_; }

 private:
  sim::DurationRange range_;
  std::optional<Extent> upward_;
  std::optional<Extent> downward_;
};

}  // namespace lockstep::checker
