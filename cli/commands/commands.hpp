#pragma once

// Which commands there are. Start here to add one: a file with a class that is a `Call`, and a line in commands.cpp.

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments/call.hpp"
#include "models/locks/catalogue.hpp"

namespace lockstep::cli {

/// A new call of each of them, in the order in which help shows them.
std::vector<std::unique_ptr<Call>> all_commands();

}  // namespace lockstep::cli
