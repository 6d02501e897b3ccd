#pragma once

// What a search is asked, and what it answers.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "checker/linearizability/model/options.hpp"
#include "checker/linearizability/model/specification.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct SearchOperation {
  Action action;
  std::int64_t invoked = 0;
  std::int64_t returned = never;  ///< latest moment at which it can take effect
  bool is_required = true;        ///< false: it may also never take effect
};

struct SearchLimits {
  std::size_t max_memory = ~std::size_t{0};  ///< bytes
  std::uint64_t max_configurations = ~std::uint64_t{0};
  std::function<bool()> is_out_of_time;  ///< may be empty
  bool looks_ahead = true;
  bool needs_culprit = true;  ///< false: of a violated history, the order and the culprit do not matter
};

/// Operations by position in the input.
struct SearchResult {
  Verdict verdict = Verdict::unknown;
  SearchBound bound = SearchBound::none;  ///< unknown: memory (also for configurations) or time
  std::vector<std::uint32_t> order;       ///< holds: a linearization; otherwise one of the longest prefix reached
  std::uint32_t culprit = 0;              ///< violated: the operation on whose return the prefix ends
  std::uint64_t configurations = 0;
  std::uint64_t steps = 0;
  std::size_t bytes = 0;
};

}  // namespace lockstep::checker
