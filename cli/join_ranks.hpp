#pragma once

// Whether this process is one of several that mpirun, or a batch system's launcher, has started to do one piece of
// work.

#include <memory>
#include <string>
#include <variant>

#include "cli/arguments/call.hpp"
#include "scenarios/workers/ranks.hpp"

namespace lockstep::cli {

/// Null: this process is alone. Text: it is not, and cannot talk to the others; one sentence with the remedy. What is
/// returned must be destroyed before the program ends, or the others take it for dead.
std::variant<std::unique_ptr<scenarios::Ranks>, std::string> join_ranks();

/// What somebody has to say against the call, in the same words on all ranks; empty: nobody has anything. `own` is what
/// this one has.
std::string objection_of_any(const std::string& own, const Output& output);

}  // namespace lockstep::cli
