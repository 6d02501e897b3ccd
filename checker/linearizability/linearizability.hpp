#pragma once

// Is a history of operations linearizable with respect to a sequential specification? Start here.
//
// A history is linearizable if every operation that took effect can be given one point of time between its invocation
// and its return, such that the operations, in the order of their points, are what the model allows. Operations on
// different keys are judged apart, because linearizability is local (Herlihy and Wing 1990, theorem 1).
//
// How it is decided, per key: for locks and for registers with distinct values a near-linear path; otherwise, or where
// that path cannot be sure, a search (search/search.hpp). Either way the answer carries its proof.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checker/linearizability/model/model.hpp"
#include "checker/linearizability/result.hpp"
#include "checker/specifications/models.hpp"

namespace lockstep::checker {

/// Several keys: violated if one is, and then the one that fails first in time is shown; otherwise unknown if one is.
/// Requires: functions are indices into the model's; invoked <= returned where it ended ok.
LinearizabilityResult check_linearizable(const OperationHistory& history, const Model& model,
                                         const LinearizabilityOptions& options = {});

/// The state after each operation of an order of one key, as text. Requires: the model allows this order.
std::vector<std::string> describe_states(const OperationHistory& history, const Model& model,
                                         std::span<const std::uint32_t> order,
                                         const LinearizabilityOptions& options = {});

}  // namespace lockstep::checker
