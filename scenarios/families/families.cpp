#include "scenarios/families/families.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "checker/properties/ownership.hpp"
#include "checker/properties/properties.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/families/closest_witness.hpp"
#include "scenarios/families/family_story.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Verdict;
using sim::Duration;

std::int64_t floor_of_ratio(std::int64_t n, std::int64_t by) { return n / by - (n % by < 0 ? 1 : 0); }

/// The whole nanoseconds around a point for which the bounds hold.
sim::DurationRange interval_of(const FamilyPoint& point, Duration at, sim::DurationRange range) {
  sim::DurationRange interval = range;
  for (const sim::LinearBound& bound : point.bounds) {
    // value + slope * d >= 0, where d is whole.
    const std::int64_t value = bound.value - (bound.strict ? 1 : 0);
    const std::int64_t slope = bound.slope.x;
    if (slope > 0) interval.lo = std::max(interval.lo, at - Duration::nanoseconds(floor_of_ratio(value, slope)));
    if (slope < 0) interval.hi = std::min(interval.hi, at + Duration::nanoseconds(floor_of_ratio(value, -slope)));
  }
  return interval;
}

Duration before_next_millisecond(Duration d) {
  return Duration::milliseconds(d.floor_ms() + 1) - Duration::nanoseconds(1);
}

/// Whether it compares lengths of time with a bound: then no order of moments decides it.
bool is_of_lengths(std::string_view property) {
  return checker::property_named(property).decided_by == checker::DecidedBy::lengths;
}

/// A line through two points, if it is one in whole nanoseconds.
std::optional<LinearTime> line_through(Duration p, Duration at_p, Duration q, Duration at_q) {
  if (p == q) return LinearTime{at_p, 0};
  const std::int64_t rise = (at_q - at_p).count_ns();
  const std::int64_t run = (q - p).count_ns();
  if (rise % run != 0) return std::nullopt;
  return LinearTime{at_p - p * (rise / run), rise / run};
}

/// Who believes at once: a bit for each pair, in the order of their acquires.
std::vector<bool> overlaps_of(const Outcome& outcome) {
  const std::vector<checker::OwnershipInterval> beliefs = beliefs_of(outcome);
  std::vector<bool> pairs;
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) pairs.push_back(do_overlap(beliefs[j], beliefs[i]));
  }
  return pairs;
}

/// What is the same all over a piece.
struct Shown {
  std::vector<FamilyVerdict> verdicts;
  std::vector<bool> overlaps;
  bool is_impossible = false;
  bool operator==(const Shown&) const = default;
};

Shown shown_by(const FamilyPoints::Ran& ran) {
  const auto* outcome = std::get_if<Outcome>(&ran);
  if (outcome == nullptr) return {{}, {}, true};
  return {verdicts_of(*outcome), overlaps_of(*outcome), false};
}

/// A piece before it is put together with its neighbours.
struct Raw {
  Duration from;
  Duration to;
  FamilyPoint point;  ///< at `from`
  Shown shown;
  bool is_exact = true;
  std::vector<FamilyHold> holds;  ///< as long as the story is possible
};

/// Whether a line of one piece goes on in the next. A piece of a single value has no direction of its own, and takes on
/// the other's.
bool goes_on(LinearTime& before, Duration a_from, Duration a_to, const LinearTime& after, Duration b_from,
             Duration b_to) {
  if (a_from == a_to && before.at(a_from) == after.at(a_from)) before = after;
  return before == after || (b_from == b_to && before.at(b_from) == after.at(b_from));
}

/// The same of all that clients believe.
bool go_on(Raw& a, const Raw& b) {
  if (a.holds.size() != b.holds.size()) return false;
  for (std::size_t i = 0; i < a.holds.size(); ++i) {
    FamilyHold& before = a.holds[i];
    const FamilyHold& after = b.holds[i];
    if (before.to.has_value() != after.to.has_value()) return false;
    if (!goes_on(before.from, a.from, a.to, after.from, b.from, b.to)) return false;
    if (before.to && !goes_on(*before.to, a.from, a.to, *after.to, b.from, b.to)) return false;
  }
  return true;
}

