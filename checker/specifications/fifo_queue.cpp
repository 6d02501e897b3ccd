// A queue, empty at first. A dequeue returns what was enqueued earliest and not yet dequeued; nil says that the queue
// was empty.

#include <array>

#include "checker/linearizability/specification.hpp"
#include "checker/specifications/interned_states.hpp"

namespace lockstep::checker::specifications {
namespace {

class FifoQueue final : public Specification {
 public:
  static constexpr std::string_view name = "fifo-queue";
  static constexpr std::string_view summary = "first in, first out";
  static constexpr std::array functions = {
      ModelFunction{"enqueue", ModelFunction::Argument::value},
      ModelFunction{"dequeue", ModelFunction::Argument::none, ModelFunction::Result::value}};
  enum Kind : std::uint8_t { enqueue, dequeue, dequeue_any, empty };

  FifoQueue(const OperationHistory& history, std::span<const std::uint32_t>, const LinearizabilityOptions& options)
      : history_(history), check_failed_(options.check_failed) {}

  std::size_t words() const override { return 1; }
  void initial(std::uint64_t* state) const override { *state = 0; }

  Action action(const HistoryOperation& o) const override {
    const bool is_failed = o.phase == sim::Phase::fail;
    if (is_failed && (!check_failed_ || o.function != dequeue)) return {};
    if (is_failed || (o.function == dequeue && o.out_known && o.out == nil)) {
      return {.effect = Action::Effect::reads, .kind = empty};
    }
    if (o.function == enqueue) return {.effect = Action::Effect::updates, .kind = enqueue, .a = o.a};
    if (!o.out_known) return {.effect = Action::Effect::updates, .kind = dequeue_any};
    return {.effect = Action::Effect::updates, .kind = dequeue, .out = o.out};
  }

  /// The state: the index of the content, front first.
  bool step(std::uint64_t* state, const Action& action) override {
    const std::span<const std::int64_t> content = states_.at(*state);
    switch (action.kind) {
      case empty: return content.empty();
      case enqueue:
        next_.assign(content.begin(), content.end());
        next_.push_back(action.a);
        break;
      default:
        if (content.empty() || (action.kind == dequeue && content.front() != action.out)) return false;
        next_.assign(content.begin() + 1, content.end());
        break;
    }
    *state = states_.intern(next_);
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    std::string text;
    for (const std::int64_t value : states_.at(*state)) {
      text += (text.empty() ? "[" : ", ") + value_text(history_, value);
    }
    return text.empty() ? "empty" : text + "]";
  }

  std::size_t bytes() const override { return states_.bytes(); }

 private:
  const OperationHistory& history_;
  bool check_failed_;
  InternedStates states_;
  std::vector<std::int64_t> next_;
};

class FifoQueueModel final : public ModelOf<FifoQueue> {
 public:
  NearLinearPath near_linear_path() const final { return NearLinearPath::distinct_enqueues; }
};

}  // namespace

const Model& fifo_queue() {
  static const FifoQueueModel model;
  return model;
}

}  // namespace lockstep::checker::specifications
