#pragma once

// The results of `run` and `check` as JUnit XML, for build servers: one test case per story.

#include <span>
#include <string>

#include "reports/explored.hpp"
#include "reports/verdicts.hpp"

namespace lockstep::reports {

/// A well-formed document whatever the stories' texts contain. It has no durations and no date: equal runs give equal
/// files.
std::string junit_xml(std::span<const Story> stories);

/// The same of explorations. One that a bound has ended is an error, unless what it has found is a failure.
std::string junit_xml(std::span<const ExploredStory> stories);

}  // namespace lockstep::reports
