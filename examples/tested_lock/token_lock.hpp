#pragma once

// A lock whose owner leaves a token, and looks for it before it deletes. Both claim that nobody deletes another one's lock.
//
//   token-lock           looks and deletes in one script
//   token-lock-broken    looks, and then deletes: in between, the lock may run out and become somebody else's

#include <lockstep/lockstep.hpp>

namespace tested_lock {

/// The algorithms of Lockstep and these two.
lockstep::Catalogue catalogue();

}  // namespace tested_lock
