#include "scenarios/checking/formula.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "checker/time/fraction.hpp"
#include "scenarios/checking/lengths.hpp"
#include "scenarios/checking/margins.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Extent;
using checker::Fraction;
using checker::Verdict;
using sim::Duration;
using Kind = StoryLength::Kind;

/// So far beyond a border a run shows the violation, in whole nanoseconds.
constexpr Duration kApart = Duration::nanoseconds(3);
constexpr Duration kMillisecond = Duration::milliseconds(1);

Fraction fraction(Duration duration) { return Fraction(duration.count_ns()); }

bool is_near(const Fraction& off) { return Fraction(-2) < off && off < Fraction(2); }

/// Ended by a bound, or by what is no margin.
struct Gone {};

/// The searches for one property of one story, and what they have cost.
class Asked {
 public:
  Asked(const models::locks::Catalogue& catalogue, std::string_view property, const FormulaOptions& options)
      : catalogue_(catalogue), property_(property), options_(options), how_(options.exploration) {
    how_.asks = [this](std::string_view name) { return name == property_; };
    how_.save = nullptr, how_.resume_from.clear(), how_.progress = nullptr;
    how_.max_traces = 0;
  }

  /// By a bound.
  bool has_ended() const { return has_ended_; }

  /// What came of it. Throws `Gone` where it is not known.
  ExploredProperty operator()(const Scenario& story, std::string_view parameter) {
    has_ended_ = has_ended_ || events_ >= options_.max_events;
    if (has_ended_) throw Gone();
    how_.parameter = parameter;
    how_.max_events = options_.max_events - events_;
    auto found = explore(story, catalogue_, how_);
    auto* exploration = std::get_if<Exploration>(&found);
    if (exploration == nullptr) throw Gone();  // these figures are no story that can be explored; others may be
    has_ended_ = !exploration->counts.complete;
    if (has_ended_) throw Gone();
    events_ += exploration->counts.events;
    confirm_margins(story, catalogue_, how_, *exploration);
    return exploration->property(property_);
  }

 private:
  const models::locks::Catalogue& catalogue_;
  std::string_view property_;
  const FormulaOptions& options_;
  ExplorationOptions how_;
  std::uint64_t events_ = 0;
  bool has_ended_ = false;
};

/// Where the property begins to break, as one length grows: a fault's, by its exact margin; how long clients work, and
/// by how much a client's clock jumps, by halving.
class Margin {
 public:
  Margin(Asked& ask, const StoryLength& length, Duration far)
      : ask_(ask), length_(length), far_(far), start_(std::max(length.value, kMillisecond)) {}

  const StoryLength& length() const { return length_; }

  /// Nothing: it breaks with nothing of it, or not up to `far`. `near`: where it is looked for first.
  std::optional<Extent> in(Scenario story, std::optional<Duration> near = {}, Duration step = {}) {
    const bool is_explored = length_.kind == Kind::fault && !length_.is_one_length;
    return is_explored ? by_margin(std::move(story)) : by_halving(std::move(story), near, step);
  }

 private:
  std::optional<Extent> by_margin(Scenario story) {
    length_.set(story, far_);
    const ExploredProperty found = ask_(story, length_.name);
    std::optional<Extent> least;
    if (found.verdict == Verdict::unknown) throw Gone();
    if (found.verdict != Verdict::violated) return least;
    bool is_exact = !found.thresholds.empty();
    for (const Threshold& threshold : found.thresholds) {
      const Duration size = std::max(threshold.infimum.value, -threshold.infimum.value);
      is_exact = is_exact && threshold.is_exact && threshold.values.empty() && threshold.parameter == length_.name;
      if (!least || size < least->value) least = Extent{size, threshold.infimum.attained};
    }
    if (least == Extent{Duration::zero(), true}) return std::nullopt;
    if (!is_exact) throw Gone();
    return least;
  }

  /// Nothing: a violation that no run shows, so near to its border.
  std::optional<bool> is_broken(Scenario& story, Duration value) {
    length_.set(story, value);
    const Verdict verdict = ask_(story, {}).verdict;
    return verdict == Verdict::unknown ? std::nullopt : std::optional(verdict == Verdict::violated);
  }

