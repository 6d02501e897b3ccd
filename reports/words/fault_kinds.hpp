#pragma once

// The faults that a scenario file can name, for `lockstep list faults`.

#include <span>
#include <string_view>

namespace lockstep::reports {

struct FaultKind {
  std::string_view name;     ///< as in scenario files
  std::string_view tables;   ///< where it may stand: "fault", "may", "fault, may"
  std::string_view meaning;  ///< one line
};

/// What does happen, then what only might.
std::span<const FaultKind> fault_kinds();

}  // namespace lockstep::reports
