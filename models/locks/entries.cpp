#include "models/locks/entries.hpp"

namespace lockstep::models::locks {

Catalogue Catalogue::built_in() {
  Catalogue catalogue;
#define LOCKSTEP_ADD(algorithm) catalogue.add(algorithm());
  LOCKSTEP_LOCK_ALGORITHMS(LOCKSTEP_ADD)
#undef LOCKSTEP_ADD
  return catalogue;
}

ParameterSpec attempts_parameter(std::int64_t fallback) {
  return {"attempts", fallback, "how often a client tries before it gives up", {}, 1};
}

ParameterSpec retry_parameter(sim::DurationRange fallback) {
  return {"retry", fallback, "pause between two attempts; a range is a random pause"};
}

}  // namespace lockstep::models::locks