  std::optional<Extent> by_halving(Scenario story, std::optional<Duration> near, Duration step) {
    std::optional<Duration> kept, broken;
    const auto is_close = [&] { return kept && broken && *broken - *kept <= kApart; };
    // Most lengths count once, or not at all.
    std::vector<Duration> guesses;
    if (near) guesses = {*near, *near - step, *near + step};
    for (const Duration guess : guesses) {
      if (guess <= kept.value_or(Duration::zero()) || guess + kApart >= broken.value_or(far_)) continue;
      const std::optional<bool> there = is_broken(story, guess);
      if (there == true) broken = guess;
      if (there == false) {
        kept = guess;
        if (is_broken(story, guess + kApart) == true) broken = guess + kApart;
      }
      if (is_close()) break;
    }
    // From the file's own figure: very short and very long work can have many more orders.
    const auto look_at = [&](Duration value) {
      const std::optional<bool> there = is_broken(story, value);
      if (!there) throw Gone();
      (*there ? broken : kept) = value;
    };
    if (!kept && !broken) look_at(start_);
    for (Duration value = kept.value_or(start_); !broken;) {
      value = value * 2;
      if (value > far_) return std::nullopt;
      look_at(value);
    }
    constexpr std::int64_t kNothing = 1'000;  // what still breaks with a thousandth of it breaks with nothing
    for (Duration value = *broken; !kept;) {
      value = value / 2;
      if (value * kNothing < start_) return std::nullopt;
      look_at(value);
    }
    bool is_first = true;
    while (!is_close()) {
      // A border is whole milliseconds, where the lengths of the file are.
      const Duration whole =
          Duration::nanoseconds(broken->count_ns() / kMillisecond.count_ns() * kMillisecond.count_ns());
      if (*broken - *kept <= kMillisecond && whole > *kept && std::exchange(is_first, false)) {
        const bool is_there = is_broken(story, whole) == false;
        (is_there ? kept : broken) = whole;
        if (is_there && is_broken(story, whole + kApart) == true) broken = whole + kApart;
        continue;
      }
      const Duration middle = *kept + Duration::nanoseconds((*broken - *kept).count_ns() / 2);
      const std::optional<bool> there = is_broken(story, middle);
      if (!there && *broken - *kept > kApart * 4) throw Gone();
      (there == false ? kept : broken) = middle;
    }
    // Figures of files are whole microseconds: so is a border of them.
    constexpr std::int64_t kMicrosecond = 1'000;
    const auto whole = Duration::nanoseconds(broken->count_ns() / kMicrosecond * kMicrosecond);
    if (whole < *kept) return Extent{*kept, false};
    return Extent{whole, is_broken(story, whole) == true};
  }

  Asked& ask_;
  const StoryLength& length_;
  Duration far_;
  Duration start_;  ///< where its border is looked for first
};

/// By how much a length is changed, from large to small: thirds and hundredths of it stay whole.
std::vector<Duration> steps_for(const StoryLength& length, Duration value) {
  std::vector<Duration> steps;
  for (const std::int64_t us : {300'000, 30'000, 3'000, 300, 30, 3}) {
    const Duration step = Duration::microseconds(us);
    const bool is_whole = !length.is_setting || step >= kMillisecond * 3 || value.count_ns() % 1'000'000 != 0;
    if (is_whole && step <= std::max(value / 10, length.is_setting ? kMillisecond * 3 : Duration::microseconds(300)))
      steps.push_back(step);
  }
  return steps;
}

/// The story with other figures, as long as it is one: no least above its greatest, nothing below zero.
class Point {
 public:
  Point(Scenario story, const std::vector<StoryLength>& lengths) : story_(std::move(story)), lengths_(lengths) {
    for (const StoryLength& length : lengths_) values_.push_back(length.value);
  }

  const Scenario& story() const { return story_; }
  Duration value(std::size_t i) const { return values_[i]; }
  void set(std::size_t i, Duration value) {
    values_[i] = value;
    lengths_[i].set(story_, value);
  }
  bool is_possible() const {
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (values_[i] < Duration::zero()) return false;
      // A setting of the file that is nothing says so: no wait, no lease of its own.
      if (lengths_[i].is_setting && values_[i] <= Duration::zero() && lengths_[i].value > Duration::zero())
        return false;
      if (lengths_[i].kind != Kind::least) continue;
      const auto other = std::find_if(lengths_.begin(), lengths_.end(), [&](const StoryLength& length) {
        return length.range == lengths_[i].range && length.kind == Kind::greatest;
      });
      if (other != lengths_.end() && values_[i] > values_[static_cast<std::size_t>(other - lengths_.begin())])
        return false;
    }
    return true;
  }

 private:
  Scenario story_;
  const std::vector<StoryLength>& lengths_;
  std::vector<Duration> values_;
};