/// Whether two neighbours are one.
bool is_continued(const Raw& a, const Raw& b) {
  const Duration step = b.from - a.from;
  return a.is_exact && b.is_exact && a.shown == b.shown &&
         std::equal(a.point.events.begin(), a.point.events.end(), b.point.events.begin(), b.point.events.end(),
                    [&](const PointEvent& x, const PointEvent& y) {
                      return x.id == y.id && x.sent_slope == y.sent_slope && x.at_slope == y.at_slope &&
                             x.sent + step * x.sent_slope.x == y.sent && x.at + step * x.at_slope.x == y.at;
                    });
}

class FamilyMaker {
 public:
  FamilyMaker(const FamilyStory& story, const models::locks::Catalogue& catalogue, const FamilyParameter& parameter,
              const FamilyOptions& options)
      : story_(story), options_(options), points_(story, catalogue, parameter, nullptr, options.mutant) {
    family_.property = story.property;
    family_.parameter = parameter;
  }

  Family operator()() {
    make_raw();
    if (options_.only_margins && !may_have_margin()) return std::move(family_);
    for (std::size_t begin = 0, end = 0; begin < raw_.size(); begin = end) {
      Raw whole = raw_[begin];
      for (end = begin + 1; end < raw_.size() && is_continued(raw_[end - 1], raw_[end]) && go_on(whole, raw_[end]);
           ++end)
        whole.to = raw_[end].to;
      finish(whole);
    }
    add_margins();
    return std::move(family_);
  }

 private:
  /// A margin lies where something is broken here and is not there. What is asked of the pieces later makes a verdict
  /// unknown at most.
  bool may_have_margin() const {
    const auto breaks = [](const Raw& raw, std::size_t property) {
      return property < raw.shown.verdicts.size() && raw.shown.verdicts[property].verdict == Verdict::violated;
    };
    std::size_t properties = 0;
    for (const Raw& raw : raw_) properties = std::max(properties, raw.shown.verdicts.size());
    for (std::size_t i = 0; i < properties; ++i) {
      const auto broken = static_cast<std::size_t>(
          std::count_if(raw_.begin(), raw_.end(), [&](const Raw& raw) { return breaks(raw, i); }));
      if (broken != 0 && broken != raw_.size()) return true;
    }
    return false;
  }

  void stop(std::string why) {
    family_.is_complete = false;
    family_.stopped = std::move(why);
  }

  void make_raw() {
    const sim::DurationRange range = family_.parameter.range;
    for (Duration next = range.lo; next <= range.hi; next = raw_.back().to + Duration::nanoseconds(1)) {
      if (raw_.size() == options_.max_pieces)
        return stop(fmt::format("{} pieces, up to {}", raw_.size(), sim::to_string(raw_.back().to)));
      if (points_.events() > options_.max_events)
        return stop(fmt::format("{} events, up to {}", points_.events(), sim::to_string(raw_.back().to)));
      if (options_.interrupted && options_.interrupted()) return stop("interrupted");
      raw_.push_back(raw_at(next));
    }
  }

  /// Where a run shows what the point says it is the point that is right; else the point that takes instants for
  /// symbolic, as scripts need it.
  Raw raw_at(Duration value) {
    std::optional<Raw> first;
    points_.told_at(value);  // a piece may begin here
    for (const bool explores : points_.worlds()) {
      Raw raw;
      raw.from = value;
      raw.point = points_.at(value, {}, SameOrder::of_history, explores);
      raw.to = interval_of(raw.point, value, {value, family_.parameter.range.hi}).hi;
      raw.is_exact = !raw.point.is_unknown && points_.shows(raw.point, value, {}, value) &&
                     points_.shows(raw.point, value, {}, raw.to);
      if (!first || raw.is_exact) first = std::move(raw);
      if (first->is_exact) break;
    }
    if (!first->is_exact) first->to = std::min(family_.parameter.range.hi, before_next_millisecond(value));
    first->shown = shown_by(points_.run_at(value));
    if (first->is_exact) first->to = last_of_same(value, first->to, first->shown);
    add_holds(*first);
    return *std::move(first);
  }

