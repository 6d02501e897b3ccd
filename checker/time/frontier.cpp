#include "checker/time/frontier.hpp"

#include <algorithm>
#include <cassert>
#include <istream>
#include <numeric>
#include <optional>
#include <ostream>

#include <fmt/format.h>

namespace lockstep::checker {
namespace {

std::int64_t whole(const Fraction& f) {
  assert(f.is_whole());
  return static_cast<std::int64_t>(f.numerator());
}

/// In whole numbers without a common divisor.
FrontierBound bound_of(std::int64_t x, std::int64_t y, const LeastValue& least) {
  const Fraction scale(least.value.denominator(), 1);
  FrontierBound bound{whole(Fraction(x) * scale), whole(Fraction(y) * scale), whole(least.value * scale),
                      least.attained};
  const std::int64_t divisor = std::gcd(std::gcd(bound.x, bound.y), bound.more_than);
  if (divisor > 1) bound = {bound.x / divisor, bound.y / divisor, bound.more_than / divisor, bound.attained};
  return bound;
}

/// What is not in the bound's half-plane.
HalfSpace outside(const FrontierBound& bound, std::size_t x, std::size_t y, std::size_t dimensions) {
  HalfSpace half_space{bound.more_than, std::vector<std::int64_t>(dimensions), bound.attained};
  half_space.coefficients[x] = -bound.x;
  half_space.coefficients[y] = -bound.y;
  return half_space;
}

bool reaches_outside(const ParameterSpace& space, const FrontierBound& bound, std::size_t x, std::size_t y) {
  ParameterSpace rest = space;
  rest.require(outside(bound, x, y, space.dimensions()));
  return !rest.is_empty();
}

bool is_inside(const FrontierPolygon& polygon, const FrontierPolygon& other) {
  return std::all_of(other.bounds.begin(), other.bounds.end(), [&](const FrontierBound& bound) {
    // At its corners it is least; at a least value that is met, what counts is whether it is attained.
    return std::all_of(polygon.corners.begin(), polygon.corners.end(), [&](const FrontierCorner& corner) {
      const Fraction value = Fraction(bound.x) * corner.x + Fraction(bound.y) * corner.y;
      if (value != Fraction(bound.more_than)) return value > Fraction(bound.more_than);
      if (bound.attained) return true;
      // Where an edge meets the bound, all of the edge does: then it is the edge that must be strict. An axis is an
      // edge, too, and no strict one: "x > 5ms" is not inside "y > 0ms".
      const auto edge = std::find_if(polygon.bounds.begin(), polygon.bounds.end(), [&](const FrontierBound& own) {
        return Fraction(own.x) * Fraction(bound.y) == Fraction(own.y) * Fraction(bound.x);
      });
      if (edge != polygon.bounds.end()) return !edge->attained;
      if (bound.x == 0 || bound.y == 0) return false;
      // The corner is no part of the polygon if some bound that is tight there is strict.
      return std::any_of(polygon.bounds.begin(), polygon.bounds.end(), [&](const FrontierBound& own) {
        const Fraction at = Fraction(own.x) * corner.x + Fraction(own.y) * corner.y;
        return !own.attained && at == Fraction(own.more_than);
      });
    });
  });
}

/// "y > 0ms": a fault of no length is none, so that what needs one begins beside the axis.
bool is_from_axis(const FrontierBound& bound) {
  return bound.more_than == 0 && !bound.attained && (bound.x == 0 || bound.y == 0);
}

/// What of an axis is in a polygon: all from here on.
struct AxisPart {
  Fraction from;
  bool attained = true;
};

/// Of the axis of x, or of y: nothing if the polygon stays away from it. `closed`: as if it reached the axis.
std::optional<AxisPart> part_on_axis(const FrontierPolygon& polygon, bool is_x, bool closed) {
  AxisPart part;
  for (const FrontierBound& bound : polygon.bounds) {
    const std::int64_t factor = is_x ? bound.x : bound.y;
    if (factor == 0) {
      if (closed && is_from_axis(bound)) continue;
      return std::nullopt;
    }
    const Fraction from(bound.more_than, factor);
    if (from > part.from || (from == part.from && !bound.attained)) part = {from, bound.attained};
  }
  return part;
}

/// The polygon of a space, from both ends of its frontier inwards.
class Walk {
 public:
  Walk(const ParameterSpace& space, std::size_t x, std::size_t y) : space_(space), x_(x), y_(y) {}

