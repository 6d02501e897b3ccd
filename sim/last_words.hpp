#pragma once

// The message before the program ends because a lock algorithm did something forbidden. An assertion would say what was
// expected; the author of an algorithm needs to know what to change.

#include <string_view>

namespace lockstep::sim {

/// Writes "lockstep: <mistake>\n  <remedy>\n" to standard error, and aborts.
[[noreturn]] void end_with(std::string_view mistake, std::string_view remedy) noexcept;

/// The same for an exception that was not caught. Requires: it is being handled.
[[noreturn]] void end_with_exception() noexcept;

/// An execution was not repeated as before: it depends on something besides decisions.
[[noreturn]] void end_with_divergence() noexcept;

}  // namespace lockstep::sim
