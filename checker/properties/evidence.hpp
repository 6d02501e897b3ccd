#pragma once

// How a finding points at the history that it judges: operations by id, processes by name, times as text, steps in
// order. The only vocabulary that the checkers share.

#include <initializer_list>
#include <string>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// The operation with this id; null for 0 (none) and for an id that the history does not have.
const sim::Operation* find_operation(const sim::History& history, sim::OperationId id);

/// Did this operation's client learn that it succeeded? `function` is "acquire", "release", …
bool is_successful(const sim::Operation& operation, std::string_view function);

/// "A", or "process 7" for one without a name.
std::string name_of(const Names& names, sim::ProcessId process);

/// "163ms": true time since the beginning.
std::string time_text(sim::Instant instant);

/// "1 hold", "12 holds".
std::string counted(std::size_t n, std::string_view one, std::string_view many);

/// Ascending, without repetitions and without `no_step`.
std::vector<sim::Step> sorted_evidence(std::initializer_list<sim::Step> steps);

/// True times of one simulated execution, where every instant has the same anchor. Requires: both anchors are 0.
std::strong_ordering compare(sim::Instant a, sim::Instant b);

}  // namespace lockstep::checker
