#pragma once

// Scripts that may meet a number that has no digits yet: their comparisons ask somebody who knows that.

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::models::redis {

/// The name of whom they ask: a function that is the script's own argument (lua_timestamps.hpp, `answer_question`).
inline constexpr std::string_view kQuestion = "lockstep_question";

/// The same script, in which both sides of each comparison pass through a function: `a < b` has become
/// `lockstep_question('l',a,0) < lockstep_question('<',b)`, and `t[a]` has become `t[lockstep_question('k',a)]`.
///
/// Why not one call in place of the comparison: Lua 5.1 calls no metamethod for a number and something else, so
/// somebody has to change the two sides before they meet. What are plain values it gives back as they are, and then it
/// is Lua that compares: metamethods are called, errors are worded and lines are counted as in the script as it is
/// written. Nothing but blanks and calls is added to it, and no line.
///
/// Left alone is what can only have one answer: a comparison with nil, true, false or a text by == or ~=, one of two
/// numbers that are written there, and a key that is written there. Nothing: this is no Lua, it uses that name, or the
/// main part's own arguments (`...`), unless it `may_have_arguments`.
std::optional<std::string> with_questions(std::string_view script, bool may_have_arguments = false);

}  // namespace lockstep::models::redis
