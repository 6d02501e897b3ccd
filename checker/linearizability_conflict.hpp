#pragma once

#include <span>
#include <vector>

#include "checker/linearizability_search.hpp"

namespace lockstep::checker {

struct Conflict {
  std::vector<std::uint32_t> operations;  ///< by position in the input, ascending
  bool is_minimal = false;
};

/// Why the operations cannot be ordered: as few of the required ones as needed so that they cannot be, even if all others
/// are optional. (To ask of a part alone whether it is linearizable would be no explanation: a read is not, without the
/// write that it has read from.) First a suffix that is enough, then whatever can be spared is taken out, one by
/// one. Each question is a search with a bound on its configurations; whatever cannot be answered within it stays in.
///
/// Requires: the search found them violated, with this culprit; nothing required returns after it.
Conflict minimal_conflict(std::vector<SearchOperation> operations, std::uint32_t culprit, Specification& specification,
                          const SearchLimits& limits);

}  // namespace lockstep::checker
