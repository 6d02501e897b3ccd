#pragma once

// Files that a command is told to write.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::cli {

/// An option that names a file to write, as it was typed; nothing if it was not.
struct OutputOption {
  std::string_view option;  ///< "--junit"
  const std::optional<std::string>& file;
};

/// What is wrong with them before any work is done: one would overwrite an input, or another of them. Nothing if all is well.
std::optional<std::string> refuse_outputs(std::span<const OutputOption> options, std::span<const std::string> inputs);

}  // namespace lockstep::cli
