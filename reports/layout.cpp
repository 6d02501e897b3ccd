#include "reports/layout.hpp"

#include <algorithm>
#include <set>

#include "reports/text.hpp"

namespace lockstep::reports {
namespace {

using scenarios::Lane;
using sim::ProcessId;

constexpr std::size_t kTextMin = 39;  // a command and its answer
constexpr std::size_t kTextMax = 72;  // beyond this a line is harder to read than two lanes further apart
constexpr std::size_t kPitchMax = 11;
constexpr std::size_t kGap = 2;  // between lanes and text

/// Clients before servers, so that every request goes to the right.
int order_of(Lane::Role role) {
  switch (role) {
    case Lane::Role::client: return 0;
    case Lane::Role::probe: return 1;
    case Lane::Role::server: return 2;
    case Lane::Role::resource: return 3;
  }
  return 0;
}

/// A server's bar has beside it the name of whoever wrote the key; an arrow between two bars has room for its head.
/// Short names stay whole; numbered servers share one name above their numbers.
std::size_t pitch_min(const LaneColumn& lane) {
  if (lane.role == Lane::Role::server) return 4;
  return std::clamp<std::size_t>(lane.name.size() + 1, 3, 7);
}

std::size_t pitch_wanted(const LaneColumn& lane) {
  return std::max(lane.name.size() + 2, lane.role == Lane::Role::server ? pitch_min(lane) + 2 : std::size_t{6});
}

std::size_t spare(const LaneColumn& lane) { return lane.pitch - std::min(lane.pitch, pitch_min(lane)); }

std::size_t sum_of_pitches(const std::vector<LaneColumn>& lanes) {
  std::size_t sum = 0;
  for (const LaneColumn& lane : lanes) sum += lane.pitch;
  return sum;
}

/// Who matters most for the story, if not all clients have room: those to blame, then those who do something.
std::set<ProcessId> most_important(const Story& story, const std::vector<Event>& events, std::size_t count) {
  std::set<ProcessId> chosen;
  const auto choose = [&](ProcessId p) {
    if (p.is_valid() && chosen.size() < count) chosen.insert(p);
  };
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    for (const ProcessId p : judgement.finding.by) choose(p);
  }
  for (const Event& event : events) {
    const bool is_client = event.who.is_valid() && event.who.index < story.outcome.lanes.size() &&
                           story.outcome.lanes[event.who.index].role == Lane::Role::client;
    if (is_client) choose(event.who);
  }
  return chosen;
}

}  // namespace

std::string time_text(sim::Instant at) {
  const std::string exact = sim::to_string(at.offset());
  if (exact.size() <= 9) return exact;
  const std::int64_t us = at.offset().count_ns() / 1000;
  const std::string rounded = sim::to_string(sim::Duration::microseconds(us));
  return rounded.size() <= 12 ? rounded : sim::to_string(sim::Duration::milliseconds(us / 1000));
}

const LaneColumn* Layout::lane_of(ProcessId process) const {
  const auto found =
      std::find_if(lanes.begin(), lanes.end(), [&](const LaneColumn& l) { return l.process == process; });
  return found == lanes.end() ? nullptr : &*found;
}

