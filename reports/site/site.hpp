#pragma once

// All pages of a report, from stories that were run and explored. Start here for `lockstep report`.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/check/explored.hpp"
#include "reports/site/findings/findings.hpp"
#include "reports/site/findings/measured.hpp"
#include "reports/site/frame/page.hpp"
#include "reports/site/story/margins_part.hpp"
#include "scenarios/families/no_return.hpp"
#include "scenarios/matrix/matrix.hpp"

namespace lockstep::reports::site {

/// A story with all that its page tells.
struct ToldStory {
  std::string source;  ///< its file, as a reader finds it: "scenarios/stories/compare/short-work.toml"
  std::string path;    ///< of its page
  Story story;         ///< with trace and key states
  std::optional<ExploredStory> explored;  ///< nothing: it cannot be, or takes too long
  ToldMargins margins;
  std::optional<scenarios::NoReturn> no_return;
  Text not_explored;  ///< why not, and what to do then; empty: it was
};

struct SiteInput {
  std::vector<ToldStory> stories;  ///< in the order of their files
  scenarios::Matrix matrix;
  Measured measured;
  scenarios::MatrixOptions matrix_bounds;
  std::string version;
};

struct SiteFile {
  std::string path;  ///< from the root of the site
  std::string content;
};

/// Calls `work(i)` for each i below a number, on as many threads as the caller likes.
using ForEach = std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

Findings findings_of(const SiteInput& input, const models::locks::Catalogue& catalogue);

/// Every page, by path. The same input gives the same bytes.
std::vector<SiteFile> site_of(const SiteInput& input, const models::locks::Catalogue& catalogue,
                              const ForEach& for_each);

/// One page that needs no other: to be mailed.
std::string single_page(const ToldStory& told, const models::locks::Catalogue& catalogue, const std::string& version);

/// "stories/f003-2-pause-outlives-lease.html": by its name, and its folder's where two have the same. In the order of
/// the stories.
std::vector<std::string> paths_of(const std::vector<std::string>& sources);

/// Runs it as its page shows it. A diagnostic: it cannot happen as the file has it.
std::variant<Story, scenarios::Diagnostic> run_for_page(const scenarios::Scenario& scenario,
                                                        const models::locks::Catalogue& catalogue);

}  // namespace lockstep::reports::site
