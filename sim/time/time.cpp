#include "sim/time/time.hpp"

#include <array>
#include <limits>

namespace lockstep::sim {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};

constexpr std::array<Unit, 5> kUnits{
    {{"min", 60'000'000'000}, {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};

/// "1.5" of a unit: whole part, then the fraction without its trailing zeros.
std::string decimal(std::uint64_t ns, std::uint64_t unit) {
  std::string text = std::to_string(ns / unit);
  std::uint64_t rest = ns % unit;
  if (rest == 0) return text;
  text += '.';
  for (std::uint64_t digit = unit / 10; rest != 0; digit /= 10) {
    text += static_cast<char>('0' + rest / digit);
    rest %= digit;
  }
  return text;
}

}  // namespace

std::string to_string(Duration d) {
  const std::int64_t ns = d.count_ns();
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  const std::string sign = ns < 0 ? "-" : "";
  if (size == 0) return "0ms";
  if (size >= 1'000'000'000 && size % 10'000'000 == 0) return sign + decimal(size, 1'000'000'000) + "s";
  if (size >= 10'000) return sign + decimal(size, 1'000'000) + "ms";
  if (size >= 1'000) return sign + decimal(size, 1'000) + "us";
  return sign + std::to_string(size) + "ns";
}

std::string to_string(DurationRange range) {
  return range.is_exact() ? to_string(range.lo) : to_string(range.lo) + ".." + to_string(range.hi);
}

std::optional<Duration> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t digits = text.find_first_not_of("0123456789.");
  if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(0, digits);
  const std::string_view name = text.substr(digits);
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    const std::size_t point = number.find('.');
    const std::string_view whole = number.substr(0, point);
    const std::string_view fraction = point == std::string_view::npos ? "" : number.substr(point + 1);
    if (whole.empty() || (point != std::string_view::npos && fraction.empty())) return std::nullopt;
    if (fraction.find('.') != std::string_view::npos) return std::nullopt;
    constexpr auto limit = static_cast<__int128>(std::numeric_limits<std::int64_t>::max());
    __int128 ns = 0;
    for (const char c : whole) {
      ns = ns * 10 + (c - '0') * static_cast<__int128>(unit.ns);
      if (ns > limit) return std::nullopt;
    }
    __int128 scale = unit.ns;
    for (const char c : fraction) {
      // A digit below the nanosecond would be lost silently: refuse it instead.
      if (scale % 10 != 0) return std::nullopt;
      scale /= 10;
      ns += (c - '0') * scale;
    }
    if (ns > limit) return std::nullopt;
    return Duration::nanoseconds(static_cast<std::int64_t>(negative ? -ns : ns));
  }
  return std::nullopt;
}

}  // namespace lockstep::sim
