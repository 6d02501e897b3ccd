#pragma once

// From the words of a command line to what is to be done.

#include <span>
#include <string>
#include <variant>

#include "cli/arguments/call.hpp"

namespace lockstep::cli {

std::variant<Call, Answer> read_arguments(std::span<const std::string> args);

}  // namespace lockstep::cli
