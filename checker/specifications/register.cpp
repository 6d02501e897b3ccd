// One value: a read returns what was written last.

#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker::specifications {
namespace {

class Register final : public Specification {
 public:
  static constexpr std::string_view name = "register";
  static constexpr std::string_view summary = "one value, read and written";
  static constexpr std::array functions = {
      ModelFunction{"read", ModelFunction::Argument::none, ModelFunction::Result::value},
      ModelFunction{"write", ModelFunction::Argument::value}};
  enum Kind : std::uint8_t { read, write, read_unseen };

  Register(const OperationHistory& history, std::span<const std::uint32_t>, const LinearizabilityOptions& options)
      : history_(history), initial_(options.initial) {}

  std::size_t words() const override { return 1; }
  void initial(std::uint64_t* state) const override { *state = static_cast<std::uint64_t>(initial_); }

  Action action(const HistoryOperation& o) const override {
    if (o.phase == sim::Phase::fail) return {};
    if (o.function == write) return {.effect = Action::Effect::overwrites, .kind = write, .a = o.a};
    return {.effect = Action::Effect::reads, .kind = o.out_known ? read : read_unseen, .out = o.out};
  }

  bool step(std::uint64_t* state, const Action& action) override {
    if (action.kind == read) return *state == static_cast<std::uint64_t>(action.out);
    if (action.kind == write) *state = static_cast<std::uint64_t>(action.a);
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    return value_text(history_, static_cast<std::int64_t>(*state));
  }

 private:
  const OperationHistory& history_;
  std::int64_t initial_;
};

class RegisterModel final : public ModelOf<Register> {
 public:
  NearLinearPath near_linear_path() const final { return NearLinearPath::distinct_writes; }
};

}  // namespace

const Model& register_of_one_value() {
  static const RegisterModel model;
  return model;
}

}  // namespace lockstep::checker::specifications