Layout lay_out(const Story& story, const std::vector<Event>& events, const LocalTimes& local, std::size_t overlap_width,
               std::size_t width) {
  Layout layout;
  layout.width = width;
  layout.overlap_width = overlap_width;
  layout.time_width = 6;
  std::size_t text_wanted = kTextMin;
  for (const Event& event : events) {
    layout.time_width = std::max(layout.time_width, time_text(event.at).size());
    text_wanted = std::max(text_wanted, display_width(event.text));
    if (event.who.is_valid()) {
      const std::size_t name = display_width(name_of(story.outcome, event.who));
      layout.name_width = std::max(layout.name_width, std::min<std::size_t>(name, 8));
    }
  }

  const bool with_probe = shows_probe(story.outcome);
  for (std::size_t i = 0; i < story.outcome.lanes.size(); ++i) {
    const Lane& lane = story.outcome.lanes[i];
    if (lane.role == Lane::Role::probe && !with_probe) continue;
    layout.lanes.push_back({sim::ProcessId{static_cast<std::uint16_t>(i)}, lane.role, lane.name});
  }
  std::sort(layout.lanes.begin(), layout.lanes.end(), [](const LaneColumn& a, const LaneColumn& b) {
    return std::pair(order_of(a.role), a.process) < std::pair(order_of(b.role), b.process);
  });

  for (const ProcessId process : local.that_differ()) {
    if (layout.clocks.size() == kClockColumnsMax) break;
    std::size_t needed = story.outcome.lanes[process.index].name.size() + 8;  // "B's clock"
    for (const Event& event : events) needed = std::max(needed, time_text(local.reading(process, event.at)).size());
    layout.clocks.push_back(process);
    layout.clock_widths.push_back(needed);
  }

  if (!layout.clocks.empty()) layout.time_width = std::max<std::size_t>(layout.time_width, 9);

  // Everything that is not a lane and not the text.
  const auto fixed = [&] {
    std::size_t sum = layout.overlap_width + layout.time_width + 2 + kGap + layout.name_width + 2;
    for (const std::size_t w : layout.clock_widths) sum += w + 1;
    return sum;
  };
  const auto room = [&] {
    const std::size_t taken = fixed() + kTextMin;
    return width > taken ? width - taken : std::size_t{0};
  };

  for (LaneColumn& lane : layout.lanes) {
    lane.pitch = pitch_wanted(lane);
  }
  // The last lane's name may stand above the text.
  if (!layout.lanes.empty() && layout.lanes.back().role == Lane::Role::resource) layout.lanes.back().pitch = 1;
  while (sum_of_pitches(layout.lanes) > room()) {
    auto widest = std::max_element(layout.lanes.begin(), layout.lanes.end(),
                                   [](const LaneColumn& a, const LaneColumn& b) { return spare(a) < spare(b); });
    if (spare(*widest) == 0) break;
    --widest->pitch;
  }
  if (sum_of_pitches(layout.lanes) > room()) {
    std::size_t others = 0;
    std::size_t clients = 0;
    for (const LaneColumn& lane : layout.lanes) {
      if (lane.role == Lane::Role::client)
        ++clients;
      else
        others += lane.pitch;
    }
    const std::size_t affordable = room() > others ? (room() - others) / 3 : 0;
    const std::size_t count = std::min(clients, std::max<std::size_t>(affordable, 3));
    const std::set<ProcessId> chosen = most_important(story, events, count);
    layout.lanes_left_out = clients;
    std::erase_if(layout.lanes, [&](const LaneColumn& lane) {
      return lane.role == Lane::Role::client && !chosen.contains(lane.process);
    });
    for (const LaneColumn& lane : layout.lanes) {
      if (lane.role == Lane::Role::client) --layout.lanes_left_out;
    }
  }

  // What the text does not need goes to the lanes.
  text_wanted = std::min(text_wanted, kTextMax);
  for (bool grown = true; grown && fixed() + sum_of_pitches(layout.lanes) + text_wanted < width;) {
    grown = false;
    for (LaneColumn& lane : layout.lanes) {
      if (lane.pitch >= kPitchMax || lane.pitch == 1 || fixed() + sum_of_pitches(layout.lanes) + text_wanted >= width)
        continue;
      ++lane.pitch;
      grown = true;
    }
  }

  std::size_t column = 0;
  for (LaneColumn& lane : layout.lanes) {
    lane.bar = column;
    column += lane.pitch;
  }
  layout.lanes_width = column;
  const std::size_t taken = fixed() + layout.lanes_width;
  layout.text_width = width > taken + 16 ? width - taken : 16;
  return layout;
}

}  // namespace lockstep::reports