  FrontierPolygon operator()() {
    const LeastValue least_x = *least(1, 0);
    const LeastValue least_y = *least(0, 1);
    add(bound_of(1, 0, least_x));
    const FrontierCorner first{least_x.value, space_.least_in_closure(y_, factors(1, 0), least_x.value)};
    const FrontierCorner last{space_.least_in_closure(x_, factors(0, 1), least_y.value), least_y.value};
    polygon_.corners.push_back(first);
    if (first != last) {
      between(first, last);
      polygon_.corners.push_back(last);
    }
    add(bound_of(0, 1, least_y));
    leave_out_corners();
    // From 0 on is no bound.
    std::erase_if(polygon_.bounds, [](const FrontierBound& bound) { return bound.more_than == 0 && bound.attained; });
    std::sort(polygon_.bounds.begin(), polygon_.bounds.end());
    return std::move(polygon_);
  }

 private:
  std::vector<std::int64_t> factors(std::int64_t x, std::int64_t y) const {
    std::vector<std::int64_t> result(space_.dimensions());
    result[x_] = x;
    result[y_] = y;
    return result;
  }
  std::optional<LeastValue> least(std::int64_t x, std::int64_t y) { return space_.least(factors(x, y)); }

  void add(const FrontierBound& bound) { polygon_.bounds.push_back(bound); }

  /// Both edges of a corner may be attained, and it alone not: "x + y > 0", of x and y from 0 on. Requires: the bounds
  /// are the edges, in order.
  void leave_out_corners() {
    const std::size_t edges = polygon_.bounds.size();
    for (std::size_t i = 1; i < edges; ++i) {
      const FrontierBound &a = polygon_.bounds[i - 1], &b = polygon_.bounds[i];
      if (!a.attained || !b.attained) continue;
      const LeastValue between = *least(a.x + b.x, a.y + b.y);
      if (!between.attained) add(bound_of(a.x + b.x, a.y + b.y, between));
    }
  }

  /// Either the line between two corners bounds the polygon, or there is another corner beyond it.
  void between(const FrontierCorner& a, const FrontierCorner& b) {
    const Fraction dx = b.x - a.x;
    const Fraction dy = a.y - b.y;
    const Fraction ratio = dy / dx;
    const auto x = static_cast<std::int64_t>(ratio.numerator());
    const auto y = static_cast<std::int64_t>(ratio.denominator());
    const LeastValue beyond = *least(x, y);
    if (beyond.value == Fraction(x) * a.x + Fraction(y) * a.y) {
      add(bound_of(x, y, beyond));
      return;
    }
    // Of an edge with this direction, its left end.
    const Fraction corner_x = space_.least_in_closure(x_, factors(x, y), beyond.value);
    const FrontierCorner corner{corner_x, (beyond.value - Fraction(x) * corner_x) / Fraction(y)};
    between(a, corner);
    polygon_.corners.push_back(corner);
    between(corner, b);
  }

