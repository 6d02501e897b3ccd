#pragma once

// Is a history of operations linearizable with respect to a sequential specification? Start here.
//
// A history is linearizable if every operation that took effect can be given one point of time between its invocation
// and its return, such that the operations, in the order of their points, are what the model allows. Operations on
// different keys are judged apart, because linearizability is local (Herlihy and Wing 1990, theorem 1).
//
// How it is decided, per key: for locks and for registers with distinct values a near-linear path; otherwise, or where
// that path cannot be sure, a search (linearizability/search.hpp). Either way the answer carries its proof.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/linearizability/near_linear/stretch.hpp"
#include "checker/linearizability/operation_history.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

class Specification;

/// What the arguments and the result of a function are, for whoever fills in a history.
struct ModelFunction {
  enum class Argument : std::uint8_t {
    none,
    value,       ///< a
    pair,        ///< a and b (cas: expected, new)
    transaction  ///< micro_operations[a .. a + b)
  };
  enum class Result : std::uint8_t {
    none,
    value,    ///< out, if out_known; for an acquire the fencing token, for add and remove 1 (changed) or 0 (did not)
    elements  ///< elements[a .. a + b), if out_known: the whole set
  };
  std::string_view name;
  Argument argument = Argument::none;
  Result result = Result::none;
};

struct LinearizabilityOptions {
  std::size_t max_memory = std::size_t{4} << 30;  ///< bytes, for the search, history not included
  /// Asked now and then during a search; true: give up, the verdict is unknown. The clock is the caller's.
  std::function<bool()> is_out_of_time;
  std::int64_t permits = 1;                          ///< of the semaphore
  std::int64_t initial = nil;                        ///< value of a register that nobody wrote
  std::uint64_t reentrancy_max = ~std::uint64_t{0};  ///< how often a reentrant lock may be held at once
  /// A failed acquire needs a moment at which the lock was taken, a failed cas one at which the value was another.
  /// false: whatever failed is left out.
  bool check_failed = false;
  bool search_only = false;       ///< no near-linear path: for tests and measurements
  bool looks_ahead = true;        ///< the search gives up what later reads rule out; false: for tests and measurements
  bool minimize_conflict = true;  ///< a conflict found by the search is made minimal by further searches
};

enum class NearLinearPath : std::uint8_t {
  none,
  alternation,       ///< mutex.hpp: acquires and releases take turns, by whomever
  holds,             ///< lock_sweep.hpp: whoever holds the lock releases it, and holding it shorter never hurts anybody
  distinct_writes,   ///< register_zones.hpp: a register, if all written values are different
  distinct_enqueues  ///< queue_order.hpp: a queue, if all enqueued values are different
};

/// Of a lock with holders. Its functions with an even index acquire, the next ones release what they acquired.
struct LockShape {
  bool is_counted = false;   ///< a process may hold it several times
  bool has_tokens = false;   ///< the result of an acquire is a fencing token
  bool has_permits = false;  ///< several processes may hold it, up to LinearizabilityOptions::permits
  bool has_readers = false;  ///< function 0 shares it, function 2 does not
};

/// A sequential specification that histories can be checked against. Immutable.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  ///< one line for `lockstep list specs`
  virtual std::span<const ModelFunction> functions() const = 0;
  /// A fresh object for the operations of one key, at these positions of the history.
  virtual std::unique_ptr<Specification> specification(const OperationHistory& history,
                                                       std::span<const std::uint32_t> positions,
                                                       const LinearizabilityOptions& options) const = 0;
  /// Which near-linear path applies to its histories.
  virtual NearLinearPath near_linear_path() const { return NearLinearPath::none; }
  /// Of a lock.
  virtual LockShape lock_shape() const { return {}; }
  /// Are the keys independent objects? False only for a multi-register, whose transactions connect its registers.
  virtual bool splits_by_key() const { return true; }
  /// Are the arguments `a` of each key independent objects as well? So are the elements of a set that nobody reads whole.
  virtual bool splits_by_argument(const OperationHistory&) const { return false; }
  /// "write 3", "cas 1 2", "acquire -> 7".
  virtual std::string describe(const OperationHistory& history, const HistoryOperation& operation) const;

  /// Index into `functions()`.
  std::optional<std::uint16_t> find_function(std::string_view name) const;
};

/// All models, in the order of the documentation.
std::span<const Model* const> models();
/// nullptr if there is none of this name.
const Model* find_model(std::string_view name);

enum class SearchBound : std::uint8_t { none, memory, time };

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
  /// allowed to have happened, in its time, or not, there is no order. (Named operations alone, with nothing else in the
  /// world, would explain nothing: a read is impossible without the write that it has read from. This way more named
  /// operations are never easier to order than fewer, and so leaving out one by one leads to a smallest set.)
  std::vector<std::uint32_t> conflict;
  /// Without any one operation of the conflict the others can be ordered. false: not known; the bounded effort of making
  /// it smaller came to its end before (linearizability/conflict.hpp), or the history is too long for it.
  bool is_minimal = false;
  /// violated, mutex: the conflict in numbers, where it is one of many operations.
  std::optional<Stretch> stretch;
  /// violated: up to here the history is not linearizable, up to any earlier moment it is; what is pending at a moment
  /// may have taken effect by then, with the result that it returned later. Then, the operation that returned at that
  /// moment, and its key.
  std::optional<std::int64_t> at;
  std::optional<std::uint32_t> culprit;
  std::uint32_t key = 0;
  /// violated: all keys that are, each once, the one that fails first in time at the front: it is the one that is explained.
  std::vector<ViolatedKey> violated_keys;
  /// violated: a linearization of the longest prefix of that key that has one: whatever returned before `at`.
  std::vector<std::uint32_t> prefix;
  LinearizabilityStatistics statistics;
};

/// Several keys: violated if one is, and then the one that fails first in time is shown; otherwise unknown if one is.
/// Requires: functions are indices into the model's; invoked <= returned where it ended ok.
LinearizabilityResult check_linearizable(const OperationHistory& history, const Model& model,
                                         const LinearizabilityOptions& options = {});

/// The state after each operation of an order of one key, as text. Requires: the model allows this order.
std::vector<std::string> describe_states(const OperationHistory& history, const Model& model,
                                         std::span<const std::uint32_t> order,
                                         const LinearizabilityOptions& options = {});

}  // namespace lockstep::checker
