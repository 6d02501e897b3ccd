// One lock that its owner may acquire again, and has to release as often.

#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker::specifications {
namespace {

class ReentrantMutex final : public Specification {
 public:
  static constexpr std::string_view name = "reentrant-mutex";
  static constexpr std::string_view summary = "a lock that its owner may acquire again and releases as often";
  static constexpr std::array functions = {ModelFunction{"acquire"}, ModelFunction{"release"}};
  static constexpr LockShape shape{.is_counted = true};
  enum Kind : std::uint8_t { acquire, release, denied };

  ReentrantMutex(const OperationHistory& history, std::span<const std::uint32_t>, const LinearizabilityOptions& options)
      : history_(history), depth_max_(options.reentrancy_max), check_failed_(options.check_failed) {}

  std::size_t words() const override { return 2; }
  void initial(std::uint64_t* state) const override { state[0] = state[1] = 0; }

  Action action(const HistoryOperation& o) const override {
    if (o.phase != sim::Phase::fail) {
      return {.effect = Action::Effect::updates,
              .hold = o.function == 0 ? Action::Hold::takes : Action::Hold::gives_back,
              .kind = o.function == 0 ? acquire : release,
              .process = o.process};
    }
    if (!check_failed_ || o.function != 0) return {};
    return {.effect = Action::Effect::reads, .kind = denied, .process = o.process};
  }

  /// The state: the owner's process + 1 or 0, how often it holds the lock.
  bool step(std::uint64_t* state, const Action& action) override {
    std::uint64_t& owner = state[0];
    std::uint64_t& depth = state[1];
    const std::uint64_t caller = std::uint64_t{action.process} + 1;
    const bool may_acquire = owner == 0 || (owner == caller && depth < depth_max_);
    if (action.kind == denied) return !may_acquire;
    if (action.kind == acquire) {
      if (!may_acquire) return false;
      owner = caller;
      ++depth;
      return true;
    }
    if (owner != caller) return false;
    if (--depth == 0) owner = 0;
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    if (state[0] == 0) return "free";
    const std::string owner = process_text(history_, static_cast<std::uint32_t>(state[0] - 1));
    return "held by " + owner + (state[1] == 1 ? "" : ", " + std::to_string(state[1]) + " times");
  }

 private:
  const OperationHistory& history_;
  std::uint64_t depth_max_;
  bool check_failed_;
};

}  // namespace

const Model& reentrant_mutex() {
  static const LockModel<ReentrantMutex> model;
  return model;
}

}  // namespace lockstep::checker::specifications
