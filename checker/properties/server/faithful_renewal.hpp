#pragma once

// faithful-renewal: renewals go out for as long as a lock is held, and no longer.
//
// Two halves. None too many: see order_properties.hpp. None too few: a lease that something was to renew
// (`Operation::is_renewed`) does not run out while its holder still believes. A server notices an expiry when it
// handles the next command for the key; if the holder believes even then, it believed when the lease ran out. A pause
// stops the renewal with its process, so that breaks it, too.

#include <span>

#include "checker/properties/server/order_properties.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// Requires: instants are true times; `breaches` are those of the history (`order_breaches`).
Finding faithful_renewal(const sim::History& history, const Names& names, std::span<const Breach> breaches);
Finding faithful_renewal(const sim::History& history, const Names& names);

}  // namespace lockstep::checker
