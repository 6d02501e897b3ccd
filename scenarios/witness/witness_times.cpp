#include "scenarios/witness/witness_times.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::scenarios {
namespace {

using checker::Bound;
using checker::Constraint;
using checker::DifferenceConstraints;
using checker::ExploredEvent;
using checker::ExploredFault;
using checker::ParametricBound;
using sim::Duration;
using sim::Instant;

constexpr Duration kRound = Duration::milliseconds(1);

Duration rounded_up(Duration d, Duration unit = kRound) {
  const std::int64_t rest = d.count_ns() % unit.count_ns();
  const Duration down = d - Duration::nanoseconds(rest < 0 ? rest + unit.count_ns() : rest);
  return down < d ? down + unit : down;
}

/// The constraints once the parameters are known.
std::optional<DifferenceConstraints> with_parameters(const ExploredTrace& trace, const Violation& violation,
                                                     const std::vector<Duration>& parameters) {
  DifferenceConstraints constraints = trace.constraints;
  if (!constraints.add_all(violation.constraints)) return std::nullopt;
  for (const ParametricBound& bound : trace.parametric) {
    Duration more;
    if (bound.plus != ParametricBound::none) more += parameters[bound.plus];
    if (bound.minus != ParametricBound::none) more -= parameters[bound.minus];
    if (!bound.base.bound.is_finite()) continue;
    const Duration least = Duration::nanoseconds(bound.base.bound.ns()) + more;
    const Bound exact = bound.base.bound.is_strict() ? Bound::less_than(least) : Bound::at_most(least);
    if (!constraints.add(bound.base.from, bound.base.to, exact)) return std::nullopt;
  }
  return constraints.in_whole_ns();
}

/// Small values first: those that change nothing, then further and further out to both ends of the range.
std::vector<Duration> candidates(sim::DurationRange range) {
  std::vector<Duration> values;
  const auto add = [&](Duration d) {
    d = std::clamp(d, range.lo, range.hi);
    if (std::find(values.begin(), values.end(), d) == values.end()) values.push_back(d);
  };
  add(Duration::zero());
  for (Duration d = kRound; d < std::max(range.hi, -range.lo) * 2; d += d) {
    add(d);
    add(-d);
  }
  // What suits may be a short stretch in the middle.
  constexpr std::int64_t steps = 64;
  for (std::int64_t i = 0; i <= steps; ++i) {
    const Duration d = range.lo + (range.hi - range.lo) / steps * i;
    add(Duration::milliseconds(d.floor_ms()));
  }
  return values;
}

/// Parameters with which there is a solution, each as small as the search finds it.
std::optional<std::vector<Duration>> choose_parameters(const ExploredTrace& trace, const Violation& violation) {
  const auto works = [&](const std::vector<Duration>& values) {
    return with_parameters(trace, violation, values).has_value();
  };
  std::vector<Duration> values = violation.parameters;
  // The least that leaves times in real numbers may leave none in whole nanoseconds: two strict bounds share the one
  // between.
  if (values.size() == trace.parameters.size() && works(values)) return values;
  // All combinations of candidates: a witness has one parameter, rarely two.
  std::vector<std::vector<Duration>> options;
  for (const checker::ExploredParameter& parameter : trace.parameters) options.push_back(candidates(parameter.range));
  std::vector<std::size_t> at(options.size(), 0);
  const auto set = [&] {
    values.clear();
    for (std::size_t i = 0; i < at.size(); ++i) values.push_back(options[i][at[i]]);
  };
  for (set(); !works(values); set()) {
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == options[i].size()) at[i++] = 0;
    if (i == at.size()) return std::nullopt;
  }
  // Between a value that does and the next smaller one that does not, halving finds the smallest in whole milliseconds.
  for (std::size_t i = 0; i < values.size(); ++i) {
    Duration bad = values[i] / 2;
    bad = std::clamp(bad, trace.parameters[i].range.lo, trace.parameters[i].range.hi);
    std::vector<Duration> tried = values;
    tried[i] = bad;
    if (works(tried)) continue;
    while (std::max(values[i] - bad, bad - values[i]) > kRound) {
      tried = values;
      tried[i] = Duration::milliseconds((bad + (values[i] - bad) / 2).floor_ms());
      if (tried[i] == values[i] || tried[i] == bad) break;
      (works(tried) ? values[i] : bad) = tried[i];
    }
  }
  return values;
}

/// Fixes one difference after the other. Requires: constraints over whole nanoseconds.
class Fixer {
 public:
  explicit Fixer(DifferenceConstraints constraints) : constraints_(std::move(constraints)) {}

  /// `to - from` becomes `wanted`; or else the least whole number of milliseconds that is possible, or the least.
  void fix(Instant from, Instant to, std::optional<Duration> wanted) {
    const std::optional<Duration> least = least_between(from, to);
    if (!least) return;  // it could be any
    if (wanted && is_possible(from, to, *wanted)) {
      set(from, to, *wanted);
    } else {
      const Duration round = rounded_up(*least);
      set(from, to, is_possible(from, to, round) ? round : *least);
    }
  }

  /// The least whole number of its units that is possible, if one of the first few is.
  void fix_to_unit(const sim::WholeUnits& wanted) {
    if (wanted.from.scale() != wanted.until.scale()) return;
    constexpr int kTries = 16;
    Duration round = rounded_up(least_between(wanted.from, wanted.until).value_or(Duration::zero()), wanted.unit);
    for (int i = 0; i < kTries && is_possible(wanted.from, wanted.until, round); ++i, round += wanted.unit) {
      const DifferenceConstraints::Mark before = constraints_.mark();
      set(wanted.from, wanted.until, round);
      if (!wanted.rounded || rounds_to(*wanted.rounded, round, wanted.unit)) return;
      constraints_.undo(before);
    }
  }

