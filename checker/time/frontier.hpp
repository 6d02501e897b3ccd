#pragma once

// Which values of two parameters break a property together: `pause + skew > 63ms`.
//
// Of each way to break it the values of the largest pause X and the largest skew Y, say, are a convex polygon; and
// since "pauses of at most X" allow all that smaller ones do, it is taken with all that is larger in both: what is left
// are bounds a * X + b * Y > c with a and b not negative. The frontier is what the polygons of all ways of all traces
// leave free together. Polygons that lie inside another are dropped, so that mostly one or two are left, whatever the
// order in which the ways came.

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/time/fraction.hpp"
#include "checker/time/parameter_space.hpp"

namespace lockstep::checker {

/// x * X + y * Y > more_than nanoseconds; attained: >=. In lowest terms; neither factor is negative, and one is not 0.
struct FrontierBound {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t more_than = 0;
  bool attained = false;

  auto operator<=>(const FrontierBound&) const = default;
};

/// A corner of the closure of a polygon, in nanoseconds.
struct FrontierCorner {
  Fraction x;
  Fraction y;

  bool operator==(const FrontierCorner&) const = default;
};

/// All of its bounds together break the property.
struct FrontierPolygon {
  std::vector<FrontierBound> bounds;    ///< those that say anything of values from 0 on; none: nothing has to be large
  std::vector<FrontierCorner> corners;  ///< from the least X to the least Y

  bool operator==(const FrontierPolygon&) const = default;
};

/// The polygons of many ways, in any order and grouping.
class Frontier {
 public:
  /// One more way: `space` has the two parameters at `x` and `y`, at least 0.
  void add(const ParameterSpace& space, std::size_t x, std::size_t y);
  void merge(const Frontier& other);

  /// None inside another, in ascending order of their bounds; any of them breaks the property.
  std::span<const FrontierPolygon> polygons() const { return polygons_; }
  /// The same region in fewer words. "y > 0 and x + y > 7" beside "x > 7" is "x + y > 7": what needs a fault of some
  /// length, and what needs none, can meet at the axis.
  Frontier with_axes() const;
  /// Whether it says more than the margin of each parameter alone.
  bool says_more() const;

  void write(std::ostream& out) const;
  bool read(std::istream& in);

 private:
  void insert(FrontierPolygon polygon);

  std::vector<FrontierPolygon> polygons_;
};

/// "pause + skew > 63ms", "2 pause + skew >= 71ms and skew > 5ms"; several polygons: " or " in between.
std::string to_string(std::span<const FrontierPolygon> polygons, std::string_view x, std::string_view y);

}  // namespace lockstep::checker
