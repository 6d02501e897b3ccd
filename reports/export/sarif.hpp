#pragma once

// Expectations that were not met, as SARIF 2.1.0 (OASIS): for code hosts and editors, which show each at its line of
// the story.

#include <span>
#include <string>
#include <string_view>

#include "reports/check/explored.hpp"
#include "reports/run/verdicts.hpp"
#include "scenarios/story/diagnostic.hpp"

namespace lockstep::reports {

/// What each of these logs contains, and hardly another file.
inline constexpr std::string_view kSarifMark = R"("name": "lockstep")";

/// One run with a rule for each property, and an error for each property of each story that is not as expected: at the
/// expectation in its file, or where the file names the algorithm that claims the property. `not_run`: of stories that
/// could not be run; these are notifications of the tool.
std::string sarif_log(std::span<const Story> stories, std::span<const scenarios::Diagnostic> not_run,
                      std::string_view version);
/// The same of `check`: what is still open is a warning.
std::string sarif_log(std::span<const ExploredStory> stories, std::span<const scenarios::Diagnostic> not_explored,
                      std::string_view version);

}  // namespace lockstep::reports
