#pragma once

// The general search: any specification, any history, exact unless a bound is hit; exponential in the worst case.
// How it goes is told in configurations.hpp.

#include <span>

#include "checker/linearizability/model/specification.hpp"
#include "checker/linearizability/search/search_operation.hpp"

namespace lockstep::checker {

SearchResult search_linearization(std::span<const SearchOperation> operations, Specification& specification,
                                  const SearchLimits& limits);

}  // namespace lockstep::checker
