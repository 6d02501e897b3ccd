#pragma once

// The picture of a run: time runs downward, each process has a lane, messages are arrows between the lanes.

#include "reports/run/verdicts.hpp"
#include "reports/text/line.hpp"

namespace lockstep::reports {

/// The lanes' names, the rows, and one line that explains the signs that occur. Fits `width` columns.
/// Requires: a trace, and width >= 60.
Lines chart(const Story& story, std::size_t width, Language language = Language::en);

}  // namespace lockstep::reports
