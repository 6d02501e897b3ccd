#pragma once

// Which values of several parameters break a property together: `pause + skew > 63ms`.
//
// Of each way to break it the values of the largest pause X and the largest skew Y, say, are a convex polyhedron; and
// since "pauses of at most X" allow all that smaller ones do, it is taken with all that is larger in each: what is left
// are bounds a * X + b * Y > c with a and b not negative. A restart takes just as long as it is said to, so its values
// are what they are: factors of it have either sign. The frontier is what the pieces of all ways of all traces leave
// free together. Pieces that lie inside another are dropped, so that mostly one or two are left, whatever the order in
// which the ways came.
//
// A clock that may be off to both sides has two frontiers, of magnitudes above and below 0, which `together` joins.

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "checker/time/fraction.hpp"
#include "checker/time/parameter_space.hpp"

namespace lockstep::checker {

/// A parameter of a frontier.
struct FrontierAxis {
  std::string name;
  sim::DurationRange range;  ///< upward: from 0 on
  bool is_upward = true;     ///< with more it breaks, too
  bool is_below = false;     ///< it is a magnitude, and the values are below 0
};

/// The sum of factors[i] * parameter i is more than so many nanoseconds; attained: or equal. In lowest terms.
struct FrontierBound {
  std::vector<std::int64_t> factors;
  std::int64_t more_than = 0;
  bool attained = false;

  auto operator<=>(const FrontierBound&) const = default;
};

/// By parameter, in nanoseconds.
using FrontierCorner = std::vector<Fraction>;

/// All of its bounds together break the property.
struct FrontierPiece {
  std::vector<FrontierBound> bounds;    ///< those that say anything within the ranges; none: nothing has to be large
  std::vector<FrontierCorner> corners;  ///< of its closure, in ascending order

  bool operator==(const FrontierPiece&) const = default;
};

/// The pieces of many ways, in any order and grouping.
class Frontier {
 public:
  explicit Frontier(std::vector<FrontierAxis> axes = {}) : axes_(std::move(axes)) {}

  /// One more way: `space` has the parameter of each axis at this number, within the axis's range. Requires: it is not
  /// empty.
  void add(const ParameterSpace& space, std::span<const std::size_t> numbers);
  /// Requires: of the same axes, as for all that takes another one.
  void merge(const Frontier& other);

  std::span<const FrontierAxis> axes() const { return axes_; }
  /// None inside another, in ascending order of their bounds; any of them breaks the property.
  std::span<const FrontierPiece> pieces() const { return pieces_; }
  /// The same region in fewer words. "y > 0 and x + y > 7" beside "x > 7" is "x + y > 7": what needs a fault of some
  /// length, and what needs none, can meet at the axis.
  Frontier with_axes() const;
  /// Likewise of any bounds, and without pieces that others have together; of many pieces it is as it was.
  Frontier simplified() const;
  /// The same within these ranges, by axis: bounds that follow from them are left out.
  Frontier within(std::span<const sim::DurationRange> ranges) const;
  /// Whether each piece of the other is inside one of these.
  bool covers(const Frontier& other) const;
  /// Whether it is about two parameters with more of which it breaks, too: then it can be drawn from its corners.
  bool is_plane() const;
  /// Whether it says more than the margin of each parameter alone.
  bool says_more() const;

  void write(std::ostream& out) const;
  bool read(std::istream& in);

  /// What several tell of the sides of the same parameters, as values with their signs. With more of a magnitude to one
  /// side all breaks that breaks without any; so a bound of one side need not say that it is of that side.
  friend Frontier together(std::span<const Frontier> sides);

 private:
  bool is_inside(const FrontierPiece& piece, const FrontierPiece& other) const;
  bool is_trivial(const FrontierBound& bound) const;
  static bool is_covered(ParameterSpace space, std::span<const FrontierPiece> pieces);
  ParameterSpace space_of(const FrontierPiece& piece) const;
  void insert(FrontierPiece piece);

  std::vector<FrontierAxis> axes_;
  std::vector<FrontierPiece> pieces_;
};

Frontier together(std::span<const Frontier> sides);

/// "pause + skew > 63ms", "2 pause + skew >= 71ms and skew > 5ms", "pause - restart_after > -23ms", "skew < -161ms";
/// several pieces: " or " in between.
std::string to_string(const Frontier& frontier);
/// "71ms", "43/2ns".
std::string to_string(const Fraction& ns);

}  // namespace lockstep::checker