  /// `later` comes after `earlier`, by a millisecond, or by as much less as it must be.
  void separate(Instant earlier, Instant later) {
    if (!separate_by(earlier, later, kRound)) separate_by_little(earlier, later);
  }

  /// The same of what may have been read on clocks, and be stored: less than a millisecond apart they print alike, but
  /// for those that have a whole millisecond between them.
  void separate_as_text(Instant earlier, Instant later) {
    if (separate_by(earlier, later, kRound)) return;
    has_close_moments_ = true;
    separate_by_little(earlier, later);
  }

  /// Two moments that are compared are less than a millisecond apart.
  bool has_close_moments() const { return has_close_moments_; }
  std::optional<std::vector<std::int64_t>> solution() const { return constraints_.solution_ns(); }

 private:
  /// The length becomes one that is rounded down to `round`.
  bool rounds_to(const sim::WholeUnits::Length& length, Duration round, Duration unit) {
    return constraints_.add_at_most(length.from + round, length.until) &&
           constraints_.add_at_most(length.until, length.from + (round + unit - Duration::nanoseconds(1)));
  }

  std::optional<Duration> least_between(Instant from, Instant to) const {
    const auto least = constraints_.least_difference(from.variable(), to.variable());
    return least ? std::optional(least->value + (to.offset() - from.offset())) : std::nullopt;
  }

  bool is_possible(Instant from, Instant to, Duration d) const {
    const std::optional<Duration> least = least_between(from, to);
    const auto greatest = constraints_.greatest_difference(from.variable(), to.variable());
    return (!least || d >= *least) && (!greatest || d - (to.offset() - from.offset()) <= greatest->value);
  }

  /// Requires: it is possible.
  void set(Instant from, Instant to, Duration d) {
    const Duration between = d - (to.offset() - from.offset());
    const bool first = constraints_.add(from.variable(), to.variable(), Bound::at_most(between));
    const bool second = constraints_.add(to.variable(), from.variable(), Bound::at_most(-between));
    assert(first && second && "each value between the least and the greatest is possible");
    static_cast<void>(first && second);
  }

  bool separate_by(Instant earlier, Instant later, Duration gap) {
    return constraints_.add_at_most(earlier + gap, later);
  }

  void separate_by_little(Instant earlier, Instant later) {
    if (!separate_by(earlier, later, Duration::microseconds(1))) separate_by(earlier, later, Duration::nanoseconds(1));
  }

  DifferenceConstraints constraints_;
  bool has_close_moments_ = false;
};

/// True time, whatever scale it was read on.
Instant true_time(Instant instant) { return Instant(instant.variable(), instant.offset()); }

}  // namespace

std::optional<WitnessTimes> witness_times(const ExploredTrace& trace, const Violation& violation) {
  const auto parameters = choose_parameters(trace, violation);
  if (!parameters) return std::nullopt;
  auto constraints = with_parameters(trace, violation, *parameters);
  if (!constraints) return std::nullopt;
  Fixer fixer(*std::move(constraints));
  const Instant origin = Instant::origin();

  for (const ExploredFault& fault : trace.faults) {
    if (!sim::lasts(fault.kind)) continue;
    // A pause of no length is none: a run would not notice it.
    fixer.separate(true_time(fault.from), true_time(fault.until));
    fixer.fix_to_unit({true_time(fault.from), true_time(fault.until), kRound});
  }
  // What a run prints, or waits, is a whole number. Where a fault has no room for a round length it needs what room it
  // has for these.
  for (const sim::WholeUnits& wanted : trace.whole_units) fixer.fix_to_unit(wanted);
  for (const ExploredFault& fault : trace.faults) {
    if (sim::lasts(fault.kind)) fixer.fix(true_time(fault.from), true_time(fault.until), std::nullopt);
  }
  const auto separate_strict = [&fixer](const Constraint& c) {
    // x_to - x_from < w: rather by a millisecond. The bound over whole nanoseconds holds already.
    if (!c.bound.is_finite() || !c.bound.is_strict()) return;
    const Duration w = Duration::nanoseconds(c.bound.ns());
    fixer.separate_as_text(Instant(c.to, Duration::zero()), Instant(c.from, w));
  };
  for (const Constraint& c : violation.constraints) separate_strict(c);
  std::vector<std::optional<Instant>> before;
  for (const ExploredEvent& event : trace.events) {
    if (before.size() <= event.process.index) before.resize(event.process.index + 1u);
    std::optional<Instant>& last = before[event.process.index];
    if (last) fixer.separate(*last, true_time(event.at));
    last = true_time(event.at);
  }
  // What was read on clocks as well: stored timestamps are the same text in a run when they print alike
  // (docs/decisions/instants-are-exact.md).
  for (std::uint32_t i = 0; i < trace.constraints.constraints(); ++i) separate_strict(trace.constraints.constraint(i));
  for (const ExploredEvent& event : trace.events) {
    // When a fault strikes is up to nobody: there is no typical delay.
    const bool is_fault = event.kind == sim::EventKind::fault;
    fixer.fix(true_time(event.base), true_time(event.arrived), is_fault ? std::nullopt : std::optional(event.delay.lo));
  }
  for (const ExploredFault& fault : trace.faults) {
    if (sim::lasts(fault.kind)) fixer.fix(origin, true_time(fault.from), std::nullopt);
  }
  auto solution = fixer.solution();
  if (!solution) return std::nullopt;
  return WitnessTimes{*std::move(solution), *parameters, fixer.has_close_moments()};
}

}  // namespace lockstep::scenarios
