#pragma once

#include <cstddef>
#include <span>

#include "checker/linearizability/near_linear/mutex.hpp"

namespace lockstep::checker {

/// How many configurations the search may create before it answers unknown.
inline constexpr std::size_t mutex_search_limit = 1'000'000;

/// The general search of linearizability/search.hpp for histories of a mutex: exact for every one, exponential in the
/// worst case. `conflict` is minimal as a rule.
MutexResult search_mutex(std::span<const MutexOperation> operations, MutexSpecification specification,
                         std::size_t limit = mutex_search_limit);

}  // namespace lockstep::checker