class FormulaSearch {
 public:
  FormulaSearch(const Scenario& story, const models::locks::Catalogue& catalogue, std::string_view property,
                const FormulaOptions& options)
      : story_(story),
        lengths_(lengths_of(story, catalogue)),
        ask_(catalogue, property, options),
        only_borders_(options.only_borders) {
    for (const StoryLength& length : lengths_) far_ += length.value;
    far_ = std::max(far_, kMillisecond) * 2;
  }

  Formulas operator()() {
    bool is_any_margin = false;
    std::vector<std::size_t> margins;
    for (const bool of_faults : {true, false}) {
      for (std::size_t i = 0; i < lengths_.size(); ++i) {
        if (of_faults ? lengths_[i].kind == Kind::fault : lengths_[i].is_work) margins.push_back(i);
      }
    }
    for (const std::size_t i : margins) {
      try {
        std::optional<Formula> formula = of(i, is_any_margin);
        if (!formula) continue;
        const auto is_same = [&](const Formula& known) { return follows(*formula, known); };
        if (std::any_of(found_.all.begin(), found_.all.end(), is_same)) continue;
        std::erase_if(found_.all, [&](const Formula& known) { return follows(known, *formula); });
        found_.all.push_back(*std::move(formula));
      } catch (const Gone&) {
        is_any_margin = true;
      }
    }
    if (found_.all.empty()) {
      found_.why = only_borders_      ? ""
                   : ask_.has_ended() ? "a bound ended the searches for it"
                   : is_any_margin    ? "no single inequality was shown near the figures of the file"
                                      : "no length of a fault and no time of work decides it";
    }
    return std::move(found_);
  }

 private:
  /// Whether the first is kept wherever the second is: they are the same, or the second has lengths more that do harm.
  static bool follows(const Formula& first, const Formula& second) {
    if (first.constant != second.constant || (first.is_strict && !second.is_strict)) return false;
    const auto coefficient_in = [](const Formula& formula, const std::string& length) {
      for (const FormulaTerm& term : formula.terms) {
        if (term.length == length) return term.coefficient;
      }
      return std::int64_t{0};
    };
    const auto is_covered = [&](const FormulaTerm& term) {
      return coefficient_in(second, term.length) == term.coefficient;
    };
    return std::all_of(first.terms.begin(), first.terms.end(), is_covered) &&
           std::all_of(second.terms.begin(), second.terms.end(), [&](const FormulaTerm& term) {
             return term.coefficient < 0 || coefficient_in(first, term.length) == term.coefficient;
           });
  }

