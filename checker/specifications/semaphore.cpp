// n permits, all free at first. An acquire takes `a` of them (one, if nil), and a release gives back permits that the
// same process holds: a permit released by somebody who has none would let one process too many in.

#include <array>

#include "checker/linearizability/specification.hpp"
#include "checker/specifications/process_counts.hpp"

namespace lockstep::checker::specifications {
namespace {

class Semaphore final : public Specification {
 public:
  static constexpr std::string_view name = "semaphore";
  static constexpr std::string_view summary = "n permits; a process gives back only what it holds";
  static constexpr std::array functions = {ModelFunction{"acquire", ModelFunction::Argument::value},
                                           ModelFunction{"release", ModelFunction::Argument::value}};
  static constexpr LockShape shape{.is_counted = true, .has_permits = true};
  enum Kind : std::uint8_t { acquire, release, denied };

  Semaphore(const OperationHistory& history, std::span<const std::uint32_t> positions,
            const LinearizabilityOptions& options)
      : history_(history),
        held_(history, positions),
        permits_(std::min<std::int64_t>(options.permits, ProcessCounts::count_max)),
        check_failed_(options.check_failed) {}

  std::size_t words() const override { return 1 + held_.words(); }
  void initial(std::uint64_t* state) const override { std::fill_n(state, words(), 0); }

  Action action(const HistoryOperation& o) const override {
    Action action{.effect = Action::Effect::updates,
                  .hold = o.function == 0 ? Action::Hold::takes : Action::Hold::gives_back,
                  .kind = o.function == 0 ? acquire : release,
                  .process = held_.index_of(o.process),
                  .a = o.a == nil ? 1 : o.a};
    if (o.phase == sim::Phase::fail) {
      if (!check_failed_ || o.function != 0) return {};
      action = {.effect = Action::Effect::reads, .kind = denied, .a = action.a};
    }
    return action;
  }

  /// The state: permits taken, then what each process holds.
  bool step(std::uint64_t* state, const Action& action) override {
    const auto taken = static_cast<std::int64_t>(state[0]);
    if (action.kind != release) {
      const bool fits = action.a <= permits_ - taken;
      if (action.kind == denied) return !fits;
      if (!fits || action.a < 0) return false;
      state[0] += static_cast<std::uint64_t>(action.a);
      ProcessCounts::add(state + 1, action.process, action.a);
      return true;
    }
    if (action.a < 0 || static_cast<std::int64_t>(ProcessCounts::get(state + 1, action.process)) < action.a) {
      return false;
    }
    state[0] -= static_cast<std::uint64_t>(action.a);
    ProcessCounts::add(state + 1, action.process, -action.a);
    return true;
  }

  bool leaves_state() const override { return true; }

  std::string describe(const std::uint64_t* state) const override {
    std::string text = std::to_string(state[0]) + " of " + std::to_string(permits_) + " taken";
    for (std::uint32_t i = 0; i < held_.processes(); ++i) {
      const std::uint64_t held = ProcessCounts::get(state + 1, i);
      if (held == 0) continue;
      text += ", " + process_text(history_, held_.process(i)) + " has " + std::to_string(held);
    }
    return text;
  }

 private:
  const OperationHistory& history_;
  ProcessCounts held_;
  std::int64_t permits_;
  bool check_failed_;
};

}  // namespace

const Model& semaphore() {
  static const LockModel<Semaphore> model;
  return model;
}

}  // namespace lockstep::checker::specifications
