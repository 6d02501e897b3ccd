#include "reports/text/local_time.hpp"

#include <algorithm>
#include <string_view>

namespace lockstep::reports {
namespace {

sim::Duration gained(std::int64_t drift_ppm, sim::Duration elapsed) {
  const auto ns = static_cast<__int128>(elapsed.count_ns()) * drift_ppm / 1'000'000;
  return sim::Duration::nanoseconds(static_cast<std::int64_t>(ns));
}

/// "jump -120s".
sim::Duration length_of_jump(std::string_view text) {
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return sim::Duration::zero();
  return sim::parse_duration(text.substr(blank + 1)).value_or(sim::Duration::zero());
}

}  // namespace

LocalTimes::LocalTimes(const scenarios::Outcome& outcome) {
  for (const scenarios::Lane& lane : outcome.lanes) {
    clocks_.push_back({lane.clock.drift_ppm, {{sim::Instant::origin(), lane.clock.offset}}});
  }
  // Each note of the trace is exact, so what is computed here never runs away from it.
  for (const sim::TraceRecord& record : outcome.trace.records) {
    if (record.process.index >= clocks_.size() || record.lost) continue;
    OwnClock& clock = clocks_[record.process.index];
    sim::Duration ahead = record.local.offset() - record.at.offset();
    const auto fault = record.kind == sim::EventKind::fault ? sim::kind_named(record.name) : std::nullopt;
    if (fault && moves_clock(*fault)) ahead += length_of_jump(record.text);
    clock.settings.push_back({record.at, ahead});
  }
}

sim::Instant LocalTimes::reading(sim::ProcessId process, sim::Instant true_time) const {
  if (process.index >= clocks_.size()) return true_time;
  const OwnClock& clock = clocks_[process.index];
  auto next = std::upper_bound(clock.settings.begin(), clock.settings.end(), true_time,
                               [](sim::Instant t, const Setting& s) { return t.offset() < s.from.offset(); });
  const Setting& last = next == clock.settings.begin() ? clock.settings.front() : *(next - 1);
  return true_time + last.offset + gained(clock.drift_ppm, true_time.offset() - last.from.offset());
}

std::vector<sim::ProcessId> LocalTimes::that_differ() const {
  std::vector<sim::ProcessId> differing;
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    const OwnClock& clock = clocks_[i];
    const bool ever =
        clock.drift_ppm != 0 || std::any_of(clock.settings.begin(), clock.settings.end(),
                                            [](const Setting& s) { return s.offset != sim::Duration::zero(); });
    if (ever) differing.push_back(sim::ProcessId{static_cast<std::uint16_t>(i)});
  }
  return differing;
}

}  // namespace lockstep::reports
