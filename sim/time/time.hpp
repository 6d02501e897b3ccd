#pragma once

// Virtual time. Start here for `Duration`, `DurationRange` and `Instant`.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::sim {

/// A signed length of time in whole nanoseconds. The only unit of time inside the program.
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration nanoseconds(std::int64_t n) { return Duration(n); }
  static constexpr Duration microseconds(std::int64_t n) { return Duration(n * 1'000); }
  static constexpr Duration milliseconds(std::int64_t n) { return Duration(n * 1'000'000); }
  static constexpr Duration seconds(std::int64_t n) { return Duration(n * 1'000'000'000); }
  static constexpr Duration zero() { return Duration(0); }
  /// Longer than any story: ten years. Sums of a few of them still fit.
  static constexpr Duration forever() { return seconds(10LL * 365 * 86'400); }

  constexpr std::int64_t count_ns() const { return ns_; }
  /// Whole milliseconds, rounded down (also below zero).
  constexpr std::int64_t floor_ms() const {
    const std::int64_t q = ns_ / 1'000'000;
    return ns_ % 1'000'000 < 0 ? q - 1 : q;
  }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator-() const { return Duration(-ns_); }
  constexpr Duration operator+(Duration o) const { return Duration(ns_ + o.ns_); }
  constexpr Duration operator-(Duration o) const { return Duration(ns_ - o.ns_); }
  constexpr Duration operator*(std::int64_t k) const { return Duration(ns_ * k); }
  constexpr Duration operator/(std::int64_t k) const { return Duration(ns_ / k); }
  constexpr Duration& operator+=(Duration o) {
    ns_ += o.ns_;
    return *this;
  }
  constexpr Duration& operator-=(Duration o) {
    ns_ -= o.ns_;
    return *this;
  }

 private:
  explicit constexpr Duration(std::int64_t ns) : ns_(ns) {}
  std::int64_t ns_ = 0;
};

/// The shortest exact decimal with a unit: "71ms", "1.5ms", "2s", "10ns", "0ms".
std::string to_string(Duration d);

/// Reads "91ms", "1.5s", "-20us", "10ns", "2min". Nothing for anything else, for more digits than a
/// nanosecond holds, and for what does not fit 64 bits.
std::optional<Duration> parse_duration(std::string_view text);

/// All lengths from `lo` to `hi`, both included. Requires: lo <= hi.
struct DurationRange {
  Duration lo;
  Duration hi;

  static constexpr DurationRange exactly(Duration d) { return {d, d}; }
  constexpr bool is_exact() const { return lo == hi; }
  constexpr bool operator==(const DurationRange&) const = default;
};

/// "5ms" or "1ms..5ms".
std::string to_string(DurationRange range);

/// How readings of a clock relate to true time, while an explorer has no numbers yet. 0: they differ by a constant
/// only.
using Scale = std::uint8_t;

/// A point in time that may be symbolic: an anchor, plus an offset.
///
/// In simulation every anchor is the origin, so the offset is plain virtual time. In exploration an anchor is
/// the time variable of an executed event. So comparing two instants takes the constraints on these variables: models
/// and algorithms ask a `Clock` or the `World`, and never look inside. An instant is a reading of some clock; it does
/// not say of which one.
class Instant {
 public:
  constexpr Instant() = default;
  constexpr Instant(std::uint32_t anchor, Duration offset) : offset_(offset), anchor_(anchor) {}
  static constexpr Instant origin() { return {}; }
  static constexpr Instant at(Duration since_origin) { return Instant(0, since_origin); }

  constexpr Instant operator+(Duration d) const { return Instant(anchor_, offset_ + d); }
  constexpr Instant operator-(Duration d) const { return Instant(anchor_, offset_ - d); }

  /// For schedulers, solvers and printing only.
  constexpr std::uint32_t anchor() const { return anchor_; }
  constexpr Duration offset() const { return offset_; }
  /// The same point as a reading on a scale, or back as true time. Readings on different scales have different anchors.
  constexpr Instant on_scale(Scale scale) const {
    return Instant((anchor_ & kVariables) | static_cast<std::uint32_t>(scale) << kScaleShift, offset_);
  }
  constexpr Scale scale() const { return static_cast<Scale>(anchor_ >> kScaleShift); }
  /// The anchor without its scale.
  constexpr std::uint32_t variable() const { return anchor_ & kVariables; }

  /// The same anchor and offset: certainly the same instant. Different ones may still be equal.
  constexpr bool identical(Instant o) const { return anchor_ == o.anchor_ && offset_ == o.offset_; }

 private:
  static constexpr std::uint32_t kScaleShift = 24;
  static constexpr std::uint32_t kVariables = (1u << kScaleShift) - 1;

  Duration offset_;
  std::uint32_t anchor_ = 0;
};

/// That `until - from` is a whole number of units, which another length is if it is rounded down.
struct WholeUnits {
  struct Length {
    Instant from;
    Instant until;
  };
  Instant from;
  Instant until;
  Duration unit;
  std::optional<Length> rounded = {};
};

inline namespace literals {
constexpr Duration operator""_ns(unsigned long long n) { return Duration::nanoseconds(static_cast<std::int64_t>(n)); }
constexpr Duration operator""_us(unsigned long long n) { return Duration::microseconds(static_cast<std::int64_t>(n)); }
constexpr Duration operator""_ms(unsigned long long n) { return Duration::milliseconds(static_cast<std::int64_t>(n)); }
constexpr Duration operator""_s(unsigned long long n) { return Duration::seconds(static_cast<std::int64_t>(n)); }
}  // namespace literals

}  // namespace lockstep::sim
