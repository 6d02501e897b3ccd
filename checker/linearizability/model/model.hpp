#pragma once

// A model: a sequential specification that histories can be checked against, with its name and its functions. To write
// one, see specification.hpp and specifications/register.cpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "checker/linearizability/model/operation_history.hpp"
#include "checker/linearizability/model/options.hpp"

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

enum class NearLinearPath : std::uint8_t {
  none,
  alternation,       ///< mutex.hpp: acquires and releases alternate, by anyone
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
  /// Are the arguments `a` of each key independent objects as well? So are the elements of a set that nobody reads
  /// whole.
  virtual bool splits_by_argument(const OperationHistory&) const { return false; }
  /// "write 3", "cas 1 2", "acquire -> 7".
  virtual std::string describe(const OperationHistory& history, const HistoryOperation& operation) const;

  /// Index into `functions()`.
  std::optional<std::uint16_t> find_function(std::string_view name) const;
};

}  // namespace lockstep::checker
