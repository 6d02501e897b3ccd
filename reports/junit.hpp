#pragma once

// The results of a run as JUnit XML, for build servers: one test case per story.

#include <span>
#include <string>

#include "reports/verdicts.hpp"

namespace lockstep::reports {

/// A well-formed document whatever the stories' texts contain. It has no durations and no date: equal runs give equal
/// files.
std::string junit_xml(std::span<const Story> stories);

}  // namespace lockstep::reports
