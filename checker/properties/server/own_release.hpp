#pragma once

#include <span>

#include "checker/properties/breach.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// own-release (server): nobody removes somebody else's grant.
///
/// A *grant* is what the lock server keeps for one successful acquire, per server and object. It begins with a write
/// made during an acquire that ended ok, and ends when the object is removed, expires, or is lost by its server. Three
/// readings were possible, and each needs its counterexample:
///
/// - "Every write is a grant" is wrong. In the getset locks B and C both read an expired timestamp; B's GETSET wins,
///   C's GETSET overwrites the text and loses. C's acquire fails, so B's grant stays: otherwise B's own release
///   would be blamed for removing "C's" lock, which C never had.
/// - "The last write of a successful acquire" is wrong. An acquire may write twice, and between the two a stale DEL may
///   remove the grant of the first. So any write of a successful acquire makes a grant where there is none; but where
///   another process' grant lies, only the acquire's last write there takes it over: an acquire that loses a GETSET,
///   waits and wins the next one held nothing in between. A command that only changes how long a key lives (a late
///   EXPIRE on somebody else's key) is no write at all.
/// - "Whoever removes what is not his" is too wide. An operator's DEL outside any operation is a decision of people.
///   And a contender may clear away a grant that is over: after a crash this is how the timestamp locks recover.
///
/// - "One grant at each object" is wrong. Each member of a set, each field of a hash is a place of its own; readers
///   share a lock, and whoever of them gives back last removes it: a release ends the reader's own grant, before it
///   removes anything or instead. All of it: docs/decisions/ownership-is-what-was-granted.md.
///
/// So: a removal by X of a grant of Y is a violation
///   - during a release of X, always: X gave back what was not X's, even if Y's lease had run out as well; but of a
///     reader's share only if it was alive, as in the next case: who reads last clears away what dead readers have
///     left;
///   - during an acquire of X, if Y's grant was alive: Y had neither invoked its release nor crashed, and its announced
///     lease (`lease_until`) was not over; without an announced lease, Y's belief was not over (it counts from the
///     grant on, because the reply may still be travelling). A renewal that has reached the server announces anew, or
///     nothing. What is over by the server's own clock (`Effect::lives_until`) is not alive, whatever was announced.
///     [from, until): at the very end it is over.
/// A grant that expires, is lost in a crash, or is overwritten by another grant, was not removed: that is mutual
/// exclusion's business. But what a refused acquire of X writes over it is no grant: if Y's release then says that it
/// failed, X has taken Y's lock from it (order_properties.hpp).
///
/// violated: the first such removal in the servers' order; `by` = both, the earlier holder first (a releaser whose
/// hold is older than the grant comes before its owner, a contender after); evidence = the write, the remover's
/// invocation, the removal. unknown: several have had places in something that keeps none for each, and none was
/// removed wrongly. Requires: `breaches` and `locks` are those of the history.
Finding own_release(const sim::History& history, const Names& names, std::span<const Breach> breaches,
                    const LockObjects& locks);
Finding own_release(const sim::History& history, const Names& names);

}  // namespace lockstep::checker
