// Two lengths at once: convex regions of the plane, each with what happens in it.

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "scenarios/families/families.hpp"
#include "scenarios/families/family_story.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Fraction;
using sim::Duration;
using Corner = FamilyRegion::Corner;

/// a * x + b * y + c >= 0, or > 0 if strict; in nanoseconds.
struct HalfPlane {
  std::int64_t a = 0;
  std::int64_t b = 0;
  __int128 c = 0;
  bool strict = false;

  /// At a point in whole nanoseconds.
  bool holds(Duration x, Duration y) const {
    const __int128 value = __int128{a} * x.count_ns() + __int128{b} * y.count_ns() + c;
    return strict ? value > 0 : value >= 0;
  }
  Fraction at(const Corner& corner) const { return Fraction(a) * corner.x + Fraction(b) * corner.y + Fraction(c, 1); }
};

HalfPlane half_plane(const sim::LinearBound& bound, Duration x, Duration y) {
  const __int128 c =
      __int128{bound.value} - __int128{bound.slope.x} * x.count_ns() - __int128{bound.slope.y} * y.count_ns();
  return {bound.slope.x, bound.slope.y, c, bound.strict};
}

Corner crossing(const HalfPlane& plane, const Corner& in, const Corner& out) {
  const Fraction from = plane.at(in);
  const Fraction part = from / (from - plane.at(out));
  return {in.x + (out.x - in.x) * part, in.y + (out.y - in.y) * part};
}

/// What of a convex polygon lies on the one side (Sutherland and Hodgman 1974).
std::vector<Corner> cut(const std::vector<Corner>& polygon, const HalfPlane& plane) {
  std::vector<Corner> rest;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner& now = polygon[i];
    const Corner& next = polygon[(i + 1) % polygon.size()];
    const int here = plane.at(now).sign();
    const int there = plane.at(next).sign();
    if (here >= 0) rest.push_back(now);
    if ((here > 0 && there < 0) || (here < 0 && there > 0))
      rest.push_back(here > 0 ? crossing(plane, now, next) : crossing(plane, next, now));
  }
  rest.erase(std::unique(rest.begin(), rest.end()), rest.end());
  while (rest.size() > 1 && rest.front() == rest.back()) rest.pop_back();
  return rest;
}

/// Twice its area.
Fraction area_of(const std::vector<Corner>& polygon) {
  Fraction sum;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner& a = polygon[i];
    const Corner& b = polygon[(i + 1) % polygon.size()];
    sum += a.x * b.y - b.x * a.y;
  }
  return sum;
}

std::int64_t rounded(const Fraction& f) {
  const Fraction::Integer n = f.numerator() * 2 + f.denominator();
  const Fraction::Integer d = f.denominator() * 2;
  return static_cast<std::int64_t>(n / d - (n % d < 0 ? 1 : 0));
}

struct PlanePoint {
  Duration x;
  Duration y;
};

class PlaneMaker {
 public:
  PlaneMaker(const FamilyStory& story, const models::locks::Catalogue& catalogue, const FamilyParameter& x,
             const FamilyParameter& y, const FamilyOptions& options)
      : options_(options), points_(story, catalogue, x, &y, options.mutant) {
    plane_.property = story.property;
    plane_.x = x;
    plane_.y = y;
  }

  FamilyPlane operator()() {
    const sim::DurationRange& x = plane_.x.range;
    const sim::DurationRange& y = plane_.y.range;
    const auto corner = [](Duration at_x, Duration at_y) {
      return Corner{Fraction(at_x.count_ns()), Fraction(at_y.count_ns())};
    };
    whole_ = {corner(x.lo, y.lo), corner(x.hi, y.lo), corner(x.hi, y.hi), corner(x.lo, y.hi)};
    open_.push_back({plane_.x.value, plane_.y.value});
    while (!open_.empty()) {
      if (plane_.regions.size() == options_.max_regions)
        return stopped(fmt::format("{} regions", plane_.regions.size()));
      if (points_.events() > options_.max_events) return stopped(fmt::format("{} events", points_.events()));
      if (options_.interrupted && options_.interrupted()) return stopped("interrupted");
      const PlanePoint next = open_.front();
      open_.pop_front();
      if (!is_covered(next)) add_region(next);
    }
    // No part is overlooked exactly if the areas add up to that of the whole.
    Fraction covered;
    for (const FamilyRegion& region : plane_.regions) covered += area_of(region.corners);
    if (covered != area_of(whole_)) return stopped("a sliver of less than some nanoseconds is left");
    return std::move(plane_);
  }

 private:
  FamilyPlane stopped(std::string why) {
    plane_.is_complete = false;
    plane_.stopped = std::move(why);
    return std::move(plane_);
  }