  /// Near the file's figures, without other faults; where the property breaks there anyhow, clients work as briefly as
  /// the file allows. Nothing: the length decides nothing.
  std::optional<Formula> of(std::size_t main, bool& is_any_margin) {
    Margin margin(ask_, lengths_[main], far_);
    Point base(story_, lengths_);
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (lengths_[i].kind == Kind::fault && i != main) base.set(i, Duration::zero());
    }
    std::optional<Extent> at = margin.in(base.story(), guess_of(main));
    const bool works_less = !at && work_less(base, main);
    if (works_less) at = margin.in(base.story(), guess_of(main));
    if (!at) return std::nullopt;
    is_any_margin = true;
    // Of a length that the file has exactly, only that length was looked at.
    const bool is_whole = lengths_[main].kind != Kind::exact;
    found_.borders.push_back(
        {lengths_[main].name, lengths_[main].is_work, works_less, is_whole, *at, least_work(base)});
    if (only_borders_) return std::nullopt;
    std::vector<Slope> slopes;
    std::vector<std::size_t> idle;  // faults of which a little moves nothing
    Formula formula;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (i == main) continue;
      const std::optional<Slope> slope = slope_of(i, base, margin, *at);
      if (slope && slope->value.sign() != 0) {
        slopes.push_back(*slope);
      } else if (lengths_[i].kind == Kind::fault) {
        slope ? idle.push_back(i) : formula.without.push_back(lengths_[i].name);
      }
      // Another length of which nothing is known stays as it is, and so does one that does not matter.
    }
    if (slopes.empty()) throw Gone();  // the border says it all
    formula.is_strict = at->attained;
    write(formula, main, base, *at, slopes);
    if (!show(formula, base, margin, slopes, *at)) throw Gone();
    for (const std::size_t i : idle) {
      if (!stays(formula, base, margin, slopes, *at, i)) formula.without.push_back(lengths_[i].name);
    }
    return formula;
  }

  /// A pause lengthens the work: what it may be, longer work may be.
  std::optional<Duration> guess_of(std::size_t main) const {
    if (!lengths_[main].is_work || found_.borders.empty()) return std::nullopt;
    const FormulaBorder& pause = found_.borders.front();
    return pause.at.value + pause.work;
  }

  Duration least_work(const Point& base) const {
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (lengths_[i].is_work) return base.value(i);
    }
    return Duration::zero();
  }

  bool work_less(Point& base, std::size_t main) const {
    bool is_less = false;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (i == main || !lengths_[i].is_work || lengths_[i].kind != Kind::greatest) continue;
      const auto least = std::find_if(lengths_.begin(), lengths_.end(), [&](const StoryLength& length) {
        return length.range == lengths_[i].range && length.kind == Kind::least;
      });
      base.set(i, least->value);
      is_less = true;
    }
    return is_less;
  }

  /// How the margin moves with a length, and to which sides.
  struct Slope {
    std::size_t length;
    Fraction value;
    bool is_upward, is_downward;
  };

  /// Where it bends at the figure itself, the side on which it moves.
  std::optional<Slope> slope_of(std::size_t i, const Point& base, Margin& margin, const Extent& at) {
    const std::optional<Fraction> up = slope_to(i, base, margin, at, 1);
    const std::optional<Fraction> down = slope_to(i, base, margin, at, -1);
    if (!up && !down) return std::nullopt;
    if (up == down) return Slope{i, *up, true, true};
    const bool takes_up = up && (up->sign() != 0 || !down);
    return Slope{i, takes_up ? *up : *down, takes_up, !takes_up};
  }

  /// By two steps that agree. Nothing: no two do.
  std::optional<Fraction> slope_to(std::size_t i, const Point& base, Margin& margin, const Extent& at, int sign) {
    for (const Duration step : steps_for(lengths_[i], base.value(i))) {
      const std::optional<Fraction> once = slope_over(i, base, margin, at, step * sign);
      if (once && once == slope_over(i, base, margin, at, step * (2 * sign))) return once;
    }
    return std::nullopt;
  }

  std::optional<Fraction> slope_over(std::size_t i, Point point, Margin& margin, const Extent& at, Duration step) {
    point.set(i, point.value(i) + step);
    if (!point.is_possible()) return std::nullopt;
    const std::optional<Extent> moved = known_margin(margin, point, at.value, std::max(step, -step));
    if (!moved || moved->attained != at.attained) return std::nullopt;
    // A margin is whole nanoseconds, and its thirds are not; a run that shows a violation may need one more.
    const Fraction exact = fraction(moved->value - at.value) / fraction(step);
    for (const std::int64_t denominator : {1, 2, 3, 4, 6, 100}) {
      const Fraction scaled = exact * Fraction(denominator);
      const auto whole = static_cast<std::int64_t>((2 * scaled.numerator() + scaled.denominator() * scaled.sign()) /
                                                   (2 * scaled.denominator()));
      const Fraction round(whole, denominator);
      const Fraction off = (exact - round) * fraction(step);
      if (is_near(off)) return round;
    }
    return std::nullopt;
  }

  /// Nothing also where it is not known exactly.
  static std::optional<Extent> known_margin(Margin& margin, const Point& point, Duration near, Duration step) {
    try {
      return margin.in(point.story(), near, step);
    } catch (const Gone&) {
      return std::nullopt;
    }
  }

  /// In whole numbers.
  void write(Formula& formula, std::size_t main, const Point& base, const Extent& at,
             const std::vector<Slope>& slopes) const {
    Fraction constant = fraction(at.value);
    std::int64_t scale = 1;
    for (const Slope& slope : slopes) {
      constant += -(slope.value * fraction(base.value(slope.length)));
      scale = std::lcm(scale, static_cast<std::int64_t>(slope.value.denominator()));
    }
    const auto scaled = [&](const Fraction& value) {
      const Fraction whole = value * Fraction(scale);
      return static_cast<std::int64_t>(whole.numerator() / whole.denominator());
    };
    formula.terms.push_back({lengths_[main].name, -scale, at.value, {at.value, at.value}});
    for (const Slope& slope : slopes) {
      const Duration value = base.value(slope.length);
      formula.terms.push_back({lengths_[slope.length].name, scaled(slope.value), value, {value, value}});
    }
    formula.constant = scaled(constant);
  }

  /// In the largest of some boxes at all of whose corners it says what a search says. Each side goes as far as it says
  /// so along that side alone; where the corners do not agree, half as far.
  bool show(Formula& formula, const Point& base, Margin& margin, const std::vector<Slope>& slopes, const Extent& at) {
    constexpr std::size_t kSidesMax = 6;
    if (slopes.size() > kSidesMax) return false;
    std::vector<sim::DurationRange> sides;
    for (const Slope& slope : slopes) {
      const Duration value = base.value(slope.length);
      sides.push_back({value - reach_of(slope, -1, base, margin, at), value + reach_of(slope, 1, base, margin, at)});
    }
    for (const std::int64_t part : {1, 2, 4, 8}) {
      std::vector<sim::DurationRange> box = sides;
      for (std::size_t k = 0; k < box.size(); ++k) {
        const Duration value = base.value(slopes[k].length);
        box[k] = {value - whole_part(slopes[k], value - box[k].lo, part),
                  value + whole_part(slopes[k], box[k].hi - value, part)};
      }
      Formula shown = formula;
      if (!is_shown(shown, base, margin, slopes, at, box)) continue;
      formula = std::move(shown);
      return true;
    }
    return false;
  }

  /// Settings stay whole milliseconds where they are.
  Duration whole_part(const Slope& slope, Duration away, std::int64_t part) const {
    const bool is_whole = lengths_[slope.length].is_setting && away.count_ns() % kMillisecond.count_ns() == 0;
    const std::int64_t unit = is_whole ? kMillisecond.count_ns() : 1;
    return Duration::nanoseconds(away.count_ns() / part / unit * unit);
  }

  Duration reach_of(const Slope& slope, int sign, const Point& base, Margin& margin, const Extent& at) {
    if (sign > 0 ? !slope.is_upward : !slope.is_downward) return Duration::zero();
    const StoryLength& length = lengths_[slope.length];
    const Duration value = base.value(slope.length);
    // A fault that is none in the base goes as far as the margin.
    const Duration size = value == Duration::zero() ? at.value : value;
    for (const std::int64_t part : {2, 4, 10, 20, 50, 100, 200, 500, 1'000, 2'000}) {
      const std::int64_t unit =
          length.is_setting && value.count_ns() % kMillisecond.count_ns() == 0 ? kMillisecond.count_ns() : 1;
      const Duration away = Duration::nanoseconds(size.count_ns() / part / unit * unit);
      Point point = base;
      point.set(slope.length, value + away * sign);
      if (away == Duration::zero() || !point.is_possible()) continue;
      const Fraction expected = fraction(at.value) + slope.value * fraction(away * sign);
      if (expected.sign() <= 0 || fraction(far_) < expected) continue;
      if (is_margin(known_margin(margin, point, whole_of(expected), {}), expected, at)) return away;
    }
    return Duration::zero();
  }

  static Duration whole_of(const Fraction& value) {
    return Duration::nanoseconds(static_cast<std::int64_t>(value.numerator() / value.denominator()));
  }
  static bool is_margin(const std::optional<Extent>& found, const Fraction& expected, const Extent& at) {
    return found && found->attained == at.attained && is_near(fraction(found->value) - expected);
  }

  bool is_shown(Formula& formula, const Point& base, Margin& margin, const std::vector<Slope>& slopes, const Extent& at,
                const std::vector<sim::DurationRange>& box) {
    for (std::size_t corner = 0; corner < (std::size_t{1} << slopes.size()); ++corner) {
      Point point = base;
      Fraction expected = fraction(at.value);
      for (std::size_t k = 0; k < slopes.size(); ++k) {
        const Duration value = (corner >> k & 1) != 0 ? box[k].hi : box[k].lo;
        point.set(slopes[k].length, value);
        expected += slopes[k].value * fraction(value - base.value(slopes[k].length));
      }
      if (!point.is_possible() || expected.sign() <= 0 || fraction(far_) < expected) continue;
      const std::optional<Extent> found = known_margin(margin, point, whole_of(expected), {});
      if (!is_margin(found, expected, at)) return false;
      ++formula.corners;
      sim::DurationRange& seen = formula.terms.front().box;
      seen = {std::min(seen.lo, found->value), std::max(seen.hi, found->value)};
    }
    for (std::size_t k = 0; k < box.size(); ++k) formula.terms[k + 1].box = box[k];
    return formula.corners > 0;
  }

  /// Whether all was the same with all of a fault that the file allows, which then belongs to `base`: what is little
  /// may matter where it is more than something else.
  bool stays(const Formula& formula, Point& base, Margin& margin, const std::vector<Slope>& slopes, const Extent& at,
             std::size_t fault) {
    Point with = base;
    with.set(fault, lengths_[fault].value);
    std::vector<sim::DurationRange> box;
    for (std::size_t k = 0; k < slopes.size(); ++k) box.push_back(formula.terms[k + 1].box);
    Formula again = formula;
    if (!is_margin(known_margin(margin, with, at.value, {}), fraction(at.value), at)) return false;
    if (!is_shown(again, with, margin, slopes, at, box)) return false;
    base.set(fault, lengths_[fault].value);
    return true;
  }

  const Scenario& story_;
  std::vector<StoryLength> lengths_;
  Asked ask_;
  const bool only_borders_;
  Duration far_;
  Formulas found_;
};

}  // namespace

