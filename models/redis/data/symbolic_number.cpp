#include "models/redis/data/symbolic_number.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep::models::redis {
namespace {

using sim::Duration;
using sim::Instant;

/// No exploration is longer than that (checker/time/difference_constraints.hpp), so no length is either.
constexpr Duration kLongest = Duration::seconds(5 * 86'400);
constexpr Duration kGrain = Duration::nanoseconds(1);

/// Either answer is possible, and which it is depends on what an exploration does not know. Runs show the one and the
/// other where these are whole.
bool either(sim::World& world, const std::optional<sim::WholeUnits>& no, const std::optional<sim::WholeUnits>& yes) {
  const bool answer = world.choose(sim::Choice::comparison, 2) == 1;
  world.note_approximation(answer ? yes : no);
  return answer;
}

}  // namespace

SymbolicNumber::SymbolicNumber(Instant plus, Instant minus, Duration unit, Rounding rounding)
    : plus_(plus), minus_(minus), unit_(unit) {
  if (rounding == Rounding::none) return;
  step_[0].kind = rounding == Rounding::down ? Step::Kind::floor : Step::Kind::of_ends;
  steps_ = 1;
}

SymbolicNumber SymbolicNumber::of(Timestamp timestamp) {
  const bool is_coarse = timestamp.unit > Duration::milliseconds(1);
  return {timestamp.instant, Instant::origin(), timestamp.unit, is_coarse ? Rounding::down : Rounding::none};
}

std::optional<Timestamp> SymbolicNumber::timestamp() const {
  const bool is_coarse = unit_ > Duration::milliseconds(1);
  if (!is_timestamp() || !(is_coarse ? is_rounded_length() : is_plain_length())) return std::nullopt;
  return Timestamp{plus_, unit_};
}

/// A run knows the digits of both ends: then nothing is left to chance.
std::optional<Number> SymbolicNumber::value_by_digits() const {
  if (plus_.anchor() != 0 || minus_.anchor() != 0 || plus_.scale() != minus_.scale()) return std::nullopt;
  if (!has_two_values()) return constant();
  const auto units = [&](Instant end) {
    return std::floor(static_cast<Number>(end.offset().count_ns()) / static_cast<Number>(unit_.count_ns()));
  };
  return value(units(plus_) - units(minus_), false);
}

std::optional<Number> SymbolicNumber::constant() const {
  if (plus_.anchor() != minus_.anchor()) return std::nullopt;
  return value(
      static_cast<Number>((plus_.offset() - minus_.offset()).count_ns()) / static_cast<Number>(unit_.count_ns()),
      false);
}

// --- Arithmetic.

std::optional<SymbolicNumber> SymbolicNumber::with(Step step) const {
  if (steps_ == kMostSteps || std::isnan(step.number)) return std::nullopt;
  SymbolicNumber result = *this;
  result.step_[result.steps_++] = step;
  return result;
}

/// Whether so many units more are the same as a length that ends so much later.
bool SymbolicNumber::moves(Number units) const {
  const Number ns = units * static_cast<Number>(unit_.count_ns());
  if (!(std::fabs(ns) < static_cast<Number>(Duration::forever().count_ns())) || ns != std::trunc(ns)) return false;
  return steps_ == 0 || (is_rounded_length() && units == std::trunc(units));
}

std::optional<SymbolicNumber> SymbolicNumber::plus_number(Number c) const {
  if (!moves(c)) return with({Step::Kind::add, c});
  SymbolicNumber result = *this;
  result.plus_ = plus_ + Duration::nanoseconds(static_cast<std::int64_t>(c * static_cast<Number>(unit_.count_ns())));
  return result;
}

std::optional<SymbolicNumber> SymbolicNumber::times(Number c) const {
  const bool is_unit = steps_ == 0 && c >= 1 && c == std::trunc(c) && c <= static_cast<Number>(unit_.count_ns()) &&
                       unit_.count_ns() % static_cast<std::int64_t>(c) == 0;
  if (!is_unit) return with({Step::Kind::times, c});
  SymbolicNumber result = *this;
  result.unit_ = unit_ / static_cast<std::int64_t>(c);
  return result;
}

std::optional<SymbolicNumber> SymbolicNumber::divided_by(Number c) const {
  const bool is_unit = steps_ == 0 && c >= 1 && c == std::trunc(c) &&
                       c * static_cast<Number>(unit_.count_ns()) < static_cast<Number>(Duration::forever().count_ns());
  if (!is_unit) return with({Step::Kind::divide, c});
  SymbolicNumber result = *this;
  result.unit_ = unit_ * static_cast<std::int64_t>(c);
  return result;
}

/// A clock's reading that is not coarser than a millisecond stays what it is, as in all of this model.
std::optional<SymbolicNumber> SymbolicNumber::rounded_down() const {
  if (steps_ > 0 && step_[steps_ - 1u].kind == Step::Kind::floor) return *this;
  if (is_timestamp() && steps_ == 0 && unit_ <= Duration::milliseconds(1)) return *this;
  return with({Step::Kind::floor, 0});
}

std::optional<SymbolicNumber> SymbolicNumber::with_rest_of_second(Instant moment, Number times,
                                                                  Number divided_by) const {
  constexpr Number kPerSecond = 1'000'000;
  const bool is_seconds = is_timestamp() && plus_.identical(moment) && unit_ == Duration::seconds(1) && steps_ >= 1 &&
                          step_[0].kind == Step::Kind::floor &&
                          (steps_ == 1 || (steps_ == 2 && step_[1].kind == Step::Kind::times));
  if (!is_seconds) return std::nullopt;
  const Number factor = steps_ == 1 ? 1 : step_[1].number;
  if (factor * divided_by != kPerSecond * times || factor < 1 || factor > 1e9 || factor != std::trunc(factor)) {
    return std::nullopt;
  }
  const auto per_second = static_cast<std::int64_t>(factor);
  if (unit_.count_ns() % per_second != 0) return std::nullopt;
  return SymbolicNumber(plus_, minus_, unit_ / per_second, Rounding::none);
}

std::optional<SymbolicNumber> SymbolicNumber::difference(const SymbolicNumber& a, const SymbolicNumber& b) {
  if (a.unit_ != b.unit_ || !a.is_plain_length() || !b.is_plain_length() || a.steps_ != b.steps_) return std::nullopt;
  const Rounding rounding = a.steps_ == 0 ? Rounding::none : Rounding::of_ends;
  if (a.minus_.anchor() == b.minus_.anchor()) {
    return SymbolicNumber(a.plus_ - a.minus_.offset(), b.plus_ - b.minus_.offset(), a.unit_, rounding);
  }
  if (a.plus_.anchor() == b.plus_.anchor()) {
    return SymbolicNumber(b.minus_ - b.plus_.offset(), a.minus_ - a.plus_.offset(), a.unit_, rounding);
  }
  return std::nullopt;
}

std::optional<SymbolicNumber> SymbolicNumber::sum(const SymbolicNumber& a, const SymbolicNumber& b,
                                                  const sim::World& world) {
  if (b.is_timestamp() && !a.is_timestamp()) return sum(b, a, world);
  const bool is_fine = a.unit_ == b.unit_ && a.unit_ <= Duration::milliseconds(1);
  if (!is_fine || !a.is_timestamp() || a.steps_ != 0 || b.is_timestamp() || !b.is_plain_length()) return std::nullopt;
  return SymbolicNumber(world.sum(a.plus_, b.plus_, b.minus_), Instant::origin(), a.unit_, Rounding::none);
}

bool SymbolicNumber::has_steps_of(const SymbolicNumber& other) const {
  return unit_ == other.unit_ &&
         std::equal(step_.begin(), step_.begin() + steps_, other.step_.begin(), other.step_.begin() + other.steps_);
}

bool SymbolicNumber::operator==(const SymbolicNumber& other) const {
  return plus_.identical(other.plus_) && minus_.identical(other.minus_) && has_steps_of(other);
}

bool SymbolicNumber::is_falling() const {
  return std::count_if(step_.begin(), step_.begin() + steps_,
                       [](const Step& step) {
                         const bool is_factor = step.kind == Step::Kind::times || step.kind == Step::Kind::divide;
                         return is_factor && step.number < 0;
                       }) %
             2 !=
         0;
}

/// Whether different lengths may have the same number.
bool SymbolicNumber::is_rounded() const {
  return !std::all_of(step_.begin(), step_.begin() + steps_, [](const Step& step) {
    const bool is_factor = step.kind == Step::Kind::times || step.kind == Step::Kind::divide;
    return step.kind == Step::Kind::add || (is_factor && step.number != 0 && std::isfinite(step.number));
  });
}

Number SymbolicNumber::value(Number units, bool upper) const {
  Number x = units;
  for (std::size_t i = 0; i < steps_; ++i) {
    const Number c = step_[i].number;
    switch (step_[i].kind) {
      case Step::Kind::floor: x = std::floor(x); break;
      case Step::Kind::of_ends: x = upper ? std::ceil(x) : std::floor(x); break;
      case Step::Kind::ceil: x = std::ceil(x); break;
      case Step::Kind::add: x += c; break;
      case Step::Kind::times: x *= c; break;
      case Step::Kind::divide: x /= c; break;
    }
  }
  return x;
}

// --- Questions.

/// `holds` is true of all values up to some one, or from some one on. Where the length comes from one to the other is
/// found by halving, in whole nanoseconds; on which side the point itself lies, half a nanosecond before it says.
template <class Holds>
bool SymbolicNumber::ask_one(const Holds& holds, bool upper, sim::World& world) const {
  const auto is_true_at = [&](std::int64_t ns, Number more) {
    return holds(value((static_cast<Number>(ns) + more) / static_cast<Number>(unit_.count_ns()), upper));
  };
  const std::int64_t middle = (plus_.offset() - minus_.offset()).count_ns();
  std::int64_t before = middle - kLongest.count_ns();
  std::int64_t from = middle + kLongest.count_ns();
  const bool first = is_true_at(before, 0);
  if (is_true_at(from, 0) == first) return first;
  while (from - before > 1) {
    const std::int64_t half = before + (from - before) / 2;
    (is_true_at(half, 0) == first ? before : from) = half;
  }
  const Instant last = minus_ + Duration::nanoseconds(before);
  const bool is_open = is_true_at(before, 0.5) == first;
  const bool is_first = is_open ? !world.is_at_or_after(plus_, last + kGrain) : world.is_at_or_after(last, plus_);
  return is_first == first;
}

template <class Holds>
bool SymbolicNumber::ask(const Holds& holds, sim::World& world) const {
  if (const std::optional<Number> known = value_by_digits()) return holds(*known);
  const bool lower = ask_one(holds, false, world);
  if (!has_two_values() || ask_one(holds, true, world) == lower) return lower;
  // Of two readings that were rounded down the distance is rounded down if the first one is whole, up if the second is.
  const std::optional<sim::WholeUnits> down = sim::WholeUnits{Instant::origin(), minus_, unit_};
  const std::optional<sim::WholeUnits> up = sim::WholeUnits{Instant::origin(), plus_, unit_};
  return lower ? either(world, up, down) : either(world, down, up);
}

bool SymbolicNumber::is_less_than(Number other, sim::World& world) const {
  return ask([other](Number x) { return x < other; }, world);
}

bool SymbolicNumber::is_at_most(Number other, sim::World& world) const {
  return ask([other](Number x) { return x <= other; }, world);
}

bool SymbolicNumber::equals(Number other, sim::World& world) const {
  if (std::isnan(other)) return false;
  return !is_less_than(other, world) && is_at_most(other, world);
}

/// Two instants that are as far apart as two lengths are, in the direction in which the numbers grow.
struct SymbolicNumber::Order {
  Instant a;
  Instant b;
  /// To what they have in common; from there, if it is what both lengths begin with.
  sim::WholeUnits whole(Instant one, Duration unit) const {
    return begins ? sim::WholeUnits{common, one, unit} : sim::WholeUnits{one, common, unit};
  }
  Instant common;
  bool begins;
};

std::optional<SymbolicNumber::Order> SymbolicNumber::order_of(const SymbolicNumber& a, const SymbolicNumber& b) {
  if (!a.has_steps_of(b) || a.has_two_values()) return std::nullopt;
  Order order;
  if (a.minus_.anchor() == b.minus_.anchor()) {
    order = {a.plus_ - a.minus_.offset(), b.plus_ - b.minus_.offset(), a.minus_ - a.minus_.offset(), true};
  } else if (a.plus_.anchor() == b.plus_.anchor()) {
    order = {b.minus_ - b.plus_.offset(), a.minus_ - a.plus_.offset(), a.plus_ - a.plus_.offset(), false};
  } else {
    return std::nullopt;
  }
  if (a.is_falling()) std::swap(order.a, order.b);
  return order;
}

std::optional<bool> SymbolicNumber::is_at_least(const SymbolicNumber& a, const SymbolicNumber& b, sim::World& world) {
  const std::optional<Order> order = order_of(a, b);
  if (!order) return std::nullopt;
  return world.is_at_or_after(order->a, order->b);
}

std::optional<bool> SymbolicNumber::is_less(const SymbolicNumber& a, const SymbolicNumber& b, sim::World& world,
                                            bool as_printed) {
  const std::optional<Number> x = a.value_by_digits(), y = b.value_by_digits();
  if (x && y && a.unit_ == b.unit_) return *x < *y;
  const std::optional<Order> order = order_of(a, b);
  if (!order) return std::nullopt;
  if (world.is_at_or_after(order->a, order->b)) return false;
  const bool is_printed = as_printed && a.is_timestamp() && b.is_timestamp() && a.steps_ == 0;
  if (!a.is_rounded() && !is_printed) return true;
  // The longer one may be the same number. A whole unit more is not.
  const bool is_of_units = a.is_rounded_length() || is_printed;
  if (is_of_units && world.is_at_or_after(order->b, order->a + a.unit_)) return true;
  if (!is_of_units) return either(world, {}, {});
  const sim::WholeUnits shorter = order->whole(order->begins ? order->a : order->b, a.unit_);
  const sim::WholeUnits longer = order->whole(order->begins ? order->b : order->a, a.unit_);
  return either(world, shorter, longer);
}

}  // namespace lockstep::models::redis
