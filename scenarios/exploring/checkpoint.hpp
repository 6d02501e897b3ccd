#pragma once

// How a checkpoint of an exploration begins and ends: what it belongs to, and that it is whole.

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Its first line.
inline constexpr std::string_view kCheckpointBegin = "lockstep checkpoint 17";

/// The last line: without it half a file, or one with a digit changed, could pass for a whole one.
std::string end_of_checkpoint(std::string_view body);
bool is_whole_checkpoint(std::string_view text);

/// What a checkpoint belongs to: the story as it is explored, and how.
std::uint64_t identity_of_checkpoint(const Scenario& scenario, std::string_view how);

/// Reads what a checkpoint begins with. A diagnostic if it is none, or none of this exploration. `name`: of the file.
std::optional<Diagnostic> read_begin(std::istream& in, const std::string& name, std::uint64_t identity,
                                     const std::string& story);

}  // namespace lockstep::scenarios
