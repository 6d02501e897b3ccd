#include "checker/explorer/execution/readings.hpp"

#include <algorithm>

#include "checker/explorer/execution/clock_kinds.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker::explorer {

using sim::Duration;
using sim::DurationRange;
using sim::Instant;

bool Readings::is_at_or_after(Instant a, Instant b) {
  if (a.scale() != b.scale()) return is_widely_at_or_after(a, b);
  if (does_drift(a.scale())) {
    // x * (1 + drift) + p >= y * (1 + drift) + q, to the nanosecond.
    const Duration apart = moment_.world().state(process_of(a.scale())).wall.true_length(b.offset() - a.offset());
    a = Instant(a.variable(), Duration::zero());
    b = Instant(b.variable(), apart);
  } else {
    a = Instant(a.variable(), a.offset());
    b = Instant(b.variable(), b.offset());
  }
  return questions_.decide([&] { return timing_.add(Constraint::at_most(b, a)); },
                           [&] { return timing_.add(Constraint::less_than(a, b)); });
}

/// Readings of clocks that differ by a parameter, or by drift: each answer adds what follows from it for the whole
/// range.
bool Readings::is_widely_at_or_after(Instant a, Instant b) {
  const DurationRange of_a = surplus(a);
  const DurationRange of_b = surplus(b);
  const Instant x(a.variable(), a.offset());
  const Instant y(b.variable(), b.offset());
  const bool answer = questions_.decide([&] { return timing_.add(Constraint::at_most(y + of_b.lo, x + of_a.hi)); },
                                        [&] { return timing_.add(Constraint::less_than(x + of_a.lo, y + of_b.hi)); });
  if (trace_.is_replay() || timing_.is_infeasible()) return answer;
  const auto parameter = [&](Instant reading) {
    return is_off_by_parameter(reading.scale()) ? parameter_of(reading.scale()) : ParametricBound::none;
  };
  if (does_drift(a.scale()) || does_drift(b.scale())) {
    ++widened_;
  } else if (answer) {
    parametric_.push_back({Constraint::at_most(y, x), parameter(a), parameter(b)});
  } else {
    parametric_.push_back({Constraint::less_than(x, y), parameter(b), parameter(a)});
  }
  return answer;
}

/// By how much a reading can exceed its anchor plus its offset.
DurationRange Readings::surplus(Instant reading) const {
  if (reading.scale() == 0) return DurationRange::exactly(Duration::zero());
  if (is_off_by_parameter(reading.scale())) {
    sim::invariant(parameter_of(reading.scale()) < faults_.parameters().size(),
                   "a clock is off by a parameter of the present trace");
    return faults_.parameters()[parameter_of(reading.scale())].range;
  }
  const std::int64_t ppb = moment_.world().state(process_of(reading.scale())).drift_ppb;
  const std::optional<Extent> latest = timing_.constraints().greatest_difference(0, reading.variable());
  // Without a bound on the time that has passed the drift may have made any difference.
  constexpr Duration no_bound = Duration::seconds(100'000);
  const Duration most = latest ? latest->value : no_bound;
  constexpr std::int64_t per_million = 1'000'000;
  const Duration gained =
      Duration::nanoseconds(most.count_ns() / per_million * ppb / 1'000 + (ppb > 0 ? 1 : -1) * (1 + ppb / 1'000));
  return ppb > 0 ? DurationRange{Duration::zero(), gained} : DurationRange{gained, Duration::zero()};
}

/// No difference constraint says it, since it is about four variables. What is known: it lies as far from `plus` as `a`
/// lies from `minus`. Of that only what follows from the causes of the present event is said, which come before it in
/// every execution: whatever is not possible because of it then, is not possible because of this event.
Instant Readings::sum(Instant a, Instant plus, Instant minus) {
  sim::invariant(trace_.position() != kNone, "only an event adds instants");
  std::vector<Instant>& known = trace_.present().sums;
  if (trace_.is_replay()) return known[next_sum_++];
  const Instant made = timing_.fresh();
  const Instant given = made.on_scale(a.scale());
  known.push_back(given);
  ++next_sum_;
  // Readings of clocks that drift or are off by what nobody knows yet say nothing of their distance.
  if (timing_.is_infeasible()) return given;
  if (plus.scale() != minus.scale() || does_drift(std::max(a.scale(), plus.scale()))) {
    ++widened_;
    return given;
  }
  const Instant base = Instant(plus.variable(), plus.offset()) + (a.offset() - minus.offset());
  const auto [most, least] = timing_.greatest_differences_among(minus.variable(), a.variable(), causes());
  if (most) timing_.add(Constraint::at_most(made, base + most->value));
  if (least) timing_.at_most(base - least->value, made);
  if (!most || !least || most->value != -least->value) ++widened_;
  return given;
}

/// The present event, what caused it, what caused that, and so on.
Positions Readings::causes() const {
  Positions chain;
  for (std::uint32_t p = trace_.position(); p != kNone; p = trace_[p].cause) set_bit(chain, p);
  return chain;
}

/// As of `sum`: what follows from the causes. A replay, which knows what came later, gets what was said at first.
DurationRange Readings::apart(Instant later, Instant earlier, DurationRange usual) {
  sim::invariant(trace_.position() != kNone, "an event asks how far apart two moments are");
  std::vector<Instant>& known = trace_.present().sums;
  if (trace_.is_replay()) {
    const Instant least = known[next_sum_++];
    const Instant most = known[next_sum_++];
    return {least.offset(), most.offset()};
  }
  DurationRange range = usual;
  if (!timing_.is_infeasible()) {
    const auto [most, least] = timing_.greatest_differences_among(earlier.variable(), later.variable(), causes());
    const Duration offset = later.offset() - earlier.offset();
    range = {least ? offset - least->value : Duration::zero(), most ? offset + most->value : Duration::forever()};
    const bool is_usual = usual.lo <= range.lo && range.hi <= usual.hi;
    if (!is_usual && !range.is_exact()) ++widened_;
  }
  known.push_back(Instant::at(range.lo));
  known.push_back(Instant::at(range.hi));
  next_sum_ += 2;
  return range;
}

Instant Readings::moved(Instant at, std::uint32_t parameter, bool later) {
  sim::invariant(trace_.position() != kNone, "a clock jumps in an event");
  std::vector<Instant>& known = trace_.present().sums;
  if (trace_.is_replay()) return known[next_sum_++];
  const Instant made = timing_.fresh();
  known.push_back(made);
  ++next_sum_;
  if (timing_.is_infeasible()) return made;
  const Instant from = later ? at : made;
  const Instant to = later ? made : at;
  const DurationRange range = faults_.parameters()[parameter].range;
  timing_.add(Constraint::at_most(from + range.lo, to));
  timing_.add(Constraint::at_most(to, from + range.hi));
  set_apart(from, to, parameter);
  return made;
}

}  // namespace lockstep::checker::explorer
