#pragma once

// How many random cases a test takes. With sanitizers, and without optimisation, it takes few: there it looks for undefined behaviour, or for what the
// optimisation changes, at ten times the price; wrong verdicts are looked for where it is fast.

namespace lockstep::sim {

/// cmake/Folder.cmake says so, for a whole program.
#ifdef LOCKSTEP_FEW_CASES
inline constexpr bool takes_few_cases = true;
#else
inline constexpr bool takes_few_cases = false;
#endif

/// `all` of them, or `few`.
template <typename Number>
constexpr Number cases(Number all, Number few) {
  return takes_few_cases ? few : all;
}

}  // namespace lockstep::sim
