#include "checker/properties/time_spans.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace lockstep::checker {

using sim::Duration;

std::vector<TimeSpan> running(std::span<const sim::Interruption> pauses, TimeSpan whole) {
  const auto until_of = [](const sim::Interruption& pause) {
    return pause.until ? pause.until->offset() : Duration::forever();
  };
  auto pause = std::partition_point(pauses.begin(), pauses.end(),
                                    [&](const sim::Interruption& p) { return until_of(p) <= whole.from; });
  std::vector<TimeSpan> spans;
  for (; pause != pauses.end() && whole.from < whole.to && pause->from.offset() < whole.to; ++pause) {
    if (whole.from < pause->from.offset()) spans.push_back({whole.from, pause->from.offset()});
    whole.from = until_of(*pause);
  }
  if (whole.from < whole.to) spans.push_back(whole);
  return spans;
}

RowOfLengths::RowOfLengths(std::vector<Duration> lengths, Duration bound) {
  beyond_.assign(lengths.size() + 1, lengths.size());
  for (std::size_t i = lengths.size(); i-- > 0;) beyond_[i] = lengths[i] > bound ? i : beyond_[i + 1];
  longest_.push_back(std::move(lengths));
  for (std::size_t width = 1; 2 * width <= longest_.front().size(); width *= 2) {
    const std::vector<Duration>& halves = longest_.back();
    std::vector<Duration> row;
    for (std::size_t i = 0; i + width < halves.size(); ++i) row.push_back(std::max(halves[i], halves[i + width]));
    longest_.push_back(std::move(row));
  }
}

Duration RowOfLengths::longest(std::size_t first, std::size_t end) const {
  if (first >= end) return Duration::zero();
  const auto level = static_cast<std::size_t>(std::bit_width(end - first)) - 1;
  const std::vector<Duration>& row = longest_[level];
  return std::max({Duration::zero(), row[first], row[end - (std::size_t{1} << level)]});
}

std::size_t RowOfLengths::first_beyond(std::size_t first, std::size_t end) const {
  return first >= end ? end : std::min(beyond_[first], end);
}

Duration end_or_never(const std::optional<sim::Instant>& at, const std::optional<sim::Instant>& story_end) {
  return !at || (story_end && at->offset() > story_end->offset()) ? Duration::forever() : at->offset();
}

}  // namespace lockstep::checker
