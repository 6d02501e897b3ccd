#pragma once

// Files that others read: there completely, or not at all.

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::reports {

/// Writes beside the file and renames, so that nobody ever sees half of it, and what was there before stays until the
/// new one is complete. A symbolic link stays one. A device or a pipe is written to directly.
/// Nothing on success; otherwise why it cannot be written ("Permission denied"), and no trace of the attempt remains.
std::optional<std::string> write_whole(const std::string& path, std::string_view content);

}  // namespace lockstep::reports
