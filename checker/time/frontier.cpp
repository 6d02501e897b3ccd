#include "checker/time/frontier.hpp"

#include <algorithm>
#include <cassert>
#include <istream>
#include <numeric>
#include <optional>
#include <ostream>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "checker/time/outline.hpp"

namespace lockstep::checker {
namespace {

using Factors = Outline::Factors;
using Face = Outline::Face;

std::int64_t whole(const Fraction& f) {
  assert(f.is_whole());
  return static_cast<std::int64_t>(f.numerator());
}

/// In whole numbers without a common divisor.
FrontierBound bound_of(const Factors& factors, const LeastValue& least) {
  const Fraction scale(least.value.denominator(), 1);
  FrontierBound bound{factors, whole(least.value * scale), least.attained};
  std::int64_t divisor = bound.more_than;
  for (std::int64_t& factor : bound.factors) {
    factor = whole(Fraction(factor) * scale);
    divisor = std::gcd(divisor, factor);
  }
  for (std::int64_t& factor : bound.factors) factor /= divisor;
  bound.more_than /= divisor;
  return bound;
}

/// Of a space that has the parameter of each axis at these numbers.
Factors placed(const Factors& factors, std::span<const std::size_t> numbers, std::size_t dimensions) {
  Factors result(dimensions);
  for (std::size_t i = 0; i < factors.size(); ++i) result[numbers[i]] = factors[i];
  return result;
}

std::vector<std::size_t> numbers_up_to(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

HalfSpace inside(const FrontierBound& bound) { return {-bound.more_than, bound.factors, !bound.attained}; }

/// What is not in the bound's half-space.
HalfSpace outside(const FrontierBound& bound, std::span<const std::size_t> numbers, std::size_t dimensions) {
  HalfSpace half_space{bound.more_than, placed(bound.factors, numbers, dimensions), bound.attained};
  for (std::int64_t& factor : half_space.coefficients) factor = -factor;
  return half_space;
}

bool reaches_outside(const ParameterSpace& space, const FrontierBound& bound, std::span<const std::size_t> numbers) {
  ParameterSpace rest = space;
  rest.require(outside(bound, numbers, space.dimensions()));
  return !rest.is_empty();
}

/// The only parameter that it is about; nothing: it is about several.
std::optional<std::size_t> only_axis(const FrontierBound& bound) {
  std::optional<std::size_t> only;
  for (std::size_t i = 0; i < bound.factors.size(); ++i) {
    if (bound.factors[i] == 0) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

/// All that the axes allow, upward without an end.
Outline outline_of(std::span<const FrontierAxis> axes) {
  std::vector<Fraction> least;
  for (const FrontierAxis& axis : axes) least.emplace_back(axis.range.lo.count_ns());
  Outline outline(least);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].is_upward) outline.cut(Outline::unit(i, axes.size(), -1), Fraction(-axes[i].range.hi.count_ns()));
  }
  return outline;
}

/// The piece of a space.
class Projection {
 public:
  Projection(const ParameterSpace& space, std::span<const std::size_t> numbers, std::span<const FrontierAxis> axes)
      : space_(space), numbers_(numbers), axes_(axes), outline_(outline_of(axes)) {}

  FrontierPiece operator()() {
    cut_to_closure();
    find_facets();
    leave_out_faces();
    piece_.corners = outline_.corners();
    return std::move(piece_);
  }

 private:
  LeastValue least(const Factors& factors) { return *space_.least(placed(factors, numbers_, space_.dimensions())); }

  /// Each corner is a point of the closure, or something is to be cut off there. That ends: there are only so many
  /// functions that tell points apart from it, and none is found twice.
  void cut_to_closure() {
    for (;;) {
      const std::span<Outline::Generator> all = outline_.generators();
      const auto open = std::find_if(all.begin(), all.end(), [](const Outline::Generator& generator) {
        return !generator.is_direction && !generator.is_confirmed;
      });
      if (open == all.end()) return;
      if (const auto factors = space_.separation(numbers_, open->at))
        outline_.cut(*factors, least(*factors).value);
      else
        open->is_confirmed = true;
    }
  }

