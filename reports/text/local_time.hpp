#pragma once

// What each process's own clock shows, between and at the moments that the trace has noted.

#include <optional>
#include <vector>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

class LocalTimes {
 public:
  /// Requires: a trace.
  explicit LocalTimes(const scenarios::Outcome& outcome);

  /// The reading of a process's wall clock at a true time.
  sim::Instant reading(sim::ProcessId process, sim::Instant true_time) const;
  /// Clients first, then servers: those whose clock ever differs from true time.
  std::vector<sim::ProcessId> that_differ() const;

 private:
  /// From `from` on the clock is `offset` ahead, and gains.
  struct Setting {
    sim::Instant from;
    sim::Duration offset;
  };
  struct OwnClock {
    std::int64_t drift_ppm = 0;
    std::vector<Setting> settings;
  };
  std::vector<OwnClock> clocks_;
};

}  // namespace lockstep::reports