  /// Properties that compare a length of time with a bound are not decided by any order. Where the ends differ, halving
  /// finds where it changes.
  Duration last_of_same(Duration from, Duration to, const Shown& shown) {
    if (options_.mutant == FamilyMutant::no_confirmation || shown_by(points_.run_at(to)) == shown) return to;
    Duration same = from;
    Duration other = to;
    while (other - same > Duration::nanoseconds(1)) {
      const Duration middle = same + (other - same) / 2;
      (shown_by(points_.run_at(middle)) == shown ? same : other) = middle;
    }
    return same;
  }

  void finish(const Raw& first) {
    FamilyPiece& piece = family_.pieces.emplace_back();
    piece.from = first.from;
    piece.to = first.to;
    piece.is_confirmed = first.is_exact;
    // The borders were asked for already; the middle has not been, and neither has what lies between pieces that were
    // put together.
    const Duration middle = piece.from + (piece.to - piece.from) / 2;
    piece.verdicts = first.shown.verdicts;
    for (const Duration value : {piece.from, middle, piece.to}) {
      if (!piece.is_confirmed || options_.mutant == FamilyMutant::no_confirmation) break;
      piece.is_confirmed =
          points_.shows(first.point, first.from, {}, value) && agrees(piece, shown_by(points_.run_at(value)), first);
    }
    const FamilyPoints::Ran& at_from = points_.told_at(piece.from);
    if (const auto* why = std::get_if<Diagnostic>(&at_from)) {
      piece.impossible = why->message;
      piece.verdicts.clear();
      return;
    }
    const Outcome& low = std::get<Outcome>(at_from);
    add_events(piece, first, low);
    piece.holds = first.holds;
    add_overlaps(piece, low);
  }

  /// What a bound on a length decides may be one thing here and another there: then it is not known.
  static bool agrees(FamilyPiece& piece, const Shown& shown, const Raw& first) {
    if (shown.is_impossible != first.shown.is_impossible || shown.overlaps != first.shown.overlaps) return false;
    for (std::size_t i = 0; i < piece.verdicts.size(); ++i) {
      FamilyVerdict& verdict = piece.verdicts[i];
      if (shown.verdicts[i] == first.shown.verdicts[i]) continue;
      if (!is_of_lengths(verdict.property)) return false;
      verdict.verdict = Verdict::unknown;
    }
    return true;
  }

  void add_events(FamilyPiece& piece, const Raw& raw, const Outcome& low) {
    const std::size_t length = std::min(raw.point.events.size(), story_length(low));
    for (std::size_t i = 0; i < length; ++i) {
      const sim::TraceRecord& record = low.trace.records[i];
      const PointEvent& event = raw.point.events[i];
      const auto form = [&](Duration at, sim::Slope slope) { return LinearTime{at - raw.from * slope.x, slope.x}; };
      piece.events.push_back({.id = record.id,
                              .kind = record.kind,
                              .process = record.process,
                              .from = record.from,
                              .name = record.name,
                              .text = record.text,
                              .is_reply = record.is_reply,
                              .lost = record.lost,
                              .sent = form(event.sent, event.sent_slope),
                              .at = form(event.at, event.at_slope)});
    }
  }

