#pragma once

// What a story's page is made of: the story, and all that was computed of it.

#include <optional>
#include <string>
#include <vector>

#include "reports/check/explored.hpp"
#include "reports/site/frame/page.hpp"
#include "reports/site/story/margins_part.hpp"
#include "scenarios/families/no_return.hpp"

namespace lockstep::reports::site {

struct RepairedTwin {
  Story story;               ///< with trace and key states
  std::optional<Link> link;  ///< its own page, if it has one
};

struct StoryToTell {
  std::string path;                                ///< of the page
  const Story* story = nullptr;                    ///< with trace and key states
  const ExploredStory* explored = nullptr;         ///< null: it was not
  Text not_explored;                               ///< then: why not, and what to do instead
  const ToldMargins* margins = nullptr;            ///< null: none were computed
  const scenarios::NoReturn* no_return = nullptr;  ///< null: it was not asked for
  const RepairedTwin* repaired = nullptr;          ///< null: there is none
  std::optional<Link> broken_twin;                 ///< of a repaired story: what it repairs
  std::optional<std::string> algorithm_page;       ///< path in the site
  std::vector<Link> above;                         ///< from the root of the site down to the page
  std::string version;                             ///< of the program
  std::string source;                              ///< the story's file
  bool is_single = false;                          ///< the page stands alone
};

}  // namespace lockstep::reports::site