  ParameterSpace space_;
  std::size_t x_;
  std::size_t y_;
  FrontierPolygon polygon_;
};

std::string text_of(const FrontierBound& bound, std::string_view x, std::string_view y) {
  std::string text;
  const auto add = [&](std::int64_t factor, std::string_view name) {
    if (factor == 0) return;
    if (!text.empty()) text += " + ";
    text += factor == 1 ? std::string(name) : fmt::format("{} {}", factor, name);
  };
  add(bound.x, x);
  add(bound.y, y);
  return fmt::format("{} {} {}", text, bound.attained ? ">=" : ">",
                     sim::to_string(sim::Duration::nanoseconds(bound.more_than)));
}

}  // namespace

void Frontier::add(const ParameterSpace& space, std::size_t x, std::size_t y) {
  // Nearly no way says anything new.
  const bool is_known = std::any_of(polygons_.begin(), polygons_.end(), [&](const FrontierPolygon& polygon) {
    return std::none_of(polygon.bounds.begin(), polygon.bounds.end(),
                        [&](const FrontierBound& bound) { return reaches_outside(space, bound, x, y); });
  });
  if (!is_known) insert(Walk(space, x, y)());
}

void Frontier::insert(FrontierPolygon polygon) {
  const bool is_known = std::any_of(polygons_.begin(), polygons_.end(),
                                    [&](const FrontierPolygon& other) { return is_inside(polygon, other); });
  if (is_known) return;
  std::erase_if(polygons_, [&](const FrontierPolygon& other) { return is_inside(other, polygon); });
  const auto place = std::find_if(polygons_.begin(), polygons_.end(),
                                  [&](const FrontierPolygon& other) { return polygon.bounds < other.bounds; });
  polygons_.insert(place, std::move(polygon));
}

void Frontier::merge(const Frontier& other) {
  for (const FrontierPolygon& polygon : other.polygons_) insert(polygon);
}

Frontier Frontier::with_axes() const {
  Frontier result = *this;
  for (const FrontierPolygon& polygon : polygons_) {
    FrontierPolygon closed = polygon;
    std::erase_if(closed.bounds, [&](const FrontierBound& bound) {
      if (!is_from_axis(bound)) return false;
      const bool is_x = bound.x == 0;
      const std::optional<AxisPart> part = part_on_axis(polygon, is_x, true);
      return part && std::any_of(polygons_.begin(), polygons_.end(), [&](const FrontierPolygon& other) {
               const std::optional<AxisPart> others = part_on_axis(other, is_x, false);
               return others &&
                      (others->from != part->from ? others->from < part->from : others->attained || !part->attained);
             });
    });
    if (closed.bounds.size() < polygon.bounds.size()) result.insert(std::move(closed));
  }
  return result;
}

bool Frontier::says_more() const {
  return polygons_.size() > 1 || std::any_of(polygons_.begin(), polygons_.end(), [](const FrontierPolygon& polygon) {
           return polygon.corners.size() > 1 || polygon.bounds.size() > 1;
         });
}

void Frontier::write(std::ostream& out) const {
  const auto number = [&](const Fraction& f) {
    // Corners are read back as they were: 64 bits hold them, or the polygon would not have been printed either.
    out << ' ' << static_cast<std::int64_t>(f.numerator()) << ' ' << static_cast<std::int64_t>(f.denominator());
  };
  out << polygons_.size();
  for (const FrontierPolygon& polygon : polygons_) {
    out << ' ' << polygon.bounds.size() << ' ' << polygon.corners.size();
    for (const FrontierBound& b : polygon.bounds)
      out << ' ' << b.x << ' ' << b.y << ' ' << b.more_than << ' ' << b.attained;
    for (const FrontierCorner& corner : polygon.corners) {
      number(corner.x);
      number(corner.y);
    }
  }
  out << '\n';
}

bool Frontier::read(std::istream& in) {
  constexpr std::size_t kMost = 100'000;
  const auto number = [&] {
    std::int64_t numerator = 0;
    std::int64_t denominator = 0;
    in >> numerator >> denominator;
    if (denominator < 1) in.setstate(std::ios::failbit);
    return in ? Fraction(numerator, denominator) : Fraction();
  };
  std::size_t count = 0;
  in >> count;
  if (count > kMost) return false;
  polygons_.clear();
  for (std::size_t i = 0; i < count && in; ++i) {
    std::size_t bounds = 0;
    std::size_t corners = 0;
    in >> bounds >> corners;
    if (!in || bounds > kMost || corners > kMost) return false;
    FrontierPolygon& polygon = polygons_.emplace_back();
    for (std::size_t b = 0; b < bounds && in; ++b) {
      FrontierBound& bound = polygon.bounds.emplace_back();
      in >> bound.x >> bound.y >> bound.more_than >> bound.attained;
    }
    for (std::size_t c = 0; c < corners && in; ++c) {
      const Fraction x = number();
      polygon.corners.push_back({x, number()});
    }
  }
  return static_cast<bool>(in);
}

std::string to_string(std::span<const FrontierPolygon> polygons, std::string_view x, std::string_view y) {
  std::string text;
  for (const FrontierPolygon& polygon : polygons) {
    if (!text.empty()) text += " or ";
    std::string all;
    for (const FrontierBound& bound : polygon.bounds) all += (all.empty() ? "" : " and ") + text_of(bound, x, y);
    text += all.empty() ? "nothing" : all;
  }
  return text;
}

}  // namespace lockstep::checker
