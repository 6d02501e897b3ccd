#pragma once

#include "models/locks/catalogue.hpp"

namespace lockstep::models::locks {

/// For tests: not in the catalogue.
Entry cas_lock();

}  // namespace lockstep::models::locks
