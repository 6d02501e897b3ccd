#pragma once

// How many random cases a test takes: few, or with LOCKSTEP_CASES=all in the environment all of them. Few protect a user in minutes; all of them are
// what grows with patience (`./lockstep test --all`, .ci/deep). It is asked when a test runs, so both are the same program.

#include <cstdlib>
#include <string_view>

namespace lockstep::sim {

/// Programs with sanitizers are slow to begin, and need memory that says nothing of ours.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool is_sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

inline bool takes_few_cases() {
  static const bool few = [] {
    const char* chosen = std::getenv("LOCKSTEP_CASES");
    return chosen == nullptr || std::string_view(chosen) != "all";
  }();
  return few;
}

/// `all` of them, or `few`.
template <typename Number>
Number cases(Number all, Number few) {
  return takes_few_cases() ? few : all;
}

}  // namespace lockstep::sim
