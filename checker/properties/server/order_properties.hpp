#pragma once

// Three properties that need no clock, and part of a fourth: what each server did to a lock, in its order, and what
// each thread did, in its own, decide them. So they are the same question for a run and for an explored trace, which
// stands for many times but for one order of these.
//
// Whose a lock is: what acquires were granted, place by place; docs/decisions/ownership-is-what-was-granted.md. Readers
// who share a lock have it together.
//
// truthful-reports. A release or renewal that says ok did something (remove, write, touch) to a place that was then its
// own. What was never got (`of` is 0) cannot be given back. An inner release is judged only if it did something at a
// server at all. A release that says no did not remove every place that its hold was granted. An acquire that says no
// left nothing of its own behind where nothing was. But it is enough to have come back to the lock at some server, if
// nothing of that came to this one: a lost message is no lie. Where the bench cannot know whose a place is, it is
// unknown.
//
// own-release, a part of it. A release that says no does not find, at the place that its hold was granted and that
// nobody else has been granted since, what a refused acquire of somebody else has written over it (GETSET, SET). Whose
// release says yes all the same, as where texts are times, has lost nothing.
//
// reentrancy. (1) An inner release ("leave") does not remove the last place of what the outer acquire was granted in an
// object: a place that an inner acquire took besides may end before. (2) The outermost release, when the thread has
// released as often as it acquired, removes it: if it says ok and did something at a place of its own, the object is
// gone there. (3) Taking it again ("reenter") does not fail while it is held: only judged where the hold is certain,
// that is, where nothing but its own release ever took it away.
//
// faithful-renewal, first half. No renewal of a hold is sent after its release has ended, after its thread learnt of
// its loss, forgot it, or died by itself. (The second half, that no lease runs out while its holder believes, is a
// question of time: faithful_renewal.hpp.)

#include <span>
#include <string_view>
#include <vector>

#include "checker/properties/breach.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// All breaches of the three, by property in the order above, then as the history has them.
std::vector<Breach> order_breaches(const OrderedHistory& history);

/// Of all of the history: what the three properties are judged by. Whoever asks for more than one of them finds it
/// once.
std::vector<Breach> order_breaches(const sim::History& history);

/// Requires: `breaches` are those of the history.
Finding truthful_reports(const sim::History& history, const Names& names, std::span<const Breach> breaches);
Finding reentrancy(const sim::History& history, const Names& names, std::span<const Breach> breaches);

Finding truthful_reports(const sim::History& history, const Names& names);
Finding reentrancy(const sim::History& history, const Names& names);

}  // namespace lockstep::checker