  bool is_covered(PlanePoint point) const {
    return std::any_of(sides_.begin(), sides_.end(), [&](const std::vector<HalfPlane>& sides) {
      return std::all_of(sides.begin(), sides.end(),
                         [&](const HalfPlane& side) { return side.holds(point.x, point.y); });
    });
  }

  void add_region(PlanePoint at) {
    FamilyPoint point;
    bool is_shown = false;
    for (const bool explores : points_.worlds()) {
      point = points_.at(at.x, at.y, SameOrder::of_beliefs, explores);
      is_shown = !point.is_unknown && points_.shows(point, at.x, at.y, at.x, at.y);
      if (is_shown) break;
    }
    std::vector<HalfPlane> sides;
    std::vector<Corner> corners = whole_;
    for (const sim::LinearBound& bound : point.bounds) {
      sides.push_back(half_plane(bound, at.x, at.y));
      corners = cut(corners, sides.back());
    }
    sides_.push_back(sides);
    // A point, or a line, where moments come together: what lies to its sides is found from other regions, or from
    // beside it.
    if (corners.size() < 3 || area_of(corners).sign() <= 0) return leave(at);
    FamilyRegion& region = plane_.regions.emplace_back();
    region.x = at.x;
    region.y = at.y;
    region.corners = corners;
    region.is_confirmed = is_shown && are_shown(point, at, sides, corners);
    const FamilyPoints::Ran& ran = points_.run_at(at.x, at.y);
    if (const auto* outcome = std::get_if<Outcome>(&ran)) {
      region.verdicts = verdicts_of(*outcome);
      for (const PointEvent& event : point.events) region.digest = sim::combine64(region.digest, event.id.value);
      tell(region, point, *outcome);
    } else {
      region.impossible = std::get<Diagnostic>(ran).message;
    }
    cross(sides, corners);
  }

