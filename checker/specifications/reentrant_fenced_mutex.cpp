// One lock that its owner may acquire again, with the same fencing token each time; a new hold has a greater token.
// If nobody knows the token of an acquire, a later one of the same hold may show it.

#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker::specifications {
namespace {

class ReentrantFencedMutex final : public Specification {
 public:
  static constexpr std::string_view name = "reentrant-fenced-mutex";
  static constexpr std::string_view summary = "a reentrant lock with one fencing token for each hold";
  static constexpr std::array functions = {
      ModelFunction{"acquire", ModelFunction::Argument::none, ModelFunction::Result::value}, ModelFunction{"release"}};
  static constexpr LockShape shape{.is_counted = true, .has_tokens = true};
  enum Kind : std::uint8_t { acquire, release, denied };
  enum Word : std::uint8_t { owner, depth, token, token_max };

  ReentrantFencedMutex(const OperationHistory& history, std::span<const std::uint32_t>,
                       const LinearizabilityOptions& options)
      : history_(history), depth_max_(options.reentrancy_max), check_failed_(options.check_failed) {}

  std::size_t words() const override { return 4; }
  void initial(std::uint64_t* state) const override {
    state[owner] = state[depth] = 0;
    state[token] = state[token_max] = static_cast<std::uint64_t>(nil);
  }

  Action action(const HistoryOperation& o) const override {
    if (o.phase == sim::Phase::fail) {
      if (!check_failed_ || o.function != 0) return {};
      return {.effect = Action::Effect::reads, .kind = denied, .process = o.process};
    }
    const bool has_token = o.function == 0 && o.out_known;
    return {.effect = Action::Effect::updates,
            .hold = o.function == 0 ? Action::Hold::takes : Action::Hold::gives_back,
            .kind = o.function == 0 ? acquire : release,
            .process = o.process,
            .out = has_token ? o.out : nil};
  }

  bool step(std::uint64_t* state, const Action& action) override {
    const std::uint64_t caller = std::uint64_t{action.process} + 1;
    const bool may_acquire = state[owner] == 0 || (state[owner] == caller && state[depth] < depth_max_);
    if (action.kind == denied) return !may_acquire;
    if (action.kind == release) {
      if (state[owner] != caller) return false;
      if (--state[depth] == 0) {
        state[owner] = 0;
        state[token] = static_cast<std::uint64_t>(nil);
      }
      return true;
    }
    if (!may_acquire) return false;
    state[owner] = caller;
    ++state[depth];
    if (action.out == nil) return true;
    const auto current = static_cast<std::int64_t>(state[token]);
    if (current != nil) return action.out == current;
    if (action.out <= static_cast<std::int64_t>(state[token_max])) return false;
    state[token] = state[token_max] = static_cast<std::uint64_t>(action.out);
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    const auto highest = static_cast<std::int64_t>(state[token_max]);
    const std::string last = highest == nil ? "" : ", token " + std::to_string(highest);
    if (state[owner] == 0) return "free" + last;
    return "held by " + process_text(history_, static_cast<std::uint32_t>(state[owner] - 1)) +
           (state[depth] == 1 ? "" : ", " + std::to_string(state[depth]) + " times") + last;
  }

 private:
  const OperationHistory& history_;
  std::uint64_t depth_max_;
  bool check_failed_;
};

}  // namespace

const Model& reentrant_fenced_mutex() {
  static const LockModel<ReentrantFencedMutex> model;
  return model;
}

}  // namespace lockstep::checker::specifications
