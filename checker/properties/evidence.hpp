#pragma once

// How a finding points at the history that it judges: operations by id, processes by name, times as text, steps in
// order. The only vocabulary that the checkers share.

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "checker/properties/breach.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// The operation with this id; null for 0 (none) and for an id that is not among these, of a history or of its
/// beginning.
inline const sim::Operation* find_operation(std::span<const sim::Operation> operations, sim::OperationId id) {
  return id == 0 || id > operations.size() ? nullptr : &operations[id - 1];
}
inline const sim::Operation* find_operation(const sim::History& history, sim::OperationId id) {
  return find_operation(std::span(history.operations), id);
}

/// Whether it is one of the servers that the lock protects.
bool is_resource(std::span<const sim::ProcessId> resources, sim::ProcessId server);

/// Did this operation's client learn that it succeeded? `function` is "acquire", "release", …
bool is_successful(const sim::Operation& operation, std::string_view function);

/// Whether somebody did this; with the second form: and it ended so.
bool has_operation(const OrderedHistory& history, std::string_view function);
bool has_operation(const OrderedHistory& history, std::string_view function, sim::Phase phase);

/// Whether an acquire that succeeded wrote anything anywhere: without that no server has granted a lock that it knows.
bool has_grant(const OrderedHistory& history);

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
