#pragma once

// Which values of a parameter break a property: "for every restart_after up to 36ms, and for none above". Of a pause or
// a skew it is enough to know the least that breaks it, since who may be paused for longer may be paused for less. A
// restart is allowed to take so long as its range says and no less; a short one does harm where a long one comes when
// everything has run out.

#include <iosfwd>
#include <span>
#include <vector>

#include "checker/time/parametric.hpp"

namespace lockstep::checker {

/// From one value to another, each of which belongs to it if it is attained.
struct ValueInterval {
  Extent least;
  Extent greatest;

  bool operator==(const ValueInterval&) const = default;
};

/// A union of intervals. The order in which they come makes no difference.
class ValueSet {
 public:
  /// Nothing, if it is empty: the least above the greatest, or equal and not both attained.
  void add(ValueInterval interval);
  void merge(const ValueSet& other);

  /// In ascending order; no two of them touch.
  std::span<const ValueInterval> intervals() const { return intervals_; }

  bool operator==(const ValueSet&) const = default;

  void write(std::ostream& out) const;
  bool read(std::istream& in);

 private:
  std::vector<ValueInterval> intervals_;
};

}  // namespace lockstep::checker
