#pragma once

// The commands of the simulated Redis, as an explicit table: command_rows.def. Adding one is adding a row there, and a
// function in the file of its family.

#include <span>
#include <string>
#include <string_view>

#include "models/redis/wire/command_spec.hpp"

namespace lockstep::models::redis {

/// All commands, sorted by name.
std::span<const CommandSpec> command_table();

/// How Redis writes the name in errors: "set", "script|load".
std::string error_name(std::string_view name);

}  // namespace lockstep::models::redis
