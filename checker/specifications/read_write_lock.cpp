// Many readers or one writer. Whoever releases must hold what it releases. A process may hold several read locks, and
// has to give back its own before it can write.

#include <array>

#include "checker/linearizability/specification.hpp"
#include "checker/specifications/process_counts.hpp"

namespace lockstep::checker::specifications {
namespace {

class ReadWriteLock final : public Specification {
 public:
  static constexpr std::string_view name = "read-write-lock";
  static constexpr std::string_view summary = "many readers or one writer";
  static constexpr std::array functions = {ModelFunction{"acquire-read"}, ModelFunction{"release-read"},
                                           ModelFunction{"acquire-write"}, ModelFunction{"release-write"}};
  static constexpr LockShape shape{.is_counted = true, .has_readers = true};
  enum Kind : std::uint8_t { acquire_read, release_read, acquire_write, release_write, read_denied, write_denied };
  enum Word : std::uint8_t { writer, readers, reads };

  ReadWriteLock(const OperationHistory& history, std::span<const std::uint32_t> positions,
                const LinearizabilityOptions& options)
      : history_(history), reads_(history, positions), check_failed_(options.check_failed) {}

  std::size_t words() const override { return reads + reads_.words(); }
  void initial(std::uint64_t* state) const override { std::fill_n(state, words(), 0); }

  Action action(const HistoryOperation& o) const override {
    if (o.phase != sim::Phase::fail) {
      return {.effect = Action::Effect::updates,
              .hold = o.function % 2 == 0 ? Action::Hold::takes : Action::Hold::gives_back,
              .kind = static_cast<std::uint8_t>(o.function),
              .process = reads_.index_of(o.process)};
    }
    if (!check_failed_ || o.function == release_read || o.function == release_write) return {};
    return {.effect = Action::Effect::reads, .kind = o.function == acquire_read ? read_denied : write_denied};
  }

  /// The state: the writer's index + 1 or 0, the number of read locks, how many of them each process holds.
  bool step(std::uint64_t* state, const Action& action) override {
    const std::uint64_t caller = std::uint64_t{action.process} + 1;
    const bool may_read = state[writer] == 0;
    const bool may_write = state[writer] == 0 && state[readers] == 0;
    switch (action.kind) {
      case acquire_read:
        if (!may_read || ProcessCounts::get(state + reads, action.process) == ProcessCounts::count_max) return false;
        ++state[readers];
        ProcessCounts::add(state + reads, action.process, 1);
        return true;
      case release_read:
        if (ProcessCounts::get(state + reads, action.process) == 0) return false;
        --state[readers];
        ProcessCounts::add(state + reads, action.process, -1);
        return true;
      case acquire_write:
        if (!may_write) return false;
        state[writer] = caller;
        return true;
      case release_write:
        if (state[writer] != caller) return false;
        state[writer] = 0;
        return true;
      case read_denied: return !may_read;
      default: return !may_write;
    }
  }

  bool leaves_state() const override { return true; }

  std::string describe(const std::uint64_t* state) const override {
    if (state[writer] != 0) {
      const auto index = static_cast<std::size_t>(state[writer] - 1);
      return "written by " + process_text(history_, reads_.process(index));
    }
    if (state[readers] == 0) return "free";
    std::string text;
    for (std::uint32_t i = 0; i < reads_.processes(); ++i) {
      const std::uint64_t count = ProcessCounts::get(state + reads, i);
      if (count == 0) continue;
      text += (text.empty() ? "read by " : ", ") + process_text(history_, reads_.process(i)) +
              (count == 1 ? "" : " (" + std::to_string(count) + " times)");
    }
    return text;
  }

 private:
  const OperationHistory& history_;
  ProcessCounts reads_;
  bool check_failed_;
};

}  // namespace

const Model& read_write_lock() {
  static const LockModel<ReadWriteLock> model;
  return model;
}

}  // namespace lockstep::checker::specifications
