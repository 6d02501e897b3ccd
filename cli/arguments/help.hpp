#pragma once

// What --help says, made of the same tables by which calls are read.

#include <memory>
#include <span>
#include <string>

#include "cli/arguments/call.hpp"

namespace lockstep::cli {

std::string help_of_program(std::span<const std::unique_ptr<Call>> commands);
std::string help_of(const Manual& manual);

}  // namespace lockstep::cli