  /// The faces that are in no other. A restart that takes one time alone makes the piece flat: then what another bound
  /// says of it is a constant.
  void find_facets() {
    std::vector<Face> faces;
    std::vector<bool> is_flat(axes_.size());
    for (std::size_t plane = 0; plane < outline_.planes().size(); ++plane) {
      faces.push_back(outline_.on_plane(plane));
      if (std::find(faces.back().begin(), faces.back().end(), false) != faces.back().end()) continue;
      const Factors& factors = outline_.planes()[plane];
      for (std::size_t i = 0; i < axes_.size(); ++i) is_flat[i] = is_flat[i] || factors[i] != 0;
      faces.back().clear();
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (!is_flat[i]) continue;
      for (const std::int64_t sign : {1, -1}) add(Outline::unit(i, axes_.size(), sign));
    }
    flat_bounds_ = piece_.bounds.size();
    for (std::size_t plane = 0; plane < faces.size(); ++plane) {
      const Face& face = faces[plane];
      if (face.empty() || !outline_.has_corner(face)) continue;
      const bool is_in_another = std::any_of(faces.begin(), faces.end(), [&](const Face& other) {
        return !other.empty() && other != face && Outline::is_part(face, other);
      });
      if (is_in_another || std::find(facets_.begin(), facets_.end(), face) != facets_.end()) continue;
      facets_.push_back(face);
      Factors factors = outline_.planes()[plane];
      for (std::size_t i = 0; i < axes_.size(); ++i) factors[i] = is_flat[i] ? 0 : factors[i];
      add(factors);
    }
  }

  void add(const Factors& factors) { piece_.bounds.push_back(bound_of(factors, least(factors))); }

  const FrontierBound& bound_of_facet(std::size_t facet) const { return piece_.bounds[flat_bounds_ + facet]; }

  /// All facets at a face may be attained, and it alone not: "x + y > 0", of x and y from 0 on. If a face is not, those
  /// within it are not either.
  void leave_out_faces() {
    std::vector<Face> faces = facets_;
    for (std::size_t i = 0; i < faces.size(); ++i) {
      for (const Face& facet : facets_) {
        Face face = Outline::common(faces[i], facet);
        if (outline_.has_corner(face) && std::find(faces.begin(), faces.end(), face) == faces.end())
          faces.push_back(std::move(face));
      }
    }
    faces.erase(faces.begin(), faces.begin() + static_cast<std::ptrdiff_t>(facets_.size()));
    // What is part of another has fewer generators.
    std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
      const auto of_a = std::count(a.begin(), a.end(), true), of_b = std::count(b.begin(), b.end(), true);
      return of_a != of_b ? of_a > of_b : a < b;
    });
    std::vector<Face> left_out;
    for (const Face& face : faces) {
      const auto holds_it = [&](const Face& other) { return Outline::is_part(face, other); };
      if (std::any_of(left_out.begin(), left_out.end(), holds_it)) continue;
      Factors sum(axes_.size());
      bool is_attained = true;
      for (std::size_t facet = 0; facet < facets_.size(); ++facet) {
        if (!holds_it(facets_[facet])) continue;
        is_attained = is_attained && bound_of_facet(facet).attained;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += bound_of_facet(facet).factors[i];
      }
      if (!is_attained) continue;
      const LeastValue value = least(sum);
      if (value.attained) continue;
      left_out.push_back(face);
      piece_.bounds.push_back(bound_of(sum, value));
    }
  }

  ParameterSpace space_;
  std::span<const std::size_t> numbers_;
  std::span<const FrontierAxis> axes_;
  Outline outline_;
  std::vector<Face> facets_;     ///< in the order of their bounds
  std::size_t flat_bounds_ = 0;  ///< bounds before those of the facets
  FrontierPiece piece_;
};

using Terms = std::vector<std::pair<std::string_view, std::int64_t>>;

/// By name: so that the order of a file's tables makes no difference.
Terms by_name(const FrontierBound& bound, std::span<const FrontierAxis> axes) {
  Terms terms;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (bound.factors[i] != 0) terms.emplace_back(axes[i].name, bound.factors[i]);
  }
  std::sort(terms.begin(), terms.end());
  return terms;
}

std::vector<std::tuple<Terms, std::int64_t, bool>> by_name(const FrontierPiece& piece,
                                                           std::span<const FrontierAxis> axes) {
  std::vector<std::tuple<Terms, std::int64_t, bool>> bounds;
  for (const FrontierBound& bound : piece.bounds)
    bounds.emplace_back(by_name(bound, axes), bound.more_than, bound.attained);
  std::sort(bounds.begin(), bounds.end());
  return bounds;
}

