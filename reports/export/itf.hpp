#pragma once

// A run in Apalache's Informal Trace Format (ADR 15: https://apalache-mc.org/docs/adr/015adr-trace.html), which
// Apalache, Quint and itf-rs read, and the ITF trace viewer shows.

#include <string>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// The beginning, then a state after each step. Variables: `step`, `time_ns` (true time), `process` and `event` (who
/// did what), `believes` (of each lock, those who believe to hold it), `keys` (what each server holds under each key),
/// `status` ("runs", "paused", "dead") and `clock_ns` (its wall clock) of each process. Types are in
/// `#meta`.`varTypes`. Requires: a trace and key states.
std::string itf_trace(const Story& story);

}  // namespace lockstep::reports
