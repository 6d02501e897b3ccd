#pragma once

// Scripts that look whether a key still holds what they have written there, which is what a lock's release does.

#include <string>
#include <string_view>

namespace lockstep::models::redis {

/// The name that `with_comparisons` gives to what it puts in place of comparisons: the script's own argument.
inline constexpr std::string_view kComparison = "lockstep_key_holds";

/// The same script, in which each `redis.call('GET', KEYS[i]) == ARGV[j]` (or ~=) calls a function instead that its
/// chunk gets as its argument and that gives what the comparison gives. It then says of the key only whether it holds
/// that text, so that an exploration need not ask when another's value came or went. Lines stay what they are. The same
/// text if there is no such place, or if something in it could mean another thing than it seems to: a name `redis` that
/// is not the global one, `...`, text that is no Lua.
std::string with_comparisons(std::string_view script);

}  // namespace lockstep::models::redis
