#pragma once

// Where everything of a timeline stands: which lanes there are, and in which column each has its bar.

#include <cstddef>
#include <string>
#include <vector>

#include "reports/run/events.hpp"
#include "reports/run/verdicts.hpp"
#include "reports/text/local_time.hpp"

namespace lockstep::reports {

struct LaneColumn {
  sim::ProcessId process;
  scenarios::Lane::Role role = scenarios::Lane::Role::client;
  std::string name;
  std::size_t bar = 0;    ///< column of its bar, from the left edge of the lanes
  std::size_t pitch = 0;  ///< columns up to the next lane's bar
  std::string heading;    ///< what stands above its bar: its name, or its number below the name of its group
  std::string group;      ///< empty: its heading says it all

  bool is_numbered() const { return digits() > 0 && digits() < name.size(); }
  std::size_t digits() const;  ///< where the number at the end of its name begins
};

struct Layout {
  std::size_t width = 0;
  std::size_t overlap_width = 0;       ///< "!! B+C": 0 if nobody overlaps
  std::size_t time_width = 0;          ///< true time
  std::vector<std::string> times;      ///< of each event, in true time
  std::vector<sim::ProcessId> clocks;  ///< whose own clocks have a column beside true time
  std::vector<std::size_t> clock_widths;
  std::vector<std::vector<std::string>> clock_times;  ///< for each of these clocks, of each event
  std::vector<LaneColumn> lanes;                      ///< clients, probe, servers, resource
  std::size_t lanes_width = 0;
  std::size_t name_width = 0;            ///< of who acts, before the text
  std::vector<std::string> actor_names;  ///< by process: in so many columns
  std::size_t text_width = 0;
  std::size_t lanes_left_out = 0;  ///< processes for which there was no room

  const LaneColumn* lane_of(sim::ProcessId process) const;
};

/// Own clocks have at most this many columns.
inline constexpr std::size_t kClockColumnsMax = 3;

/// `texts`: of the events, as they are shown.
Layout lay_out(const Story& story, const std::vector<Event>& events, const std::vector<std::string>& texts,
               const LocalTimes& local, std::size_t overlap_width, std::size_t width);

}  // namespace lockstep::reports
