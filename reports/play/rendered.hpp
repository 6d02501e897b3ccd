#pragma once

// A story's text as what a page shows of it: the run, or what is wrong with it.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "reports/check/explored.hpp"
#include "reports/play/form.hpp"
#include "reports/run/verdicts.hpp"
#include "reports/site/frame/page.hpp"
#include "scenarios/story/diagnostic.hpp"

namespace lockstep::reports::play {

/// The run of a text, with trace and key states, of at most so many events.
std::variant<Story, scenarios::Diagnostic> run_of(std::string_view text, const std::filesystem::path& file,
                                                  const models::locks::Catalogue& catalogue, std::uint64_t events_max);

/// As the page of the story, without its frame. `explored`: of the same text, or null.
site::Page rendered(const Story& story, const std::filesystem::path& file, const ExploredStory* explored);

/// The whole page: editor and form on one side, on the other what `rendered` gives of the text it begins with.
std::string play_page(std::string_view text, const std::filesystem::path& file,
                      const models::locks::Catalogue& catalogue, std::uint64_t events_max);

}  // namespace lockstep::reports::play