  /// Nothing: the run at the point shows another moment.
  static std::optional<PointMoment> if_at(const std::optional<PointMoment>& moment, sim::Instant at) {
    return moment && moment->at == at.offset() ? moment : std::nullopt;
  }
  static std::optional<PointMoment> begin_of(const checker::OwnershipInterval& belief, const FamilyPoint& point) {
    if (belief.acquire == 0 || belief.acquire > point.operations.size()) return std::nullopt;
    return if_at(point.operations[belief.acquire - 1].completed, belief.from);
  }
  /// What ended it, as the history has it: a release, the news that it is lost, a crash, a deadline, or the end of the
  /// pause in which that passed.
  static std::optional<PointMoment> end_of(const checker::OwnershipInterval& belief, const FamilyPoint& point,
                                           const Outcome& outcome) {
    if (!belief.to) return std::nullopt;
    // The point has no probe: what it has is the beginning of what the run has.
    const std::span operations(outcome.history.operations.data(),
                               std::min(outcome.history.operations.size(), point.operations.size()));
    const std::span interruptions(outcome.history.interruptions.data(),
                                  std::min(outcome.history.interruptions.size(), point.interruptions.size()));
    if (belief.acquire == 0 || belief.acquire > operations.size()) return std::nullopt;
    using End = checker::BeliefEnd;
    const bool by_itself = belief.end == End::deadline;
    if (by_itself) {
      if (const auto deadline = if_at(point.operations[belief.acquire - 1].valid_until, *belief.to)) return deadline;
    }
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const std::string_view ends = belief.end == End::released ? "release" : belief.end == End::lost ? "lost" : "";
      if (operations[i].of != belief.acquire || operations[i].function != ends) continue;
      return if_at(point.operations[i].invoked, *belief.to);
    }
    for (std::size_t i = 0; i < interruptions.size(); ++i) {
      const bool is_crash = kills(interruptions[i].kind);
      if (interruptions[i].process != belief.process || is_crash == by_itself) continue;
      const PointInterruption& told = point.interruptions[i];
      if (const auto moment = if_at(is_crash ? std::optional(told.from) : told.until, *belief.to)) return moment;
    }
    return std::nullopt;
  }

  /// What happens there, for all of the region.
  static void tell(FamilyRegion& region, const FamilyPoint& point, const Outcome& outcome) {
    const auto form = [&](Duration at, sim::Slope slope) {
      return PlaneTime{at - region.x * slope.x - region.y * slope.y, slope.x, slope.y};
    };
    const std::size_t length = std::min(point.events.size(), story_length(outcome));
    for (std::size_t i = 0; i < length; ++i) {
      const sim::TraceRecord& record = outcome.trace.records[i];
      const PointEvent& event = point.events[i];
      if (record.kind != sim::EventKind::message || event.id != record.id) continue;
      region.messages.push_back({record.from, record.process, record.name, record.is_reply, record.lost,
                                 form(event.sent, event.sent_slope), form(event.at, event.at_slope)});
    }
    // Who believes at once is the same all over the region: the order of all that begins and ends a belief is.
    const std::vector<checker::OwnershipInterval> beliefs = beliefs_of(outcome);
    for (const checker::OwnershipInterval& belief : beliefs) {
      const std::optional<PointMoment> from = begin_of(belief, point);
      const std::optional<PointMoment> to = end_of(belief, point, outcome);
      region.is_confirmed = region.is_confirmed && from && to.has_value() == belief.to.has_value();
      PlaneHold& hold = region.holds.emplace_back(
          PlaneHold{belief.process, form(belief.from.offset(), from ? from->slope : sim::Slope{}), std::nullopt});
      if (belief.to) hold.to = form(belief.to->offset(), to ? to->slope : sim::Slope{});
    }
    for (std::size_t i = 0; i < beliefs.size(); ++i) {
      for (std::size_t j = 0; j < beliefs.size(); ++j) {
        const bool is_first = std::pair(beliefs[j].from.offset(), j) < std::pair(beliefs[i].from.offset(), i);
        if (i == j || !is_first || !do_overlap(beliefs[j], beliefs[i])) continue;
        const auto &a = beliefs[j].to, &b = beliefs[i].to;
        const bool first_ends = a && (!b || a->offset() <= b->offset());
        region.overlaps.push_back({beliefs[j].process, beliefs[i].process, region.holds[i].from,
                                   first_ends ? region.holds[j].to : region.holds[i].to});
      }
    }
  }

  /// The whole nanoseconds next to the middle between the middle and each corner, as far as they lie within.
  bool are_shown(const FamilyPoint& point, PlanePoint at, const std::vector<HalfPlane>& sides,
                 const std::vector<Corner>& corners) {
    return std::all_of(corners.begin(), corners.end(), [&](const Corner& corner) {
      const Duration x = Duration::nanoseconds(rounded((corner.x + Fraction(at.x.count_ns())) / Fraction(2)));
      const Duration y = Duration::nanoseconds(rounded((corner.y + Fraction(at.y.count_ns())) / Fraction(2)));
      const bool is_within =
          std::all_of(sides.begin(), sides.end(), [&](const HalfPlane& side) { return side.holds(x, y); });
      return !is_within || points_.shows(point, at.x, at.y, x, y);
    });
  }

  void leave(PlanePoint at) {
    for (const auto& [x, y] : {std::pair(1, 2), std::pair(-1, -2), std::pair(2, -1), std::pair(-2, 1)})
      open(at.x + Duration::nanoseconds(x), at.y + Duration::nanoseconds(y));
  }

  void open(Duration x, Duration y) {
    const auto is_in = [](sim::DurationRange range, Duration d) { return range.lo <= d && d <= range.hi; };
    if (is_in(plane_.x.range, x) && is_in(plane_.y.range, y)) open_.push_back({x, y});
  }

  /// On the other side of each border, close to its middle and to its ends.
  void cross(const std::vector<HalfPlane>& sides, const std::vector<Corner>& corners) {
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Corner& a = corners[i];
      const Corner& b = corners[(i + 1) % corners.size()];
      const auto side = std::find_if(sides.begin(), sides.end(), [&](const HalfPlane& one) {
        return one.at(a).sign() == 0 && one.at(b).sign() == 0;
      });
      if (side == sides.end()) continue;
      for (const std::int64_t part : {4, 1, 7}) {
        const Fraction share(part, 8);
        const Duration x = Duration::nanoseconds(rounded(a.x + (b.x - a.x) * share));
        const Duration y = Duration::nanoseconds(rounded(a.y + (b.y - a.y) * share));
        for (std::int64_t far = 0; far <= 4; ++far) {
          const auto step = [&](std::int64_t slope) {
            return Duration::nanoseconds(slope > 0 ? -far : slope < 0 ? far : 0);
          };
          if (side->holds(x + step(side->a), y + step(side->b))) continue;
          open(x + step(side->a), y + step(side->b));
          break;
        }
      }
    }
  }

  const FamilyOptions& options_;
  FamilyPoints points_;
  std::vector<Corner> whole_;
  std::vector<std::vector<HalfPlane>> sides_;  ///< of all regions, those without area included
  std::deque<PlanePoint> open_;
  FamilyPlane plane_;
};

}  // namespace

FamilyPlane plane_of(const FamilyStory& story, const models::locks::Catalogue& catalogue, const FamilyParameter& x,
                     const FamilyParameter& y, const FamilyOptions& options) {
  return PlaneMaker(story, catalogue, x, y, options)();
}

}  // namespace lockstep::scenarios
