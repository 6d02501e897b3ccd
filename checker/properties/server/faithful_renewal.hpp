#pragma once

// faithful-renewal: renewals go out for as long as a lock is held, and no longer.
//
// Two halves. None too many: see order_properties.hpp. None too few: a lease that something was to renew
// (`Operation::is_renewed`) does not run out while its holder still believes. It runs out when the time is over that
// the server was told last, whether or not a command comes upon it: an end is an event of its own. Where servers end
// leases themselves, it is when they do. A hold that never ends counts only where the server has noticed: what comes
// after the last that was seen, nobody has seen. A pause stops the renewal with its process, so that breaks it, too.

#include <span>
#include <vector>

#include "checker/properties/lock_objects.hpp"
#include "checker/properties/server/order_properties.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// The end of a lease that an acquire was granted; also for explorations, which cannot compare its instants.
struct LeaseEnd {
  const sim::Operation* acquire;
  const sim::Effect* told;   ///< the write or the touch that said when, or, if servers end it themselves, the end
  const sim::Effect* after;  ///< what came next there: it is an end only if that was no earlier; null: nothing
  sim::Instant at;
};
/// Of those that are to be renewed, by order of the servers. The instants may be symbolic.
std::vector<LeaseEnd> ends_of_renewed_leases(std::span<const sim::Operation> operations,
                                             std::span<const sim::Effect> effects, const LockObjects& locks);

/// Requires: instants are true times; `breaches` and `locks` are those of the history.
Finding faithful_renewal(const sim::History& history, const Names& names, std::span<const Breach> breaches,
                         const LockObjects& locks);
Finding faithful_renewal(const sim::History& history, const Names& names);

}  // namespace lockstep::checker