std::string text_of(const FrontierBound& bound, std::span<const FrontierAxis> axes) {
  // "skew < -3ms", where no factor is positive.
  const bool is_turned =
      std::none_of(bound.factors.begin(), bound.factors.end(), [](std::int64_t factor) { return factor > 0; });
  std::string text;
  for (const std::int64_t sign : {1, -1}) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t factor = bound.factors[i] * sign;
      if (factor <= 0) continue;
      if (!text.empty()) text += sign > 0 || is_turned ? " + " : " - ";
      text += factor == 1 ? axes[i].name : fmt::format("{} {}", factor, axes[i].name);
    }
  }
  return fmt::format("{} {}{} {}", text, is_turned ? "<" : ">", bound.attained ? "=" : "",
                     sim::to_string(sim::Duration::nanoseconds(is_turned ? -bound.more_than : bound.more_than)));
}

}  // namespace

void Frontier::add(const ParameterSpace& space, std::span<const std::size_t> numbers) {
  // Nearly no way says anything new.
  const bool is_known = std::any_of(pieces_.begin(), pieces_.end(), [&](const FrontierPiece& piece) {
    return std::none_of(piece.bounds.begin(), piece.bounds.end(),
                        [&](const FrontierBound& bound) { return reaches_outside(space, bound, numbers); });
  });
  if (is_known) return;
  FrontierPiece piece = Projection(space, numbers, axes_)();
  std::erase_if(piece.bounds, [&](const FrontierBound& bound) { return is_trivial(bound); });
  std::sort(piece.bounds.begin(), piece.bounds.end());
  insert(std::move(piece));
}

/// From 0 on is no bound.
bool Frontier::is_trivial(const FrontierBound& bound) const {
  const std::optional<std::size_t> axis = only_axis(bound);
  if (!axis || !bound.attained) return false;
  const sim::DurationRange& range = axes_[*axis].range;
  const std::int64_t factor = bound.factors[*axis];
  return bound.more_than == factor * (factor > 0 ? range.lo : range.hi).count_ns();
}

ParameterSpace Frontier::space_of(const FrontierPiece& piece) const {
  std::vector<sim::DurationRange> ranges;
  for (const FrontierAxis& axis : axes_) ranges.push_back(axis.range);
  ParameterSpace space(DifferenceConstraints(), {}, ranges);
  for (const FrontierBound& bound : piece.bounds) space.require(inside(bound));
  return space;
}

bool Frontier::is_inside(const FrontierPiece& piece, const FrontierPiece& other) const {
  const ParameterSpace space = space_of(piece);
  const std::vector<std::size_t> numbers = numbers_up_to(axes_.size());
  return std::none_of(other.bounds.begin(), other.bounds.end(),
                      [&](const FrontierBound& bound) { return reaches_outside(space, bound, numbers); });
}

void Frontier::insert(FrontierPiece piece) {
  const bool is_known =
      std::any_of(pieces_.begin(), pieces_.end(), [&](const FrontierPiece& other) { return is_inside(piece, other); });
  if (is_known) return;
  std::erase_if(pieces_, [&](const FrontierPiece& other) { return is_inside(other, piece); });
  const auto place = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&](const FrontierPiece& other) { return piece.bounds < other.bounds; });
  pieces_.insert(place, std::move(piece));
}

void Frontier::merge(const Frontier& other) {
  for (const FrontierPiece& piece : other.pieces_) insert(piece);
}

bool Frontier::covers(const Frontier& other) const {
  return std::all_of(other.pieces_.begin(), other.pieces_.end(), [&](const FrontierPiece& piece) {
    return std::any_of(pieces_.begin(), pieces_.end(), [&](const FrontierPiece& own) { return is_inside(piece, own); });
  });
}