  /// Beliefs change their ends where moments change their order, which they do not within a piece: so each end is a
  /// line through what two runs show.
  void add_holds(Raw& raw) {
    const auto* low = std::get_if<Outcome>(&points_.run_at(raw.from));
    const auto* high = std::get_if<Outcome>(&points_.run_at(raw.is_exact ? raw.to : raw.from));
    if (low == nullptr || high == nullptr) return;
    const std::vector<checker::OwnershipInterval> a = beliefs_of(*low);
    const std::vector<checker::OwnershipInterval> b = beliefs_of(*high);
    const auto form = [&](sim::Instant at_low, sim::Instant at_high) {
      const Duration to = raw.is_exact ? raw.to : raw.from;
      const std::optional<LinearTime> moment = line_through(raw.from, at_low.offset(), to, at_high.offset());
      raw.is_exact = raw.is_exact && moment;
      return moment.value_or(LinearTime{at_low.offset(), 0});
    };
    raw.is_exact = raw.is_exact && a.size() == b.size();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      FamilyHold& hold = raw.holds.emplace_back(
          FamilyHold{a[i].process, std::string(a[i].object), form(a[i].from, b[i].from), std::nullopt});
      if (a[i].to && b[i].to) hold.to = form(*a[i].to, *b[i].to);
    }
  }

  static void add_overlaps(FamilyPiece& piece, const Outcome& low) {
    const std::vector<checker::OwnershipInterval> a = beliefs_of(low);
    for (std::size_t i = 0; i < piece.holds.size(); ++i) {
      for (std::size_t j = 0; j < piece.holds.size(); ++j) {
        const bool is_first =
            a[j].from.offset() < a[i].from.offset() || (a[j].from.offset() == a[i].from.offset() && j < i);
        if (i != j && is_first && do_overlap(a[j], a[i])) add_overlap(piece, a, j, i);
      }
    }
  }

  /// It ends when the first of both does; which that is, is the same all over the piece.
  static void add_overlap(FamilyPiece& piece, const std::vector<checker::OwnershipInterval>& beliefs, std::size_t first,
                          std::size_t second) {
    const std::optional<sim::Instant>& a = beliefs[first].to;
    const std::optional<sim::Instant>& b = beliefs[second].to;
    const bool first_ends = a && (!b || a->offset() <= b->offset());
    piece.overlaps.push_back({beliefs[first].process, beliefs[second].process, piece.holds[second].from,
                              first_ends ? piece.holds[first].to : piece.holds[second].to});
  }

  /// The first piece that breaks it, going away from 0.
  void add_margins() {
    std::vector<const FamilyPiece*> up, down;
    for (const FamilyPiece& piece : family_.pieces) {
      if (piece.to >= Duration::zero()) up.push_back(&piece);
      if (piece.from < Duration::zero()) down.insert(down.begin(), &piece);
    }
    const std::size_t properties = family_.pieces.empty() ? 0 : widest().size();
    for (std::size_t i = 0; i < properties; ++i) {
      add_margin(i, up, true);
      add_margin(i, down, false);
    }
  }

  const std::vector<FamilyVerdict>& widest() const {
    const auto has_more = [](const FamilyPiece& a, const FamilyPiece& b) {
      return a.verdicts.size() < b.verdicts.size();
    };
    return std::max_element(family_.pieces.begin(), family_.pieces.end(), has_more)->verdicts;
  }

  void add_margin(std::size_t property, const std::vector<const FamilyPiece*>& pieces, bool is_upward) {
    const auto breaks = [&](const FamilyPiece* piece) {
      return !piece->verdicts.empty() && piece->verdicts[property].verdict == Verdict::violated;
    };
    const auto first = std::find_if(pieces.begin(), pieces.end(), breaks);
    if (first == pieces.end()) return;
    const Duration nearest = is_upward ? (*first)->from : (*first)->to;
    const Duration nanosecond = Duration::nanoseconds(is_upward ? 1 : -1);
    FamilyMargin margin{(*first)->verdicts[property].property, nearest, std::nullopt, is_upward};
    if (first == pieces.begin()) {
      margin.broken_from = is_upward ? std::max(nearest, Duration::zero()) : std::min(nearest, nanosecond);
    } else {
      margin.kept_up_to = nearest - nanosecond;
    }
    family_.margins.push_back(margin);
  }

  const FamilyStory& story_;
  const FamilyOptions& options_;
  FamilyPoints points_;
  std::vector<Raw> raw_;
  Family family_;
};

bool is_fault_or_clock(const FamilyParameter& parameter) { return parameter.fault.has_value(); }

}  // namespace

Family family_of(const FamilyStory& story, const models::locks::Catalogue& catalogue, const FamilyParameter& parameter,
                 const FamilyOptions& options) {
  return FamilyMaker(story, catalogue, parameter, options)();
}

