#pragma once

// A run as Chrome's Trace Event JSON, for https://ui.perfetto.dev and chrome://tracing.

#include <string>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// Times are virtual, in microseconds. A process of the run is a process of the trace: its first thread has what
/// happened, further ones have bars: who believes to hold the lock, who is paused or dead, whose key is on the server.
/// Messages are flows. What happens takes no time; so that it can be seen and clicked on it is drawn as 100 µs, or less
/// where the next event of the process comes sooner. A property that broke is an instant.
/// Requires: a trace and key states.
std::string chrome_trace(const Story& story);

}  // namespace lockstep::reports
