#pragma once

// Changes to a story's text by a form, a list or a click. What comes out says what was meant, as the loader reads it;
// comments and layout stay where that is possible, and otherwise the writer lays all of it out anew.

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports::play {

struct StoryFile {
  std::string_view text;
  std::filesystem::path path;  ///< as messages name it; scripts of its own lie in its folder
};

struct Edited {
  std::string text;
  bool is_rewritten = false;  ///< comments are gone
};

using EditResult = std::variant<Edited, scenarios::Diagnostic>;

/// `id` as in `form_of`; `typed` empty: the file says nothing of it any more.
EditResult set_field(const StoryFile& file, const models::locks::Catalogue& catalogue, std::string_view id,
                     std::string_view typed);
/// Parameters that the other algorithm does not have go; one that wants several servers gets them.
EditResult set_algorithm(const StoryFile& file, const models::locks::Catalogue& catalogue, std::string_view id);
/// A lost message needs a timeout of the network: where there is none, it gets one of 50ms.
EditResult add_fault(const StoryFile& file, const models::locks::Catalogue& catalogue,
                     const scenarios::FaultSpec& fault);
/// The ordinal, from 0.
EditResult remove_fault(const StoryFile& file, const models::locks::Catalogue& catalogue, std::size_t index);

}  // namespace lockstep::reports::play
