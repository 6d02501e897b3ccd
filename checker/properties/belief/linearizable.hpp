#pragma once

#include <cstdint>
#include <string_view>

#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// linearizable (belief): the acquires and releases of each object, as their clients saw them begin and end, are those
/// of a perfect mutex. Each object is judged by itself; that is enough, because linearizability is local (Herlihy and
/// Wing 1990, theorem 1). It asks more than mutual-exclusion, which accepts that a lease runs out, and in one
/// respect other: it looks at releases that succeeded although nothing was held. See mutex_history.hpp for what counts.
///
/// violated: the object that fails first; `by` = the processes of the operations that cannot be ordered, each once, in
/// the order in which these operations completed; `at` = the completion that made it impossible; evidence = the
/// completions of these operations. unknown: a search was needed and gave up. `model`:
/// "owner-mutex" or "mutex", whose release may be anybody's. An object that its owners take again and give back as
/// often is judged by `reentrant-mutex`.
Finding linearizable(const sim::History& history, const Names& names, std::string_view model = "owner-mutex");

/// The same for one object that is a semaphore: the model `semaphore` of linearizability.hpp. Which process holds a
/// place matters, and a place that ran out while its holder still believed is none that was given back.
Finding linearizable_semaphore(const sim::History& history, const Names& names, std::string_view object,
                               std::int64_t places);

}  // namespace lockstep::checker
