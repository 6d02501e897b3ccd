#pragma once

// What a check of a history answers: the verdict with its proof.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "checker/linearizability/model/options.hpp"
#include "checker/linearizability/near_linear/stretch.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

struct LinearizabilityStatistics {
  std::size_t keys = 0;
  std::size_t searched_keys = 0;     ///< for which the near-linear path did not apply, or could not be sure
  std::uint64_t configurations = 0;  ///< created by searches, that for the verdict only
  std::uint64_t steps = 0;           ///< of the specification, in these searches
  std::size_t search_bytes_max = 0;  ///< memory of the largest search
};

/// A key whose operations have no order.
struct ViolatedKey {
  std::uint32_t key = 0;
  std::int64_t at = 0;        ///< as in LinearizabilityResult
  std::uint32_t culprit = 0;  ///< likewise
};

/// All operations are given by position in the history.
struct LinearizabilityResult {
  Verdict verdict = Verdict::unknown;
  SearchBound bound = SearchBound::none;  ///< unknown: what was hit
  /// holds: a linearization of each key, one key after the other: all operations that ended ok and those of unknown
  /// outcome that had to take effect.
  std::vector<std::uint32_t> order;
  /// violated: operations that cannot all have taken effect, ascending. Even if every operation that is not named is
  /// allowed to have happened, in its time, or not, there is no order. (Named operations alone, with nothing else in
  /// the world, would explain nothing: a read is impossible without the write that it has read from. This way more
  /// named operations are never easier to order than fewer, and so leaving out one by one leads to a smallest set.)
  std::vector<std::uint32_t> conflict;
  /// Without any one operation of the conflict the others can be ordered. false: not known; the bounded effort of
  /// making it smaller came to its end before (search/conflict.hpp), or the history is too long for it.
  bool is_minimal = false;
  /// violated, mutex: the conflict in numbers, where it is one of many operations.
  std::optional<Stretch> stretch;
  /// violated: up to here the history is not linearizable, up to any earlier moment it is; what is pending at a moment
  /// may have taken effect by then, with the result that it returned later. Then, the operation that returned at that
  /// moment, and its key.
  std::optional<std::int64_t> at;
  std::optional<std::uint32_t> culprit;
  std::uint32_t key = 0;
  /// violated: all keys that are, each once, the one that fails first in time at the front: it is the one that is
  /// explained.
  std::vector<ViolatedKey> violated_keys;
  /// Keys for which a bound was hit, ascending; of those that have a part that is violated, too.
  std::vector<std::uint32_t> unknown_keys;
  /// violated: a linearization of the longest prefix of that key that has one: whatever returned before `at`.
  std::vector<std::uint32_t> prefix;
  LinearizabilityStatistics statistics;
};

}  // namespace lockstep::checker
