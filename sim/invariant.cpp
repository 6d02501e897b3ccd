#include "sim/invariant.hpp"

#include <cstdio>
#include <cstdlib>

namespace lockstep::sim {

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define LOCKSTEP_IS_SANITIZED true
#endif
#endif
#ifndef LOCKSTEP_IS_SANITIZED
#define LOCKSTEP_IS_SANITIZED false
#endif

// Weak: cmake/costly_invariants.cpp.in says otherwise where it is linked.
[[gnu::weak]] extern const bool kAsksCostlyInvariants = LOCKSTEP_IS_SANITIZED;

void end_with_broken_invariant(const char* what, const std::source_location& where) noexcept {
  std::fprintf(stderr, "lockstep: our bug: it does not hold that %s\n  %s:%u, %s\n", what, where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name());
  std::abort();
}

}  // namespace lockstep::sim
