#pragma once

// The rows of a timeline in the reader's language. `events.hpp` writes them in English.

#include <string>

#include "reports/run/events.hpp"
#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// The row's text. Commands and answers stay as they are; so does what has no Chinese.
std::string row_in(Language language, const Event& event);

/// Whether all of the row that is ours has Chinese.
bool has_chinese(const Event& event);

}  // namespace lockstep::reports
