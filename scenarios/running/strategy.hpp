#pragma once

// How random runs draw their delays.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace lockstep::scenarios {

/// By which rule a run draws its delays.
enum class Strategy : std::uint8_t {
  /// the ends of ranges, and where lengths that the story speaks of end, a little earlier or later: `MoodyDecisions`
  boundary,
  uniform,  ///< any length is as likely as any other
  /// some processes are slow and all others fast, and some of that changes during the run: `PriorityDecisions`
  priority
};
inline constexpr std::array<std::pair<std::string_view, Strategy>, 3> strategy_names{
    {{"boundary", Strategy::boundary}, {"uniform", Strategy::uniform}, {"priority", Strategy::priority}}};

}  // namespace lockstep::scenarios
