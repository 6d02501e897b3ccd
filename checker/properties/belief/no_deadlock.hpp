#pragma once

#include "checker/properties/belief/wait_for.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// no-deadlock (belief): no circle of processes, of which each waits for the next, lasts for `lasting` or longer; with
/// zero, none lasts at all. What waiting means is said in wait_for.hpp.
///
/// How long it must last says who may end it. Without a lease only a process that gives up does, and a story's clients
/// give up just because a story must end: each circle is a deadlock, and `lasting` is zero. With leases the first that
/// runs out ends it, which is no deadlock but a wait as long as a lease; `lasting` is a little longer than that. It
/// must then be the same circle, with the same wants and holds, all the time. Counterexample to the other reading: A
/// and B fight for two locks and give up and come again for ever, a moment of each second not in a circle; they get
/// nowhere, but that is a livelock.
///
/// Blames the processes of a shortest circle among those that have lasted first, in the order in which they wait for
/// each other. `at` is the moment from which it has, and `waits` is everybody who waits then.
Finding no_deadlock(const sim::History& history, const Names& names, sim::Duration lasting);

}  // namespace lockstep::checker
