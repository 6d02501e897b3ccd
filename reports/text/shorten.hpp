#pragma once

// What is left out when a row of a timeline has too little room: the middle of a command, never its answer; the middle
// of a name, so that two names stay different.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::reports {

/// At most `lines_max` lines of at most `width` columns of `command` and then `rest`. Where there is too little room
/// the longest arguments of the command give way to an ellipsis, its name and its last argument (who asks) last of all;
/// what is still too long is cut at its end, and a quote that is open there is closed. Both texts must be printable.
/// Requires: lines_max > 0.
std::vector<std::string> wrap_command(std::string_view command, std::string_view rest, std::size_t width,
                                      std::size_t lines_max);

/// Each name in at most `width` columns, in the same order: whole, or with an ellipsis at its end, or in its middle
/// where two would look alike otherwise. Where `width` is too small to tell them apart they are cut all the same.
std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t width);

}  // namespace lockstep::reports
