#include "models/locks/entries.hpp"

namespace lockstep::models::locks {

Catalogue Catalogue::built_in() {
  Catalogue catalogue;
#define LOCKSTEP_ADD(algorithm) catalogue.add(algorithm());
  LOCKSTEP_LOCK_ALGORITHMS(LOCKSTEP_ADD)
#undef LOCKSTEP_ADD
  return catalogue;
}

}  // namespace lockstep::models::locks
