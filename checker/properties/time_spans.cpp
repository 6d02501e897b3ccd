#include "checker/properties/time_spans.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::checker {

using sim::Duration;

std::vector<TimeSpan> running(const sim::History& history, sim::ProcessId process, TimeSpan whole) {
  std::vector<TimeSpan> left{whole};
  for (const sim::Interruption& pause : history.interruptions) {
    if (!freezes(pause.kind) || pause.process != process) continue;
    const Duration from = pause.from.offset();
    const Duration until = pause.until ? pause.until->offset() : Duration::forever();
    std::vector<TimeSpan> rest;
    for (const TimeSpan& span : left) {
      if (span.from < from) rest.push_back({span.from, std::min(span.to, from)});
      if (until < span.to) rest.push_back({std::max(span.from, until), span.to});
    }
    left = std::move(rest);
  }
  return left;
}

Duration end_or_never(const std::optional<sim::Instant>& at, const std::optional<sim::Instant>& story_end) {
  return !at || (story_end && at->offset() > story_end->offset()) ? Duration::forever() : at->offset();
}

}  // namespace lockstep::checker
