#pragma once

// A sequential specification: what one object does when operations happen to it one at a time. The searches behind
// linearizability.hpp know nothing else about a model. To write one, see specifications/register.cpp; its row is in
// specifications/models.cpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "checker/linearizability/model/model.hpp"

namespace lockstep::checker {

/// An operation as the specification of its object sees it. Operations with equal actions are interchangeable.
struct Action {
  enum class Effect : std::uint8_t {
    none,        ///< did not happen, or nobody knows and it would not matter: it is left out
    reads,       ///< never changes a state, but is not possible in each
    overwrites,  ///< possible in every state, and leads to the same state from each
    /// Possible in every state, returns nothing: nobody sees it if an operation that overwrites comes next. One that
    /// changes nothing does not change anything later either, until something overwrites.
    extends,
    updates  ///< anything else
  };
  /// Of a lock that is held by processes, so that nobody is ever worse off if one holds it shorter.
  enum class Hold : std::uint8_t { none, takes, gives_back };
  Effect effect = Effect::none;
  Hold hold = Hold::none;
  std::uint8_t kind = 0;      ///< the specification's own numbering
  std::uint32_t process = 0;  ///< 0 if the specification does not care whose it is
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t out = 0;
  bool operator==(const Action&) const = default;
};

/// States are arrays of words() 64-bit words, equal exactly if the states are. A specification may intern what does not
/// fit, and so is not const; but a step depends on nothing other than the state and the action.
class Specification {
 public:
  virtual ~Specification() = default;
  virtual std::size_t words() const = 0;
  virtual void initial(std::uint64_t* state) const = 0;
  virtual Action action(const HistoryOperation& operation) const = 0;
  /// False: the action is not possible in this state, whose words are then undefined, but those of a read are as they
  /// were.
  virtual bool step(std::uint64_t* state, const Action& action) = 0;
  /// Does a step that is not possible leave the words as they were? Then nobody has to copy them first.
  virtual bool leaves_state() const { return false; }
  /// Look-ahead: may updates, but no operation that overwrites, lead from this state to one in which the read is
  /// possible? true if in doubt.
  virtual bool can_lead_to(const std::uint64_t*, const Action&) { return true; }
  /// The same from the state after an operation that overwrites.
  virtual bool can_lead_to_after(const Action& /*overwrite*/, const Action& /*read*/) const { return true; }
  /// From now on only these reads will be asked about.
  virtual void expect_reads(std::span<const Action>) {}
  /// Puts one state for all those in which none of the expected reads is possible, nor in any state that they lead to
  /// without an operation that overwrites: they need to be searched only once. True: it is that state now.
  virtual bool forget_unseen(std::uint64_t*) const { return false; }
  /// Do can_lead_to and can_lead_to_after ever say false, or forget_unseen true? Then every update also has to be
  /// possible in every state.
  virtual bool looks_ahead() const { return false; }
  virtual std::string describe(const std::uint64_t* state) const = 0;
  /// Memory for interned states.
  virtual std::size_t bytes() const { return 0; }
};

/// A model that is nothing more than its name and its specification S, made from (history, positions, options).
template <class S>
class ModelOf : public Model {
 public:
  std::string_view name() const final { return S::name; }
  std::string_view summary() const final { return S::summary; }
  std::span<const ModelFunction> functions() const final { return S::functions; }
  std::unique_ptr<Specification> specification(const OperationHistory& history,
                                               std::span<const std::uint32_t> positions,
                                               const LinearizabilityOptions& options) const final {
    return std::make_unique<S>(history, positions, options);
  }
};

template <class S>
class LockModel final : public ModelOf<S> {
 public:
  NearLinearPath near_linear_path() const final { return NearLinearPath::holds; }
  LockShape lock_shape() const final { return S::shape; }
};

}  // namespace lockstep::checker
