#pragma once

// A run as a graph: its events, the order within each process, and its messages. For Graphviz, and for whatever reads
// GraphML.

#include <string>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// DOT. A column for each process, time runs downwards; long texts are cut. Requires: a trace.
std::string happens_before_dot(const Story& story);

/// GraphML. Of a node: `process`, `time_ns` (true time), `step`, `kind` ("step", "operation", "send", "fault"), `text`,
/// `evidence`; of an edge: `relation` ("program-order", "message"), `message`. Requires: a trace.
std::string happens_before_graphml(const Story& story);

}  // namespace lockstep::reports