std::vector<FamilyStory> family_stories(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                        const Exploration* exploration) {
  std::vector<FamilyStory> stories;
  if (std::optional<FamilyStory> told = as_told(scenario)) stories.push_back(*std::move(told));
  if (exploration == nullptr) return stories;
  for (const ExploredProperty& property : exploration->properties) {
    if (property.verdict != Verdict::violated || !property.witness) continue;
    if (property.claim == Claim::none && !property.expected && property.thresholds.empty()) continue;
    std::optional<FamilyStory> shown = as_witnessed(*property.witness, scenario, property.name, catalogue);
    if (!shown) continue;
    const bool is_known = std::any_of(stories.begin(), stories.end(), [&](const FamilyStory& other) {
      return !other.property.empty() && other.beyond == shown->beyond &&
             other.scenario.faults == shown->scenario.faults && other.scenario.clients == shown->scenario.clients &&
             other.scenario.servers == shown->scenario.servers;
    });
    if (!is_known) stories.push_back(*std::move(shown));
  }
  return stories;
}

namespace {

/// All families of one story, links left out where they have no latency of their own.
void add_families(const FamilyStory& story, const std::vector<FamilyParameter>& parameters,
                  const models::locks::Catalogue& catalogue, const FamilyOptions& options, StoryFamilies& all) {
  constexpr std::size_t kPlanes = 3;  // of one story: the first pairs tell most
  for (const FamilyParameter& parameter : parameters)
    all.families.push_back(family_of(story, catalogue, parameter, options));
  std::size_t planes = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    for (std::size_t j = i + 1; j < parameters.size() && planes < kPlanes; ++j, ++planes)
      all.planes.push_back(plane_of(story, catalogue, parameters[i], parameters[j], options));
  }
}

std::vector<FamilyParameter> free_parameters(const FamilyStory& story, const models::locks::Catalogue& catalogue) {
  std::vector<FamilyParameter> parameters = family_parameters(story.scenario, catalogue);
  // The delays of a witness are all its own: there is no one latency behind them.
  if (!story.property.empty())
    std::erase_if(parameters, [](const FamilyParameter& p) { return !is_fault_or_clock(p); });
  return parameters;
}

/// The first threshold that none of the witness's families begins at, though one of them is of its parameter.
const Threshold* missed_threshold(const StoryFamilies& found, const ExploredProperty& property) {
  for (const Threshold& threshold : property.thresholds) {
    const auto is_of_it = [&](const Family& family) { return kind_of(family.parameter) == threshold.parameter; };
    const auto shows = [&](const Family& family) {
      return is_of_it(family) && agrees(family, property.name, threshold);
    };
    if (std::any_of(found.families.begin(), found.families.end(), is_of_it) &&
        std::none_of(found.families.begin(), found.families.end(), shows))
      return &threshold;
  }
  return nullptr;
}

}  // namespace

StoryFamilies families_of(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                          const Exploration* exploration, const FamilyOptions& options) {
  StoryFamilies all;
  sim::DefaultDecisions decisions;
  all.lanes = Deployment(scenario, catalogue, decisions, Deployment::Faults::none).lanes();
  const auto take = [&](StoryFamilies found) {
    std::move(found.families.begin(), found.families.end(), std::back_inserter(all.families));
    std::move(found.planes.begin(), found.planes.end(), std::back_inserter(all.planes));
  };
  for (const FamilyStory& story : family_stories(scenario, catalogue, exploration)) {
    StoryFamilies found;
    add_families(story, free_parameters(story, catalogue), catalogue, options, found);
    const Threshold* missed =
        story.property.empty() ? nullptr : missed_threshold(found, exploration->property(story.property));
    if (missed != nullptr) {
      StoryFamilies closer;
      if (const auto closest = closest_witness(scenario, catalogue, story.property, *missed))
        add_families(*closest, free_parameters(*closest, catalogue), catalogue, options, closer);
      if (!closer.families.empty() && missed_threshold(closer, exploration->property(story.property)) == nullptr)
        found = std::move(closer);
    }
    take(std::move(found));
  }
  return all;
}

}  // namespace lockstep::scenarios