Frontier Frontier::with_axes() const {
  Frontier result = *this;
  for (bool is_new = true; is_new;) {
    const Frontier before = result;
    for (const FrontierPiece& piece : before.pieces_) {
      for (const FrontierBound& bound : piece.bounds) {
        const std::optional<std::size_t> axis = only_axis(bound);
        // "y > 0ms": a fault of no length is none, so that what needs one begins beside the axis.
        if (!axis || !axes_[*axis].is_upward || bound.attained || bound.more_than != 0) continue;
        FrontierPiece closed = piece;
        std::erase(closed.bounds, bound);
        FrontierPiece on_axis = closed;
        FrontierBound& none = on_axis.bounds.emplace_back(bound);
        none.factors[*axis] = -none.factors[*axis];
        none.attained = true;
        const bool meets_another = std::any_of(before.pieces_.begin(), before.pieces_.end(),
                                               [&](const FrontierPiece& other) { return is_inside(on_axis, other); });
        if (meets_another) result.insert(std::move(closed));
      }
    }
    is_new = result.pieces_ != before.pieces_;
  }
  return result;
}

/// Whether all of the space is in some of these pieces: in the first, or, beyond each of its bounds, in the others.
bool Frontier::is_covered(ParameterSpace space, std::span<const FrontierPiece> pieces) {
  if (space.is_empty()) return true;
  if (pieces.empty()) return false;
  const std::vector<std::size_t> numbers = numbers_up_to(space.dimensions());
  for (const FrontierBound& bound : pieces.front().bounds) {
    ParameterSpace beyond = space;
    beyond.require(outside(bound, numbers, space.dimensions()));
    if (!is_covered(std::move(beyond), pieces.subspan(1))) return false;
    space.require(inside(bound));
  }
  return true;
}

Frontier Frontier::simplified() const {
  constexpr std::size_t kMost = 12;
  Frontier result = *this;
  for (bool is_new = true; is_new;) {
    const Frontier before = result;
    // Nobody reads so many, and how long it takes grows with all that they can be divided into.
    if (before.pieces_.size() > kMost) return *this;
    for (const FrontierPiece& piece : before.pieces_) {
      for (const FrontierBound& bound : piece.bounds) {
        FrontierPiece wider = piece;
        std::erase(wider.bounds, bound);
        ParameterSpace gained = space_of(wider);
        gained.require(outside(bound, numbers_up_to(axes_.size()), axes_.size()));
        if (!is_covered(std::move(gained), before.pieces_)) continue;
        Outline outline = outline_of(axes_);
        for (const FrontierBound& b : wider.bounds) outline.cut(b.factors, Fraction(b.more_than));
        wider.corners = outline.corners();
        result.insert(std::move(wider));
      }
    }
    is_new = result.pieces_ != before.pieces_;
  }
  // What the others have together, those of many bounds first.
  std::vector<FrontierPiece> by_size = result.pieces_;
  std::sort(by_size.begin(), by_size.end(), [&](const FrontierPiece& a, const FrontierPiece& b) {
    return a.bounds.size() != b.bounds.size() ? a.bounds.size() > b.bounds.size()
                                              : by_name(a, axes_) < by_name(b, axes_);
  });
  for (const FrontierPiece& piece : by_size) {
    std::vector<FrontierPiece> others = result.pieces_;
    std::erase(others, piece);
    if (is_covered(space_of(piece), others)) result.pieces_ = std::move(others);
  }
  return result;
}

Frontier Frontier::within(std::span<const sim::DurationRange> ranges) const {
  Frontier result(axes_);
  for (std::size_t i = 0; i < axes_.size(); ++i) result.axes_[i].range = ranges[i];
  for (FrontierPiece piece : pieces_) {
    if (result.space_of(piece).is_empty()) continue;
    // Where several could be left out for each other, those of many parameters.
    std::sort(piece.bounds.begin(), piece.bounds.end(), [&](const FrontierBound& a, const FrontierBound& b) {
      const auto x = by_name(a, axes_), y = by_name(b, axes_);
      return x.size() != y.size() ? x.size() > y.size() : std::tie(x, a) < std::tie(y, b);
    });
    for (std::size_t i = 0; i < piece.bounds.size();) {
      FrontierPiece others = piece;
      others.bounds.erase(others.bounds.begin() + static_cast<std::ptrdiff_t>(i));
      if (result.is_inside(others, {{piece.bounds[i]}, {}}))
        piece.bounds = std::move(others.bounds);
      else
        ++i;
    }
    std::sort(piece.bounds.begin(), piece.bounds.end());
    result.insert(std::move(piece));
  }
  return result;
}

