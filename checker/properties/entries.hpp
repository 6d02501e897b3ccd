#pragma once

// Every property's entry, one function per property.

#include "checker/properties/property.hpp"

namespace lockstep::checker::entries {

/// In the order in which people read them. Whoever adds a file adds its line here, and nowhere else.
#define LOCKSTEP_PROPERTIES(X) \
  X(mutual_exclusion)          \
  X(linearizable)              \
  X(no_deadlock)               \
  X(progress)                  \
  X(own_release)               \
  X(recoverable)               \
  X(reentrancy)                \
  X(truthful_reports)          \
  X(faithful_renewal)          \
  X(no_lost_wakeup)            \
  X(capacity)                  \
  X(fair)                      \
  X(no_lost_update)            \
  X(no_oversell)               \
  X(fencing)

#define LOCKSTEP_DECLARE(property) Property property();
LOCKSTEP_PROPERTIES(LOCKSTEP_DECLARE)
#undef LOCKSTEP_DECLARE

}  // namespace lockstep::checker::entries
