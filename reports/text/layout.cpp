#include "reports/text/layout.hpp"

#include <algorithm>
#include <set>

#include "reports/text/figures.hpp"
#include "reports/text/shorten.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using scenarios::Lane;
using sim::ProcessId;

constexpr std::size_t kTextMin = 39;         // a command and its answer
constexpr std::size_t kTextWithClocks = 30;  // a clock beside true time is worth a broken line of text
constexpr std::size_t kTextMax = 72;         // beyond this a line is harder to read than two lanes further apart
constexpr std::size_t kTextLeast = 10;       // where there are too many servers for more
constexpr std::size_t kNameMax = 8;          // of who acts
constexpr std::size_t kNarrow = 60;          // a terminal with fewer columns has room for few lanes beside the text
constexpr std::size_t kNameMaxNarrow = 4;
constexpr std::size_t kClientPitchTypical = 4;
constexpr std::size_t kPitchMax = 11;
constexpr std::size_t kGap = 2;  // between lanes and text

/// Clients before servers, so that every request goes to the right.
int order_of(Lane::Role role) {
  switch (role) {
    case Lane::Role::client: return 0;
    case Lane::Role::probe: return 1;
    case Lane::Role::server: return 2;
    case Lane::Role::sentinel: return 3;
    case Lane::Role::resource: return 4;
  }
  return 0;
}

/// A server's bar has beside it the name of whoever wrote the key; an arrow between two bars has room for its head.
/// Short names stay whole; numbered servers share one name above their numbers.
std::size_t pitch_min(const LaneColumn& lane) {
  if (lane.role == Lane::Role::server || (lane.role == Lane::Role::sentinel && lane.is_numbered())) return 4;
  return std::clamp<std::size_t>(lane.name.size() + 1, 3, 7);
}

std::size_t pitch_wanted(const LaneColumn& lane) {
  return std::max(lane.name.size() + 2, lane.role == Lane::Role::server ? pitch_min(lane) + 2 : std::size_t{6});
}

std::size_t spare(const LaneColumn& lane) { return lane.pitch - std::min(lane.pitch, pitch_min(lane)); }

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

class LayoutMaker {
 public:
  LayoutMaker(const Story& story, const std::vector<Event>& events, const std::vector<std::string>& texts,
              std::size_t overlap_width, std::size_t width)
      : story_(story), events_(events) {
    layout_.width = width;
    layout_.overlap_width = overlap_width;
    layout_.time_width = 6;
    std::vector<sim::Instant> instants;
    for (const Event& event : events) instants.push_back(event.at);
    layout_.times = column_of(instants);
    for (const std::string& time : layout_.times) layout_.time_width = std::max(layout_.time_width, time.size());
    for (const std::string& text : texts) text_wanted_ = std::max(text_wanted_, display_width(text));
    for (const Event& event : events) {
      if (!event.who.is_valid()) continue;
      const std::size_t name = display_width(name_of(story.outcome, event.who));
      const std::size_t name_max = width < kNarrow ? kNameMaxNarrow : kNameMax;
      layout_.name_width = std::max(layout_.name_width, std::min(name, name_max));
    }
    text_wanted_ = std::min(text_wanted_, kTextMax);
    add_lanes();
  }

  Layout make(const LocalTimes& local) {
    add_clocks(local);
    shrink(room());
    if (sum_of_pitches() > room()) drop_clients();
    if (sum_of_pitches() > room(kTextLeast)) drop_servers();
    if (sum_of_pitches() > room(kTextLeast)) drop_anybody();
    grow();
    name_lanes();
    for (LaneColumn& lane : layout_.lanes) {
      lane.bar = layout_.lanes_width;
      layout_.lanes_width += lane.pitch;
    }
    const std::size_t taken = fixed() + layout_.lanes_width;
    layout_.text_width = std::max<std::size_t>(1, layout_.width - std::min(layout_.width, taken));
    return std::move(layout_);
  }

