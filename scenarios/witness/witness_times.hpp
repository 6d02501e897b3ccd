#pragma once

// Times for a trace: integer, and such as people like to read.

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/witness/explored_trace.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

struct WitnessTimes {
  std::vector<std::int64_t> variables;    ///< in nanoseconds
  std::vector<sim::Duration> parameters;  ///< of the trace
  bool has_close_moments = false;         ///< some that are compared are less than a millisecond apart

  sim::Duration of(sim::Instant instant) const {
    return sim::Duration::nanoseconds(variables[instant.variable()]) + instant.offset();
  }
};

/// One solution of the trace's constraints and the violation's. In this order of importance: faults are as small as
/// they can be in whole milliseconds, the violation lasts, the events of one process are apart, delays are the
/// shortest, everything is in whole milliseconds. Nothing if there is none in whole nanoseconds.
std::optional<WitnessTimes> witness_times(const ExploredTrace& trace, const Violation& violation);

}  // namespace lockstep::scenarios