Frontier together(std::span<const Frontier> sides) {
  Frontier result(sides.front().axes_);
  for (std::size_t i = 0; i < result.axes_.size(); ++i) {
    FrontierAxis& all = result.axes_[i];
    for (const Frontier& side : sides) {
      const FrontierAxis& axis = side.axes_[i];
      const sim::DurationRange range = axis.is_below ? sim::DurationRange{-axis.range.hi, -axis.range.lo} : axis.range;
      all.range = &side == &sides.front()
                      ? range
                      : sim::DurationRange{std::min(all.range.lo, range.lo), std::max(all.range.hi, range.hi)};
    }
    all.is_upward = all.is_upward && all.range.lo >= sim::Duration::zero();
    all.is_below = false;
  }
  for (const Frontier& side : sides) {
    for (FrontierPiece piece : side.pieces_) {
      for (std::size_t i = 0; i < side.axes_.size(); ++i) {
        if (!side.axes_[i].is_below) continue;
        for (FrontierBound& bound : piece.bounds) bound.factors[i] = -bound.factors[i];
        for (FrontierCorner& corner : piece.corners) corner[i] = -corner[i];
      }
      std::sort(piece.bounds.begin(), piece.bounds.end());
      std::sort(piece.corners.begin(), piece.corners.end());
      result.insert(std::move(piece));
    }
  }
  return result;
}

bool Frontier::is_plane() const {
  return axes_.size() == 2 &&
         std::all_of(axes_.begin(), axes_.end(), [](const FrontierAxis& axis) { return axis.is_upward; });
}

bool Frontier::says_more() const {
  std::vector<bool> is_named(axes_.size());
  for (const FrontierPiece& piece : pieces_) {
    for (const FrontierBound& bound : piece.bounds) {
      for (std::size_t i = 0; i < axes_.size(); ++i) is_named[i] = is_named[i] || bound.factors[i] != 0;
    }
  }
  return std::count(is_named.begin(), is_named.end(), true) > 1;
}

void Frontier::write(std::ostream& out) const {
  const auto number = [&](const Fraction& f) {
    // Corners are read back as they were: 64 bits hold them, or the piece would not have been printed either.
    out << ' ' << static_cast<std::int64_t>(f.numerator()) << ' ' << static_cast<std::int64_t>(f.denominator());
  };
  out << pieces_.size();
  for (const FrontierPiece& piece : pieces_) {
    out << ' ' << piece.bounds.size() << ' ' << piece.corners.size();
    for (const FrontierBound& b : piece.bounds) {
      for (const std::int64_t factor : b.factors) out << ' ' << factor;
      out << ' ' << b.more_than << ' ' << b.attained;
    }
    for (const FrontierCorner& corner : piece.corners) {
      for (const Fraction& value : corner) number(value);
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
  pieces_.clear();
  for (std::size_t i = 0; i < count && in; ++i) {
    std::size_t bounds = 0;
    std::size_t corners = 0;
    in >> bounds >> corners;
    if (!in || bounds > kMost || corners > kMost) return false;
    FrontierPiece& piece = pieces_.emplace_back();
    for (std::size_t b = 0; b < bounds && in; ++b) {
      FrontierBound& bound = piece.bounds.emplace_back();
      bound.factors.resize(axes_.size());
      for (std::int64_t& factor : bound.factors) in >> factor;
      in >> bound.more_than >> bound.attained;
    }
    for (std::size_t c = 0; c < corners && in; ++c) {
      FrontierCorner& corner = piece.corners.emplace_back();
      for (std::size_t a = 0; a < axes_.size(); ++a) corner.push_back(number());
    }
  }
  return static_cast<bool>(in);
}

std::string to_string(const Frontier& frontier) {
  std::string text;
  for (const FrontierPiece& piece : frontier.pieces()) {
    if (!text.empty()) text += " or ";
    std::string all;
    for (const FrontierBound& bound : piece.bounds)
      all += (all.empty() ? "" : " and ") + text_of(bound, frontier.axes());
    text += all.empty() ? "nothing" : all;
  }
  return text;
}

std::string to_string(const Fraction& ns) {
  if (ns.is_whole()) return sim::to_string(sim::Duration::nanoseconds(whole(ns)));
  return fmt::format("{}/{}ns", static_cast<std::int64_t>(ns.numerator()), static_cast<std::int64_t>(ns.denominator()));
}

}  // namespace lockstep::checker
