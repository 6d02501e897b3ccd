#include "reports/picture/axis.hpp"

#include <algorithm>

namespace lockstep::reports::picture {
namespace {

using sim::Duration;

constexpr int kRowHeight = 24;
constexpr int kBetween = 12;     ///< a moment without a row
constexpr int kLongTime = 16;    ///< more, where much time passes
constexpr int kTextHeight = 15;  ///< what two rows of text need
constexpr int kScaleMin = 420, kScaleMax = 2400;

/// Moments that bring something to be drawn, ascending, each once.
std::vector<Duration> moments_of(const Diagram& diagram) {
  std::vector<Duration> moments;
  const auto add = [&](sim::Instant at) {
    if (at.offset() <= diagram.end.offset()) moments.push_back(at.offset());
  };
  for (const DiagramRow& row : diagram.rows) add(row.event.at);
  for (const DiagramMessage& message : diagram.messages) {
    add(message.sent.at);
    add(message.handled.at);
  }
  for (const DiagramBar& bar : diagram.bars) {
    add(bar.from.at);
    if (bar.to) add(bar.to->at);
  }
  if (moments.empty()) moments.push_back(Duration::zero());
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

/// Much longer than most steps take.
Duration long_time(const std::vector<Duration>& moments) {
  std::vector<Duration> gaps;
  for (std::size_t i = 1; i < moments.size(); ++i) gaps.push_back(moments[i] - moments[i - 1]);
  if (gaps.empty()) return Duration::forever();
  std::sort(gaps.begin(), gaps.end());
  return gaps[gaps.size() / 2] * 8;
}

/// In proportion, without leaving 64 bits.
int between(int from, int to, Duration part, Duration whole) {
  if (whole <= Duration::zero()) return from;
  const auto moved = static_cast<__int128>(to - from) * part.count_ns() / whole.count_ns();
  return from + static_cast<int>(moved);
}

}  // namespace

Axis::Axis(const Diagram& diagram, AxisKind kind, int top) : kind_(kind), rows_(diagram.rows.size()) {
  for (const DiagramRow& row : diagram.rows) places_.push_back({row.event.at, row.event.step});
  kind == AxisKind::by_event ? place_by_event(diagram, top) : place_to_scale(diagram, top);
  bottom_ = ticks_.back().last;
  thin_out(diagram);
}

void Axis::place_by_event(const Diagram& diagram, int top) {
  const std::vector<Duration> moments = moments_of(diagram);
  const Duration much = long_time(moments);
  std::size_t row = 0;
  int y = top;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const bool has_row = row < places_.size() && places_[row].at.offset() == moments[i];
    if (i > 0) y += (has_row ? kRowHeight : kBetween) + (moments[i] - moments[i - 1] > much ? kLongTime : 0);
    Tick tick{moments[i], y, y};
    for (bool is_first = true; row < places_.size() && places_[row].at.offset() == moments[i]; is_first = false) {
      if (!is_first) y += kRowHeight;
      rows_[row++] = y;
    }
    tick.last = y;
    ticks_.push_back(tick);
  }
}

void Axis::place_to_scale(const Diagram& diagram, int top) {
  const std::vector<Duration> moments = moments_of(diagram);
  const int height = std::clamp(static_cast<int>(diagram.rows.size()) * kRowHeight, kScaleMin, kScaleMax);
  const Duration whole = moments.back() - moments.front();
  for (const Duration moment : moments) {
    const int y = between(top, top + height, moment - moments.front(), whole);
    ticks_.push_back({moment, y, y});
  }
  for (std::size_t i = 0; i < places_.size(); ++i) rows_[i] = of(places_[i].at);
}

void Axis::thin_out(const Diagram& diagram) {
  int free_from = 0;
  for (std::size_t i = 0; i < diagram.rows.size(); ++i) {
    const bool fits = rows_[i] >= free_from;
    has_room_.push_back(fits ? 1 : 0);
    if (fits) free_from = rows_[i] + kTextHeight;
  }
}

int Axis::of(sim::Instant at) const {
  const auto after = std::lower_bound(ticks_.begin(), ticks_.end(), at.offset(),
                                      [](const Tick& tick, Duration t) { return tick.at < t; });
  if (after == ticks_.end()) return ticks_.back().last;
  if (after == ticks_.begin() || after->at == at.offset()) return after->first;
  const Tick& before = *(after - 1);
  return between(before.last, after->first, at.offset() - before.at, after->at - before.at);
}

int Axis::of(const Place& place) const {
  if (kind_ == AxisKind::to_scale) return of(place.at);
  // Rows of one time are ordered by step: the first that is not before it.
  const auto first = std::find_if(places_.begin(), places_.end(), [&](const Place& row) {
    return row.at.offset() == place.at.offset() && row.step >= place.step;
  });
  if (first != places_.end()) return rows_[static_cast<std::size_t>(first - places_.begin())];
  const auto tick =
      std::find_if(ticks_.begin(), ticks_.end(), [&](const Tick& t) { return t.at == place.at.offset(); });
  return tick != ticks_.end() ? tick->last : of(place.at);
}

}  // namespace lockstep::reports::picture
