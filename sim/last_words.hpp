#pragma once

// What is said before the program ends because a lock algorithm did what none may do. An assertion says what was
// expected; whoever writes an algorithm of his own must hear what to change.

#include <string_view>

namespace lockstep::sim {

/// Writes "lockstep: <mistake>\n  <remedy>\n" to standard error, and aborts.
[[noreturn]] void end_with(std::string_view mistake, std::string_view remedy) noexcept;

/// The same for an exception that nobody caught. Requires: it is being handled.
[[noreturn]] void end_with_exception() noexcept;

/// An execution did not go again as it went before: something besides decisions decides in it.
[[noreturn]] void end_with_divergence() noexcept;

}  // namespace lockstep::sim
