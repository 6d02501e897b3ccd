#pragma once

// Numbers of scripts that have no digits in an exploration: a length of time, and what was calculated with it since.

#include <array>
#include <cstdint>
#include <optional>

#include "models/value.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// Lua's numbers. What a script calculates with them is calculated with the same operations here, to find where its
/// answer changes.
using Number = double;  // tidy: not deciding (IEEE 754, as sorted_set.hpp says)

/// The unit of TIME's second number, the microseconds since its first, where neither has digits.
inline constexpr sim::Duration kRestOfSecond = sim::Duration::nanoseconds(-1);

/// A number that depends on one length of time, `plus - minus`, in units: that length, or its integer part, or what
/// some steps of arithmetic make of it, each of which never falls where the length grows, or never grows. So a
/// comparison with a plain number is a question about that length, and has one place where its answer changes. It is
/// found by trying, with the script's own arithmetic: `math.floor(pttl / 1000) < 2` asks whether less than 2000ms are
/// left.
///
/// A timestamp is such a number, with the clock's origin as `minus`.
class SymbolicNumber {
 public:
  enum class Rounding : std::uint8_t {
    none,     ///< of instants, which this model does not round (docs/decisions/instants-are-exact.md)
    down,     ///< PTTL, TTL: the integer part of the length
    of_ends,  ///< both ends had been rounded down before one was taken from the other: the integer below or above
  };
  SymbolicNumber(sim::Instant plus, sim::Instant minus, sim::Duration unit, Rounding rounding);
  /// As a script calculates with it. A clock that counts more than a millisecond is rounded, since that may change what
  /// happens.
  static SymbolicNumber of(Timestamp timestamp);

  sim::Instant plus() const { return plus_; }
  sim::Instant minus() const { return minus_; }
  sim::Duration unit() const { return unit_; }
  /// It is the length itself, or its integer part, and nothing has been calculated with it but by moving an end.
  bool is_plain_length() const { return steps_ == 0 || is_rounded_length(); }
  bool is_rounded_length() const { return steps_ == 1 && step_[0].kind == Step::Kind::floor; }
  bool is_timestamp() const { return minus_.identical(sim::Instant::origin()); }
  /// As what a server can keep. Nothing: it is no timestamp, or was rounded to something else than it prints.
  std::optional<Timestamp> timestamp() const;
  /// The number, if both ends hang on the same event.
  std::optional<Number> constant() const;

  // --- Arithmetic. Nothing: too many steps.

  std::optional<SymbolicNumber> plus_number(Number c) const;
  std::optional<SymbolicNumber> times(Number c) const;
  std::optional<SymbolicNumber> divided_by(Number c) const;
  std::optional<SymbolicNumber> negated() const { return with({Step::Kind::times, -1}); }
  std::optional<SymbolicNumber> rounded_down() const;
  std::optional<SymbolicNumber> rounded_up() const { return with({Step::Kind::ceil, 0}); }
  /// Seconds of TIME, multiplied, and what its other number adds to them, are the moment itself: nothing is lost then.
  std::optional<SymbolicNumber> with_rest_of_second(sim::Instant moment, Number times, Number divided_by) const;
  /// Nothing: it depends on more than one length. The last may ask the world for an instant that it knows only about
  /// (`World::sum`).
  static std::optional<SymbolicNumber> difference(const SymbolicNumber& a, const SymbolicNumber& b);
  static std::optional<SymbolicNumber> sum(const SymbolicNumber& a, const SymbolicNumber& b, const sim::World& world);

  // --- Questions. They may fork an exploration.

  bool is_less_than(Number other, sim::World& world) const;
  bool is_at_most(Number other, sim::World& world) const;
  bool equals(Number other, sim::World& world) const;
  /// Nothing: it is about more than two instants.
  /// `as_printed`: both are what a script read as digits, also where they count milliseconds.
  static std::optional<bool> is_less(const SymbolicNumber& a, const SymbolicNumber& b, sim::World& world,
                                     bool as_printed = false);
  /// Whether the first is at least the second, of two to which the same has been done; for math.max and math.min, where
  /// equal ones are one.
  static std::optional<bool> is_at_least(const SymbolicNumber& a, const SymbolicNumber& b, sim::World& world);

  bool operator==(const SymbolicNumber& other) const;

 private:
  struct Step {
    enum class Kind : std::uint8_t { floor, of_ends, ceil, add, times, divide } kind = Kind::floor;
    Number number = 0;
    bool operator==(const Step&) const = default;
  };
  struct Order;
  static constexpr std::size_t kMostSteps = 12;

  std::optional<SymbolicNumber> with(Step step) const;
  bool moves(Number units) const;
  bool has_steps_of(const SymbolicNumber& other) const;
  bool is_falling() const;
  bool is_rounded() const;
  bool has_two_values() const { return steps_ > 0 && step_[0].kind == Step::Kind::of_ends; }
  Number value(Number units, bool upper) const;
  std::optional<Number> value_by_digits() const;
  template <class Holds>
  bool ask(const Holds& holds, sim::World& world) const;
  template <class Holds>
  bool ask_one(const Holds& holds, bool upper, sim::World& world) const;
  static std::optional<Order> order_of(const SymbolicNumber& a, const SymbolicNumber& b);

  sim::Instant plus_;
  sim::Instant minus_;
  sim::Duration unit_;
  std::array<Step, kMostSteps> step_;
  std::uint8_t steps_ = 0;
};

}  // namespace lockstep::models::redis
