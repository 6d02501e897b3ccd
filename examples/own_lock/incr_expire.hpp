#pragma once

// A lock as one often meets it in the wild: whoever counts to one is the owner, and a second command sets the lease.
// Claims: mutual exclusion while the work fits into the lease; that the lock comes back when its owner dies.
// Breaks: crash_between.toml (an owner that dies between the two commands leaves a key without a lease).

#include "models/locks/catalogue.hpp"

namespace own_lock {

lockstep::models::locks::Entry incr_expire();

}  // namespace own_lock
