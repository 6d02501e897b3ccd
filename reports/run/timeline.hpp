#pragma once

// The timeline of one run, for a terminal: what the story is, what happened, which promise broke and why. Start here.

#include "reports/run/verdicts.hpp"
#include "reports/text/line.hpp"

namespace lockstep::reports {

struct TimelineOptions {
  std::size_t width = 100;  ///< at least 40
  Language language = Language::en;
};

/// Requires: the outcome has a trace.
Lines timeline(const Story& story, const TimelineOptions& options);

}  // namespace lockstep::reports
