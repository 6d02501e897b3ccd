#pragma once

#include <cstddef>
#include <span>

#include "checker/mutex.hpp"

namespace lockstep::checker {

/// How many configurations the search may create before it answers unknown.
inline constexpr std::size_t mutex_search_limit = 1'000'000;

/// The general search for histories of a mutex: exact for every one, exponential in the worst case. Wing and Gong's
/// search, breadth first over completions, with Lowe's just-in-time order ("Testing for linearizability", 2016): an
/// operation is ordered only to let another one complete, and equal configurations are searched once. Unknown
/// operations of one process and kind are interchangeable but for their invocation, so they are used in that order; and
/// of two orders that differ only in how many of them they used, the one that used more is dropped.
MutexResult search_mutex(std::span<const MutexOperation> operations, MutexSpecification specification,
                         std::size_t limit = mutex_search_limit);

}  // namespace lockstep::checker
