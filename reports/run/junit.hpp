#pragma once

// Results as JUnit XML, for build servers: one test case per story.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reports/check/explored.hpp"
#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// One test case.
struct JUnitCase {
  /// What it has to say besides its name.
  struct Trouble {
    enum class Kind : std::uint8_t { none, failure, error } kind = Kind::none;
    std::string message;
    std::string details;
  };
  const scenarios::Scenario* scenario = nullptr;
  Trouble trouble;
};

/// A well-formed document whatever the stories' texts contain. It has no durations and no date: equal results give
/// equal files. `suite_name`: "lockstep confirm".
std::string junit_xml(const std::string& suite_name, std::span<const JUnitCase> cases);

std::vector<JUnitCase> junit_cases(std::span<const Story> stories);

/// The same of explorations. One that a bound has ended is an error, unless what it has found is a failure.
std::vector<JUnitCase> junit_cases(std::span<const ExploredStory> stories);

}  // namespace lockstep::reports
