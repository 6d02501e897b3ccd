#pragma once

// What a fuzzing campaign has found, for people and for programs.

#include <cstddef>
#include <string>

#include "reports/text/line.hpp"
#include "scenarios/fuzzing/campaign_state.hpp"

namespace lockstep::reports {

struct FuzzReportOptions {
  std::size_t width = 100;
  std::string folder;          ///< where the files are
  bool can_be_checked = true;  ///< false: clients are programs, which `check` cannot explore
};

/// What was played, then each finding: its file, what breaks, and why.
Lines fuzz_report(const scenarios::CampaignState& state, const FuzzReportOptions& options);

/// `lockstep fuzz --json`. "after_ms" and "spent_ms" are real time, and nothing else depends on it if the campaign was
/// bounded by runs.
std::string fuzz_json(const scenarios::CampaignState& state, const FuzzReportOptions& options);

/// One line, without its end: "12,400 runs/s  3.1 h/s of virtual time  812 things seen  2 findings, the last after 3.2
/// s".
std::string fuzz_progress(const scenarios::CampaignState& state, std::size_t width);

}  // namespace lockstep::reports
