#pragma once

namespace lockstep::cli {

/// By a real clock that never goes back, from any beginning: for bounds and for what is shown of progress, and for
/// nothing that a command finds out.
double seconds_now();

}  // namespace lockstep::cli
