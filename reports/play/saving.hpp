#pragma once

// Stories that a page saves: into one folder, and nowhere else.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/story/scenario.hpp"

namespace lockstep::reports::play {

/// "mine.toml": letters, digits, - and _ only, so that it is a file of the folder and nothing that hides.
bool is_name_of_story(std::string_view name);

struct NotSaved {
  scenarios::Text why;
  bool exists = false;  ///< whoever wants it overwritten may say so
};

/// Requires: `is_name_of_story(name)`. A file that is there stays unless `overwrites`; what is no regular file stays in
/// any case.
std::optional<NotSaved> save_story(const std::filesystem::path& folder, std::string_view name, std::string_view text,
                                   bool overwrites);

}  // namespace lockstep::reports::play
