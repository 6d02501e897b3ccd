#include "reports/text/figures.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lockstep::reports {

using sim::Duration;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// To three figures; `step_max`: no coarser than that.
Duration to_three_figures(Duration d, std::int64_t step_max) {
  const std::int64_t size = d.count_ns() < 0 ? -d.count_ns() : d.count_ns();
  std::int64_t step = 1;
  while (size / step >= 1'000 && step < step_max) step *= 10;
  const std::int64_t rounded = (size + step / 2) / step * step;
  const std::int64_t off = rounded < size ? size - rounded : rounded - size;
  if (off * 1'000 < step) return d;
  return Duration::nanoseconds(d.count_ns() < 0 ? -rounded : rounded);
}

/// Whether what stands at `[from, to)` is how long something took, by the words around it.
bool is_how_long(std::string_view sentence, std::size_t from, std::size_t to) {
  constexpr std::array<std::string_view, 4> before = {"waited ", "not within ", "could not get the lock ",
                                                      "longer than "};
  constexpr std::array<std::string_view, 3> after = {" after everything", " after all others", " later"};
  return std::any_of(before.begin(), before.end(),
                     [&](auto words) { return sentence.substr(0, from).ends_with(words); }) ||
         std::any_of(after.begin(), after.end(), [&](auto words) { return sentence.substr(to).starts_with(words); });
}

/// "1150.25ms".
std::string in_milliseconds(Duration d) {
  const std::int64_t ns = d.count_ns() < 0 ? -d.count_ns() : d.count_ns();
  std::string fraction = fmt::format("{:06}", ns % kMillisecond);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fmt::format("{}{}{}{}ms", d.count_ns() < 0 ? "-" : "", ns / kMillisecond, fraction.empty() ? "" : ".",
                     fraction);
}

}  // namespace

Duration rounded_for_reading(Duration d) { return to_three_figures(d, kMillisecond); }

std::string with_rounded_times(std::string_view sentence) {
  struct Time {
    std::size_t from, to;
    std::string exact, rounded;
  };
  const auto is_of_word = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.'; };
  std::vector<Time> times;
  for (std::size_t from = sentence.find_first_of("0123456789"); from < sentence.size();
       from = sentence.find_first_of("0123456789", from)) {
    std::size_t to = from;
    while (to < sentence.size() && is_of_word(sentence[to])) ++to;
    while (to > from && sentence[to - 1] == '.') --to;
    const std::string exact(sentence.substr(from, to - from));
    const bool is_word_begin = from == 0 || std::string_view(" (").find(sentence[from - 1]) != std::string_view::npos;
    const std::optional<Duration> d = is_word_begin ? sim::parse_duration(exact) : std::nullopt;
    if (d) {
      const bool is_length = is_how_long(sentence, from, to);
      const Duration rounded = is_length ? to_three_figures(*d, d->count_ns()) : rounded_for_reading(*d);
      times.push_back({from, to, exact, rounded == *d ? exact : sim::to_string(rounded)});
    }
    from = std::max(to, from + 1);
  }
  std::string text;
  std::size_t done = 0;
  for (const Time& time : times) {
    const bool looks_like_another = std::any_of(times.begin(), times.end(), [&](const Time& other) {
      return other.exact != time.exact && other.rounded == time.rounded;
    });
    text.append(sentence.substr(done, time.from - done)).append(looks_like_another ? time.exact : time.rounded);
    done = time.to;
  }
  return text.append(sentence.substr(done));
}

std::vector<std::string> column_of(std::span<const sim::Instant> times) {
  const bool in_seconds = std::all_of(times.begin(), times.end(), [](sim::Instant at) {
    const std::int64_t ns = at.offset().count_ns();
    return ns == 0 || (ns % (10 * kMillisecond) == 0 && ns >= 1'000 * kMillisecond);
  });
  const auto text_at = [&](std::size_t i, bool exact) {
    const Duration d = exact ? times[i].offset() : rounded_for_reading(times[i].offset());
    return in_seconds && d != Duration::zero() ? sim::to_string(d) : in_milliseconds(d);
  };
  std::vector<std::string> column;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string rounded = text_at(i, false);
    const auto looks_like = [&](std::size_t other) {
      return times[other].offset() != times[i].offset() && text_at(other, false) == rounded;
    };
    const bool is_clear = (i == 0 || !looks_like(i - 1)) && (i + 1 == times.size() || !looks_like(i + 1));
    column.push_back(is_clear ? rounded : text_at(i, true));
  }
  return column;
}

std::string per(std::uint64_t n, std::uint64_t by) {
  return by == 0 ? "-" : fmt::format("{}.{:02}", n / by, n % by * 100 / by);
}

std::string text_of(std::optional<Duration> d) {
  if (!d) return "-";
  const std::int64_t step = *d < Duration::milliseconds(100) ? 100'000 : 1'000'000;
  return sim::to_string(Duration::nanoseconds(d->count_ns() / step * step));
}

}  // namespace lockstep::reports
