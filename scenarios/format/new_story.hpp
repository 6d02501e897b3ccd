#pragma once

#include <string>
#include <string_view>

#include "models/locks/catalogue.hpp"

namespace lockstep::scenarios {

/// A scenario file to begin with, with comments that say what to try: two clients who compete, one of whom may be
/// stopped while it has the lock. `run` shows all it claims to hold; `check` asks about the pause. `file`: how the
/// comments call it.
std::string new_story(const models::locks::Entry& entry, std::string_view title, std::string_view file);

/// A lock of one's own to begin with: a script with comments that say what can be changed.
std::string new_lock();

}  // namespace lockstep::scenarios
