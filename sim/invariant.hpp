#pragma once

// What this program takes to be true of itself. Where it is not, that is our bug: no input and no algorithm can cause
// it, and whatever is computed from then on proves nothing. So the program ends, in every build.
//
//   invariant(built <= depth, "of a trace no more stands than is in use");
//   costly_invariant([&] { return std::is_sorted(...); }, "events are in order");
//
// An invariant costs a comparison that is never false. A costly one is asked in the programs of tests, in tools that
// hunt for mistakes (`*_tool.cpp`) and under sanitizers, and nowhere else. An `assert` says the same as `invariant`,
// without words.

#include <source_location>

namespace lockstep::sim {

/// Writes what does not hold, and where that was found, to standard error, and aborts.
[[noreturn]] void end_with_broken_invariant(const char* what, const std::source_location& where) noexcept;

/// `what`: the sentence that is true, for whoever reads the code, or the bug report.
constexpr void invariant(bool holds, const char* what,
                         const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    end_with_broken_invariant(what, where);
}

/// Whether costly invariants are asked. Who links decides (cmake/Folder.cmake), so that the library that is tested is
/// the one that is used.
extern const bool kAsksCostlyInvariants;

/// `holds()` is called only where costly invariants are asked.
template <class Holds>
void costly_invariant(const Holds& holds, const char* what,
                      const std::source_location& where = std::source_location::current()) {
  if (kAsksCostlyInvariants) [[unlikely]]
    invariant(holds(), what, where);
}

}  // namespace lockstep::sim