 private:
  void add_lanes() {
    const bool with_probe = shows_probe(story_.outcome);
    for (std::size_t i = 0; i < story_.outcome.lanes.size(); ++i) {
      const Lane& lane = story_.outcome.lanes[i];
      if (lane.role == Lane::Role::probe && !with_probe) continue;
      // A watchdog that never does anything is no part of the story.
      if (lane.host.is_valid() && !acts(sim::ProcessId{static_cast<std::uint16_t>(i)})) continue;
      layout_.lanes.push_back({sim::ProcessId{static_cast<std::uint16_t>(i)}, lane.role, lane.name});
    }
    std::sort(layout_.lanes.begin(), layout_.lanes.end(), [](const LaneColumn& a, const LaneColumn& b) {
      return std::pair(order_of(a.role), a.process) < std::pair(order_of(b.role), b.process);
    });
    for (LaneColumn& lane : layout_.lanes) lane.pitch = pitch_wanted(lane);
    // The last lane's name may stand above the text.
    if (!layout_.lanes.empty() && layout_.lanes.back().role == Lane::Role::resource) layout_.lanes.back().pitch = 1;
  }

  bool acts(sim::ProcessId process) const {
    return std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
      return event.who == process || (event.arrow && (event.arrow->from == process || event.arrow->to == process));
    });
  }

  /// As many as there is room for beside the narrowest lanes; of the others the texts say what their clocks show.
  void add_clocks(const LocalTimes& local) {
    std::size_t narrowest = 0;
    for (const LaneColumn& lane : layout_.lanes) narrowest += std::min(lane.pitch, pitch_min(lane));
    const std::size_t time_width = std::max<std::size_t>(layout_.time_width, 9);
    for (const ProcessId process : local.that_differ()) {
      if (layout_.lane_of(process) == nullptr || layout_.clocks.size() == kClockColumnsMax) continue;
      std::size_t needed =
          std::min<std::size_t>(story_.outcome.lanes[process.index].name.size() + 8, 12);  // "B's clock"
      std::vector<sim::Instant> readings;
      for (const Event& event : events_) readings.push_back(local.reading(process, event.at));
      std::vector<std::string> times = column_of(readings);
      for (const std::string& time : times) needed = std::max(needed, time.size());
      if (needed + 1 + time_width - layout_.time_width + narrowest > room(kTextWithClocks)) break;
      layout_.time_width = time_width;
      layout_.clocks.push_back(process);
      layout_.clock_widths.push_back(needed);
      layout_.clock_times.push_back(std::move(times));
    }
  }

  /// Everything that is not a lane and not the text.
  std::size_t fixed() const {
    std::size_t sum = layout_.overlap_width + layout_.time_width + 2 + kGap + layout_.name_width + 2;
    for (const std::size_t w : layout_.clock_widths) sum += w + 1;
    return sum;
  }
  /// For the lanes.
  std::size_t room(std::size_t text = kTextMin) const {
    const std::size_t taken = fixed() + text;
    return layout_.width - std::min(layout_.width, taken);
  }
  std::size_t sum_of_pitches() const {
    std::size_t sum = 0;
    for (const LaneColumn& lane : layout_.lanes) sum += lane.pitch;
    return sum;
  }

  void shrink(std::size_t available) {
    while (sum_of_pitches() > available) {
      auto widest = std::max_element(layout_.lanes.begin(), layout_.lanes.end(),
                                     [](const LaneColumn& a, const LaneColumn& b) { return spare(a) < spare(b); });
      if (spare(*widest) == 0) return;
      --widest->pitch;
    }
  }

  void drop_clients() {
    std::size_t others = 0;
    std::size_t clients = 0;
    for (const LaneColumn& lane : layout_.lanes) {
      if (lane.role == Lane::Role::client)
        ++clients;
      else
        others += lane.pitch;
    }
    const std::size_t affordable = room() > others ? (room() - others) / kClientPitchTypical : 0;
    if (clients <= std::max<std::size_t>(affordable, 3)) return;
    const std::set<ProcessId> chosen = most_important(story_, events_, std::max<std::size_t>(affordable, 3));
    layout_.lanes_left_out += std::erase_if(layout_.lanes, [&](const LaneColumn& lane) {
      return lane.role == Lane::Role::client && !chosen.contains(lane.process);
    });
  }

  void drop_servers() {
    for (std::size_t i = layout_.lanes.size(); i-- > 1 && sum_of_pitches() > room(kTextLeast);) {
      const bool follows_a_server = layout_.lanes[i - 1].role == Lane::Role::server;
      if (layout_.lanes[i].role != Lane::Role::server || !follows_a_server) continue;
      layout_.lanes.erase(layout_.lanes.begin() + static_cast<std::ptrdiff_t>(i));
      ++layout_.lanes_left_out;
    }
  }

  /// Without a lane somebody still acts in the texts. Clients keep theirs the longest, and of these who matters most.
  void drop_anybody() {
    for (const Lane::Role role : {Lane::Role::sentinel, Lane::Role::resource, Lane::Role::server, Lane::Role::probe}) {
      for (std::size_t i = layout_.lanes.size(); i-- > 0 && sum_of_pitches() > room(kTextLeast);) {
        if (layout_.lanes[i].role != role) continue;
        layout_.lanes.erase(layout_.lanes.begin() + static_cast<std::ptrdiff_t>(i));
        ++layout_.lanes_left_out;
      }
    }
    for (std::size_t clients = layout_.lanes.size(); clients-- > 0 && sum_of_pitches() > room(kTextLeast);) {
      const std::set<ProcessId> chosen = most_important(story_, events_, clients);
      layout_.lanes_left_out +=
          std::erase_if(layout_.lanes, [&](const LaneColumn& lane) { return !chosen.contains(lane.process); });
    }
  }

  /// What stands above the lanes and before the texts. Servers and sentinels that are numbered share one name above
  /// their numbers when each name does not fit.
  void name_lanes() {
    std::vector<std::string> names;
    for (const LaneColumn& lane : layout_.lanes) names.push_back(lane.name);
    for (std::size_t i = 0; i < names.size(); ++i) {
      LaneColumn& lane = layout_.lanes[i];
      // The last one's name may stand above the text.
      const std::size_t width = &lane == &layout_.lanes.back() ? std::max<std::size_t>(lane.pitch, 12) : lane.pitch - 1;
      const bool shares = lane.role == Lane::Role::server || lane.role == Lane::Role::sentinel;
      if (shares && lane.is_numbered() && lane.name.size() + 1 > lane.pitch) {
        lane.group = lane.name.substr(0, lane.digits());
        lane.heading = lane.name.substr(lane.digits());
      } else {
        lane.heading = short_names(names, width)[i];
      }
    }
    std::vector<std::string> actors;
    for (const Lane& lane : story_.outcome.lanes) actors.push_back(lane.name);
    layout_.actor_names = short_names(actors, layout_.name_width);
  }

  /// What the text does not need goes to the lanes.
  void grow() {
    const auto is_full = [&] { return fixed() + sum_of_pitches() + text_wanted_ >= layout_.width; };
    for (bool grown = true; grown && !is_full();) {
      grown = false;
      for (LaneColumn& lane : layout_.lanes) {
        if (lane.pitch >= kPitchMax || lane.pitch == 1 || is_full()) continue;
        ++lane.pitch;
        grown = true;
      }
    }
  }

  const Story& story_;
  const std::vector<Event>& events_;
  Layout layout_;
  std::size_t text_wanted_ = kTextMin;
};

}  // namespace

std::size_t LaneColumn::digits() const { return name.find_last_not_of("0123456789") + 1; }

const LaneColumn* Layout::lane_of(ProcessId process) const {
  const auto found =
      std::find_if(lanes.begin(), lanes.end(), [&](const LaneColumn& l) { return l.process == process; });
  return found == lanes.end() ? nullptr : &*found;
}

Layout lay_out(const Story& story, const std::vector<Event>& events, const std::vector<std::string>& texts,
               const LocalTimes& local, std::size_t overlap_width, std::size_t width) {
  return LayoutMaker(story, events, texts, overlap_width, width).make(local);
}

}  // namespace lockstep::reports
