// One value that can be read, written, and replaced if it is what the caller expects.

#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker::specifications {
namespace {

class CasRegister final : public Specification {
 public:
  static constexpr std::string_view name = "cas-register";
  static constexpr std::string_view summary = "one value, read, written, and compared and set";
  static constexpr std::array functions = {
      ModelFunction{"read", ModelFunction::Argument::none, ModelFunction::Result::value},
      ModelFunction{"write", ModelFunction::Argument::value}, ModelFunction{"cas", ModelFunction::Argument::pair}};
  enum Kind : std::uint8_t { read, write, cas, refused, read_unseen };

  CasRegister(const OperationHistory& history, std::span<const std::uint32_t>, const LinearizabilityOptions& options)
      : history_(history), initial_(options.initial), check_failed_(options.check_failed) {}

  std::size_t words() const override { return 1; }
  void initial(std::uint64_t* state) const override { *state = static_cast<std::uint64_t>(initial_); }

  Action action(const HistoryOperation& o) const override {
    if (o.phase == sim::Phase::fail) {
      if (!check_failed_ || o.function != cas) return {};
      return {.effect = Action::Effect::reads, .kind = refused, .a = o.a};
    }
    if (o.function == write) return {.effect = Action::Effect::overwrites, .kind = write, .a = o.a};
    if (o.function == cas) return {.effect = Action::Effect::updates, .kind = cas, .a = o.a, .b = o.b};
    return {.effect = Action::Effect::reads, .kind = o.out_known ? read : read_unseen, .out = o.out};
  }

  bool step(std::uint64_t* state, const Action& action) override {
    const auto value = static_cast<std::int64_t>(*state);
    switch (action.kind) {
      case read: return value == action.out;
      case refused: return value != action.a;
      case cas:
        if (value != action.a) return false;
        *state = static_cast<std::uint64_t>(action.b);
        return true;
      case write: *state = static_cast<std::uint64_t>(action.a); return true;
      default: return true;
    }
  }

  std::string describe(const std::uint64_t* state) const override {
    return value_text(history_, static_cast<std::int64_t>(*state));
  }

 private:
  const OperationHistory& history_;
  std::int64_t initial_;
  bool check_failed_;
};

}  // namespace

const Model& cas_register() {
  static const ModelOf<CasRegister> model;
  return model;
}

}  // namespace lockstep::checker::specifications
