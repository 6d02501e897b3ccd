#pragma once

// How an exploration tells clocks apart: by the scales of their readings. 0 is true time; the first scales are off by a
// parameter, the others drift, each in its process's own way.

#include <cstddef>
#include <cstdint>

#include "sim/invariant.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::checker::explorer {

inline constexpr std::uint32_t kFirstDrifting = 128;
inline constexpr std::uint32_t kScales = 256;

/// Of a clock that is off by this parameter of the trace.
inline sim::Scale scale_of_parameter(std::size_t parameter) {
  sim::invariant(parameter + 1 < kFirstDrifting, "a trace has few parameters");
  return static_cast<sim::Scale>(parameter + 1);
}
/// Of a clock that drifts, of this process.
inline sim::Scale scale_of_drift(sim::ProcessId process) {
  sim::invariant(kFirstDrifting + process.index < kScales, "few processes have clocks that drift");
  return static_cast<sim::Scale>(kFirstDrifting + process.index);
}

inline bool is_off_by_parameter(sim::Scale scale) { return scale != 0 && scale < kFirstDrifting; }
inline bool does_drift(sim::Scale scale) { return scale >= kFirstDrifting; }
inline std::uint32_t parameter_of(sim::Scale scale) { return scale - 1u; }
inline sim::ProcessId process_of(sim::Scale scale) {
  return sim::ProcessId{static_cast<std::uint16_t>(scale - kFirstDrifting)};
}

}  // namespace lockstep::checker::explorer
