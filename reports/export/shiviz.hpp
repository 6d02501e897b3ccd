#pragma once

// A run for ShiViz (https://bestchai.bitbucket.io/shiviz/): a log with vector clocks, from which it draws who heard of
// what.

#include <string>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// The first line is the regular expression by which ShiViz reads the rest, the second one, which would separate
/// several runs, is empty; then two lines for each event: "host {clock}" and what happened. Hosts are processes; the
/// events of their threads are theirs.
/// Requires: a trace.
std::string shiviz_log(const Story& story);

}  // namespace lockstep::reports
