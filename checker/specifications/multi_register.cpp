// Several registers, and transactions that read and write them in one step.

#include <algorithm>
#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker::specifications {
namespace {

class MultiRegister final : public Specification {
 public:
  static constexpr std::string_view name = "multi-register";
  static constexpr std::string_view summary = "several registers, read and written in transactions";
  static constexpr std::array functions = {
      ModelFunction{"txn", ModelFunction::Argument::transaction, ModelFunction::Result::none}};

  MultiRegister(const OperationHistory& history, std::span<const std::uint32_t>, const LinearizabilityOptions& options)
      : history_(history), initial_(options.initial) {
    for (const MicroOperation& m : history.micro_operations) {
      registers_ = std::max<std::size_t>(registers_, m.register_index + std::size_t{1});
    }
  }

  std::size_t words() const override { return registers_; }
  void initial(std::uint64_t* state) const override {
    std::fill_n(state, registers_, static_cast<std::uint64_t>(initial_));
  }

  Action action(const HistoryOperation& o) const override {
    if (o.phase == sim::Phase::fail) return {};
    Action action{.effect = Action::Effect::reads, .a = o.a, .b = o.b};
    for (std::int64_t i = o.a; i < o.a + o.b; ++i) {
      if (history_.micro_operations[i].is_write) action.effect = Action::Effect::updates;
    }
    return action;
  }

  bool step(std::uint64_t* state, const Action& action) override {
    for (std::int64_t i = action.a; i < action.a + action.b; ++i) {
      const MicroOperation& m = history_.micro_operations[i];
      std::uint64_t& value = state[m.register_index];
      if (m.is_write) {
        value = static_cast<std::uint64_t>(m.value);
      } else if (m.is_known && value != static_cast<std::uint64_t>(m.value)) {
        return false;
      }
    }
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    std::string text;
    for (std::size_t r = 0; r < registers_; ++r) {
      text += (r == 0 ? "" : ", ") + (r < history_.key_names.size() ? history_.key_names[r] : std::to_string(r)) +
              ": " + value_text(history_, static_cast<std::int64_t>(state[r]));
    }
    return text;
  }

 private:
  const OperationHistory& history_;
  std::int64_t initial_;
  std::size_t registers_ = 1;
};

class MultiRegisterModel final : public ModelOf<MultiRegister> {
 public:
  bool splits_by_key() const final { return false; }

  std::string describe(const OperationHistory& history, const HistoryOperation& operation) const final {
    std::string text = "txn";
    for (std::int64_t i = operation.a; i < operation.a + operation.b; ++i) {
      const MicroOperation& m = history.micro_operations[i];
      const std::string name = m.register_index < history.key_names.size() ? history.key_names[m.register_index]
                                                                           : std::to_string(m.register_index);
      text += (m.is_write ? " write " : " read ") + name + (m.is_write ? " " : " -> ") +
              (m.is_write || m.is_known ? value_text(history, m.value) : "?");
    }
    return text;
  }
};

}  // namespace

const Model& multi_register() {
  static const MultiRegisterModel model;
  return model;
}

}  // namespace lockstep::checker::specifications