Formulas formulas_of(const Scenario& story, const models::locks::Catalogue& catalogue, std::string_view property,
                     const FormulaOptions& options) {
  Scenario asked = story;
  asked.expect_check.clear();
  asked.expect_traces.reset();
  return FormulaSearch(asked, catalogue, property, options)();
}

std::optional<FormulaOptions> unasked_formulas(const Exploration& exploration) {
  constexpr std::uint64_t kSmall = 3'000, kMiddling = 100'000, kUnasked = 1'000'000;
  const checker::ExplorerCounts& counts = exploration.counts;
  if (!counts.complete || counts.events > kMiddling) return std::nullopt;
  FormulaOptions how;
  how.max_events = kUnasked;
  how.only_borders = counts.events > kSmall;
  return how;
}

std::string to_string(const Formula& formula) {
  std::string safer, worse;
  const auto add = [](std::string& side, std::int64_t coefficient, const std::string& name) {
    if (!side.empty()) side += " + ";
    side += coefficient == 1 ? name : fmt::format("{} {}", coefficient, name);
  };
  for (const FormulaTerm& term : formula.terms) {
    if (term.coefficient > 0) add(safer, term.coefficient, term.length);
    if (term.coefficient < 0) add(worse, -term.coefficient, term.length);
  }
  const Duration constant = Duration::nanoseconds(formula.constant);
  if (constant > Duration::zero()) add(safer, 1, sim::to_string(constant));
  if (constant < Duration::zero()) add(worse, 1, sim::to_string(-constant));
  return fmt::format("safe while {} {} {}", safer.empty() ? "0" : safer, formula.is_strict ? ">" : "≥", worse);
}

}  // namespace lockstep::scenarios
