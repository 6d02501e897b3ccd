#pragma once

// What locks cost under the same workload, for people and for programs.

#include <span>
#include <string>
#include <vector>

#include "reports/run/verdicts.hpp"
#include "reports/text/line.hpp"
#include "scenarios/comparing/comparison.hpp"

namespace lockstep::reports {

/// A workload and its runs.
struct ComparedStory {
  scenarios::Scenario scenario;
  std::vector<scenarios::ComparedRun> runs;
};

struct ComparisonReportOptions {
  std::size_t width = 100;
  Language language = Language::en;
};

/// One table for each story, then what its columns mean.
Lines comparison(std::span<const ComparedStory> stories, const scenarios::CompareOptions& how,
                 const ComparisonReportOptions& options);

/// `lockstep compare --json`. Durations are strings such as "71ms", or null where nobody got so far.
std::string compare_json(std::span<const ComparedStory> stories, const scenarios::CompareOptions& how);

}  // namespace lockstep::reports
