#pragma once

// The page of one story: the question, its run as a diagram to step through, why it failed, what every other execution
// does, what repairs it. All that is said of the run and of the others was computed from them.

#include "reports/site/findings/told_story.hpp"
#include "reports/site/frame/page.hpp"

namespace lockstep::reports::site {

Page story_page(const StoryToTell& told);

}  // namespace lockstep::reports::site
