#include "cli/arguments/option.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

using Takes = Option::Takes;

std::string in_words(Range range) {
  constexpr std::uint64_t kBillion = 1'000'000'000;
  if (range.max == std::numeric_limits<std::uint64_t>::max())
    return range.min == 0 ? "a whole number from 0 to 2^64-1" : fmt::format("a whole number, {} or more", range.min);
  return fmt::format("a whole number from {} to {}", range.min,
                     range.max == kBillion ? "10^9" : std::to_string(range.max));
}

/// "512MB", "4GB", "1000000": in bytes.
std::optional<std::uint64_t> bytes_of(const std::string& text) {
  constexpr std::pair<std::string_view, unsigned> kUnits[] = {{"KB", 10}, {"MB", 20}, {"GB", 30}, {"K", 10},
                                                              {"M", 20},  {"G", 30},  {"", 0}};
  for (const auto& [unit, bits] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto n = whole_number(text.substr(0, text.size() - unit.size()), 1, (1ULL << 50U) >> bits);
    return n ? std::optional(*n << bits) : std::nullopt;
  }
  return std::nullopt;
}

/// The name of a file or of a folder.
Option named(Row row, std::string_view what, std::optional<std::string>& to) {
  return word(row, [name = row.name, what, &to](const std::string& value) {
    to = value;
    return value.empty() ? fmt::format("{} needs the name of {}", name, what) : "";
  });
}

}  // namespace

std::string expected(std::string_view option, const std::string& value, std::string_view what) {
  return fmt::format("{} {}: expected {}", option, scenarios::in_quotes(value), what);
}

std::string not_one_of(std::string_view option, const std::string& value, std::span<const std::string_view> valid) {
  return fmt::format("{} {}: {}", option, scenarios::in_quotes(value), scenarios::suggestion(value, valid));
}

std::optional<std::uint64_t> whole_number(const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < min || n > max) return std::nullopt;
  return n;
}

std::optional<double> seconds_of(const std::string& text) {
  constexpr double kMost = 1e9;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0 && seconds <= kMost))
    return std::nullopt;
  return seconds;
}

Option word(Row row, Option::Take take, Takes takes) {
  return {.name = row.name, .argument = row.argument, .help = row.help, .takes = takes, .take = std::move(take)};
}

Option flag(Row row, bool& to, bool value) {
  const auto take = [&to, value](const std::string&) {
    to = value;
    return std::string();
  };
  return word(row, take, Takes::nothing);
}

Option text(Row row, std::optional<std::string>& to) {
  return word(row, [&to](const std::string& value) {
    to = value;
    return std::string();
  });
}

Option file(Row row, std::vector<std::string_view> marks, std::optional<std::string>& to) {
  Option option = named(row, "a file", to);
  option.output = &to;
  option.marks = std::move(marks);
  return option;
}

Option folder(Row row, std::optional<std::string>& to) { return named(row, "a folder", to); }

Option words(Row row, Takes takes, std::vector<std::string>& to) {
  const auto take = [&to](const std::string& value) {
    to.push_back(value);
    return std::string();
  };
  return word(row, take, takes);
}

Option list(Row row, Takes takes, std::vector<std::string>& to) {
  Option option = words(row, takes, to);
  option.in_commas = true;
  return option;
}

Option one_of(Row row, std::vector<std::string_view> names, std::function<void(std::size_t)> set) {
  return word(row, [=](const std::string& value) {
    const auto found = std::find(names.begin(), names.end(), value);
    if (found == names.end()) return not_one_of(row.name, value, names);
    set(static_cast<std::size_t>(found - names.begin()));
    return std::string();
  });
}

Option seconds(Row row, double& to) {
  return word(row, [row, &to](const std::string& value) {
    const std::optional<double> given = seconds_of(value);
    to = given.value_or(0);
    return given ? "" : expected(row.name, value, "a number of seconds such as 60 or 0.5");
  });
}

Option size(Row row, std::uint64_t& to) {
  return word(row, [row, &to](const std::string& value) {
    const std::optional<std::uint64_t> given = bytes_of(value);
    to = given.value_or(0);
    return given ? "" : expected(row.name, value, "a size like 512MB or 4GB");
  });
}

Option length(Row row, std::string_view of, sim::Duration& to) {
  constexpr double kDay = 86'400;
  return word(row, [row, of, &to](const std::string& value) {
    const std::optional<double> given = seconds_of(value);
    if (!given || *given > kDay)
      return expected(row.name, value, fmt::format("{}, up to a day, such as 60 or 0.5", of));
    to = sim::Duration::nanoseconds(static_cast<std::int64_t>(*given * 1e9));
    return std::string();
  });
}

Option whole(Row row, Range range, std::function<void(std::uint64_t)> set) {
  return word(row, [=](const std::string& value) {
    const std::optional<std::uint64_t> n = whole_number(value, range.min, range.max);
    if (n) set(*n);
    return n ? "" : expected(row.name, value, in_words(range));
  });
}

}  // namespace lockstep::cli
