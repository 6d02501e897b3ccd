#pragma once

// Files that a command is told to write.

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/arguments/option.hpp"

namespace lockstep::cli {

/// What is wrong with them before any work is done: one would overwrite an input, another of them, or what lockstep did
/// not write for this option. Nothing if all is well.
std::optional<std::string> refuse_outputs(std::span<const OutputFile> files, std::span<const std::string> inputs);

/// "cannot write FILE: Permission denied".
std::string cannot_write(const std::string& file, std::string_view why);

/// Makes the folder that an option names, and says why no file can be written to it, as long as that costs no work.
/// Nothing if all is well.
std::optional<std::string> trouble_with_folder(std::string_view option, const std::string& folder);

/// Writes the whole file or nothing. False after a message on `err`.
bool write_file(const std::string& file, std::string_view content, std::ostream& err);

}  // namespace lockstep::cli
