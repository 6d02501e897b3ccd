// One lock that only its owner releases, and whose acquires return tokens that grow: a later acquire has a greater one.
// An acquire whose token nobody knows grows it by an unknown amount, which says nothing.

#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker::specifications {
namespace {

class FencedMutex final : public Specification {
 public:
  static constexpr std::string_view name = "fenced-mutex";
  static constexpr std::string_view summary = "a lock that only its owner releases, with fencing tokens that grow";
  static constexpr std::array functions = {
      ModelFunction{"acquire", ModelFunction::Argument::none, ModelFunction::Result::value}, ModelFunction{"release"}};
  static constexpr LockShape shape{.has_tokens = true};
  enum Kind : std::uint8_t { acquire, release, denied };

  FencedMutex(const OperationHistory& history, std::span<const std::uint32_t>, const LinearizabilityOptions& options)
      : history_(history), check_failed_(options.check_failed) {}

  std::size_t words() const override { return 2; }
  void initial(std::uint64_t* state) const override {
    state[0] = 0;
    state[1] = static_cast<std::uint64_t>(nil);
  }

  Action action(const HistoryOperation& o) const override {
    if (o.phase == sim::Phase::fail) {
      if (!check_failed_ || o.function != 0) return {};
      return {.effect = Action::Effect::reads, .kind = denied};
    }
    const bool has_token = o.function == 0 && o.out_known;
    return {.effect = Action::Effect::updates,
            .hold = o.function == 0 ? Action::Hold::takes : Action::Hold::gives_back,
            .kind = o.function == 0 ? acquire : release,
            .process = o.process,
            .out = has_token ? o.out : nil};
  }

  /// The state: the owner's process + 1 or 0, the greatest token so far.
  bool step(std::uint64_t* state, const Action& action) override {
    const std::uint64_t caller = std::uint64_t{action.process} + 1;
    if (action.kind == denied) return state[0] != 0;
    if (state[0] != (action.kind == acquire ? 0 : caller)) return false;
    state[0] = action.kind == acquire ? caller : 0;
    if (action.kind == release || action.out == nil) return true;
    if (action.out <= static_cast<std::int64_t>(state[1])) return false;
    state[1] = static_cast<std::uint64_t>(action.out);
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    const auto token = static_cast<std::int64_t>(state[1]);
    return (state[0] == 0 ? "free" : "held by " + process_text(history_, static_cast<std::uint32_t>(state[0] - 1))) +
           (token == nil ? "" : ", token " + std::to_string(token));
  }

 private:
  const OperationHistory& history_;
  bool check_failed_;
};

}  // namespace

const Model& fenced_mutex() {
  static const LockModel<FencedMutex> model;
  return model;
}

}  // namespace lockstep::checker::specifications
