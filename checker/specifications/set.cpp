// A set, empty at first: add, remove, contains, and read of the whole. Adding what is there and removing what is not
// changes nothing; the result, if known, is whether something changed.

#include <algorithm>
#include <array>

#include "checker/linearizability/specification.hpp"

namespace lockstep::checker::specifications {
namespace {

class Set final : public Specification {
 public:
  static constexpr std::string_view name = "set";
  static constexpr std::string_view summary = "elements are added, removed, looked for, and read all at once";
  static constexpr std::array functions = {
      ModelFunction{"add", ModelFunction::Argument::value, ModelFunction::Result::value},
      ModelFunction{"remove", ModelFunction::Argument::value, ModelFunction::Result::value},
      ModelFunction{"contains", ModelFunction::Argument::value, ModelFunction::Result::value},
      ModelFunction{"read", ModelFunction::Argument::none, ModelFunction::Result::elements}};
  enum Kind : std::uint8_t { add, remove, contains, read, unseen, impossible };

  Set(const OperationHistory& history, std::span<const std::uint32_t> positions, const LinearizabilityOptions&)
      : history_(history) {
    for (const std::uint32_t i : positions) {
      const HistoryOperation& o = history.operations[i];
      if (o.function < read) elements_.push_back(o.a);
    }
    std::sort(elements_.begin(), elements_.end());
    elements_.erase(std::unique(elements_.begin(), elements_.end()), elements_.end());
    words_ = std::max<std::size_t>(1, (elements_.size() + 63) / 64);
    for (const std::uint32_t i : positions) add_contents(history.operations[i]);
    std::sort(reads_.begin(), reads_.end());
  }

  std::size_t words() const override { return words_; }
  void initial(std::uint64_t* state) const override { std::fill_n(state, words_, 0); }

  Action action(const HistoryOperation& o) const override {
    using Effect = Action::Effect;
    if (o.phase == sim::Phase::fail) return {};
    if (o.function == read || o.function == contains) {
      if (!o.out_known) return {.effect = Effect::reads, .kind = unseen};
      if (o.function == read) return read_action(o);
      return {.effect = Effect::reads, .kind = contains, .a = index_of(o.a), .out = o.out == 0 ? 0 : 1};
    }
    const bool is_add = o.function == add;
    Action action{.kind = is_add ? add : remove, .a = index_of(o.a), .out = any};
    // With one element, to add it blindly leads to {it}, whatever was before.
    action.effect = elements_.size() == 1 ? Effect::overwrites : Effect::updates;
    if (!o.out_known) return action;
    action.out = o.out == 0 ? 0 : 1;
    action.effect = Effect::updates;
    // Nothing changed: it was there already, or was not there.
    if (action.out == 0) return {.effect = Effect::reads, .kind = contains, .a = action.a, .out = is_add ? 1 : 0};
    return action;
  }

  /// The state: a bit for each element.
  bool step(std::uint64_t* state, const Action& action) override {
    if (action.kind == impossible || action.kind == unseen) return action.kind == unseen;
    if (action.kind == read) return std::equal(state, state + words_, contents_.begin() + action.a);
    std::uint64_t& word = state[action.a / 64];
    const std::uint64_t bit = std::uint64_t{1} << (action.a % 64);
    const bool is_there = (word & bit) != 0;
    if (action.kind == contains) return is_there == (action.out == 1);
    const bool changes = is_there != (action.kind == add);
    if (action.out == 1 && !changes) return false;
    if (changes) word ^= bit;
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    std::string text;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      if ((state[i / 64] >> (i % 64) & 1) != 0) text += (text.empty() ? "" : ", ") + value_text(history_, elements_[i]);
    }
    return "{" + text + "}";
  }

  std::size_t bytes() const override { return contents_.capacity() * 8; }

 private:
  static constexpr std::int64_t any = -1;

  std::int64_t index_of(std::int64_t element) const {
    return std::lower_bound(elements_.begin(), elements_.end(), element) - elements_.begin();
  }

  /// Turns the elements that a read returned into a state to compare with.
  void add_contents(const HistoryOperation& o) {
    if (o.function != read || !o.out_known || o.phase == sim::Phase::fail) return;
    const std::size_t begin = contents_.size();
    contents_.resize(begin + words_, 0);
    bool is_possible = true;
    for (std::int64_t i = o.a; i < o.a + o.b; ++i) {
      const std::int64_t element = history_.elements[i];
      const std::int64_t index = index_of(element);
      if (static_cast<std::size_t>(index) == elements_.size() || elements_[index] != element) {
        is_possible = false;
      } else {
        std::uint64_t& word = contents_[begin + index / 64];
        const std::uint64_t bit = std::uint64_t{1} << (index % 64);
        is_possible = is_possible && (word & bit) == 0;  // no set has an element twice
        word |= bit;
      }
    }
    reads_.push_back({o.a, o.b, is_possible ? static_cast<std::int64_t>(begin) : -1});
  }

  Action read_action(const HistoryOperation& o) const {
    const auto it = std::lower_bound(reads_.begin(), reads_.end(), Read{o.a, o.b, nil});
    if (it->contents < 0) return {.effect = Action::Effect::reads, .kind = impossible};
    return {.effect = Action::Effect::reads, .kind = read, .a = it->contents};
  }

  struct Read {
    std::int64_t offset;
    std::int64_t count;
    std::int64_t contents;  ///< where its state is, or -1: it has an element that nobody added
    auto operator<=>(const Read&) const = default;
  };

  const OperationHistory& history_;
  std::vector<std::int64_t> elements_;
  std::size_t words_ = 1;
  std::vector<std::uint64_t> contents_;
  std::vector<Read> reads_;
};

class SetModel final : public ModelOf<Set> {
 public:
  bool splits_by_argument(const OperationHistory& history) const final {
    for (const HistoryOperation& o : history.operations) {
      if (o.function == Set::read) return false;
    }
    return true;
  }
};

}  // namespace

const Model& set() {
  static const SetModel model;
  return model;
}

}  // namespace lockstep::checker::specifications
