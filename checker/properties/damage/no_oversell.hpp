#pragma once

#include <vector>

#include "checker/properties/breach.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// no-oversell (damage): no item is sold twice, and nobody pays more than he has.
///
/// Sales are operations "buy" that ended ok: the object is the item, the value what was left of the buyer's funds.
/// violated: the first sale (in the order in which they completed) of an item that was sold already, or that left less than nothing;
/// `by` = the earlier buyer, if there is one, and the later. holds: how many sales there were; unknown: none was even tried.
Finding no_oversell(const sim::History& history, const Names& names);

/// All of them, in the order in which they completed; `by` as above.
std::vector<Breach> oversales(const OrderedHistory& history);

}  // namespace lockstep::checker
