#pragma once

// From the words of a command line to what is to be done.

#include <memory>
#include <span>
#include <string>
#include <variant>

#include "cli/arguments/call.hpp"

namespace lockstep::cli {

/// The call needs no work: help, the version, or a message about what is wrong with it.
struct Answer {
  std::string text;
  Exit exit = Exit::as_expected;
};

std::variant<std::unique_ptr<Call>, Answer> read_arguments(std::span<const std::string> args);

}  // namespace lockstep::cli
