#pragma once

// A run as Markdown (CommonMark with GitHub's tables), for issues and wikis, beside its picture.

#include <string>
#include <string_view>

#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

/// The text, which shows the picture `picture_name`, a file in the same folder. Nothing of the story can become markup.
/// Requires: a trace.
std::string markdown_page(const Story& story, Language language, std::string_view picture_name);

/// The picture: an SVG. Requires: a trace and key states.
std::string markdown_picture(const Story& story, Language language);

/// Where the picture of a page lies: "run.svg" for "run.md".
std::string picture_beside(std::string_view page);

}  // namespace lockstep::reports
