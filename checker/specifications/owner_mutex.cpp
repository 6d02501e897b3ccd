// One lock, free at first. A release needs it held by the same process; so does nothing else: an owner that acquires
// again would wait for itself.

#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker::specifications {
namespace {

class OwnerMutex final : public Specification {
 public:
  static constexpr std::string_view name = "owner-mutex";
  static constexpr std::string_view summary = "a lock that only its owner releases";
  static constexpr std::array functions = {ModelFunction{"acquire"}, ModelFunction{"release"}};
  static constexpr LockShape shape{};
  enum Kind : std::uint8_t { acquire, release, denied };

  OwnerMutex(const OperationHistory& history, std::span<const std::uint32_t>, const LinearizabilityOptions& options)
      : history_(history), check_failed_(options.check_failed) {}

  std::size_t words() const override { return 1; }
  void initial(std::uint64_t* state) const override { *state = 0; }

  Action action(const HistoryOperation& o) const override {
    if (o.phase != sim::Phase::fail) {
      return {.effect = Action::Effect::updates,
              .hold = o.function == 0 ? Action::Hold::takes : Action::Hold::gives_back,
              .kind = o.function == 0 ? acquire : release,
              .process = o.process};
    }
    if (!check_failed_ || o.function != 0) return {};
    return {.effect = Action::Effect::reads, .kind = denied};
  }

  /// The state is the owner's process + 1, or 0.
  bool step(std::uint64_t* state, const Action& action) override {
    const std::uint64_t caller = std::uint64_t{action.process} + 1;
    if (action.kind == denied) return *state != 0;
    if (*state != (action.kind == acquire ? 0 : caller)) return false;
    *state = action.kind == acquire ? caller : 0;
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    return *state == 0 ? "free" : "held by " + process_text(history_, static_cast<std::uint32_t>(*state - 1));
  }

 private:
  const OperationHistory& history_;
  bool check_failed_;
};

}  // namespace

const Model& owner_mutex() {
  static const LockModel<OwnerMutex> model;
  return model;
}

}  // namespace lockstep::checker::specifications
