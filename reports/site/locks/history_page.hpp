#pragma once

// The history of a lock: each breaks because of something, and the next repairs it. And the market, which shows what
// guards cost.

#include <span>
#include <string_view>

#include "reports/site/findings/findings.hpp"

namespace lockstep::reports::site {

struct HistoryStep {
  std::string_view algorithm;
  std::string_view
      story;  ///< of this algorithm; its run or another execution breaks something, but for the last step's
  std::string_view why, why_zh;        ///< breaks because
  std::string_view repair, repair_zh;  ///< what the next does about it
};
/// From SETNX to fencing.
std::span<const HistoryStep> history_steps();

/// "history.html".
Page history_page(const Findings& findings);
/// "market.html".
Page market_page(const Findings& findings);

}  // namespace lockstep::reports::site
