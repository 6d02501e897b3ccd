#pragma once

// The table at the end of a run of many stories: what each expected, what was observed, and whether they agree.

#include <span>

#include "reports/run/verdicts.hpp"
#include "reports/text/line.hpp"

namespace lockstep::reports {

struct SummaryOptions {
  std::size_t width = 100;
  Language language = Language::en;
  bool only_failures = false;  ///< no rows of stories that are as expected; the totals are of all
};

/// The table; then, for each story that is not as expected, what differs and why; then the totals.
Lines summary(std::span<const Story> stories, const SummaryOptions& options);

/// "17 stories, all as expected", "17 stories: 15 as expected, 2 NOT".
std::string totals_text(std::span<const Story> stories, Language language = Language::en);
std::size_t count_as_expected(std::span<const Story> stories);

}  // namespace lockstep::reports
