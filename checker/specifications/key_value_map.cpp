// One entry of a map from keys to texts: get, put, append. An entry that nobody wrote is the empty text.

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "checker/linearizability/specification.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::specifications {
namespace {

/// A text in pieces: the text before, and one of the history's texts behind it. One that begins what some get returned
/// is kept once, however it is cut up; any other once for each way of cutting it up.
struct Rope {
  std::uint32_t before;
  std::uint32_t piece;
  std::uint64_t length;
  std::uint32_t from;  ///< seen_[from .. to) begin with this text
  std::uint32_t to;
};

class KeyValueMap final : public Specification {
 public:
  static constexpr std::string_view name = "kv";
  static constexpr std::string_view summary = "a map from keys to texts: get, put, append";
  static constexpr std::array functions = {
      ModelFunction{"get", ModelFunction::Argument::none, ModelFunction::Result::value},
      ModelFunction{"put", ModelFunction::Argument::value}, ModelFunction{"append", ModelFunction::Argument::value}};
  enum Kind : std::uint8_t { get, put, append, get_unseen };

  KeyValueMap(const OperationHistory& history, std::span<const std::uint32_t> positions, const LinearizabilityOptions&)
      : history_(history), slots_(64, none) {
    const auto has_seen = [](const HistoryOperation& o) {
      return o.function == get && o.out_known && o.phase != sim::Phase::fail;
    };
    for (const std::uint32_t i : positions) {
      if (has_seen(history.operations[i])) seen_.push_back(text_of(history.operations[i].out));
    }
    std::sort(seen_.begin(), seen_.end());
    seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
    ropes_ = {{empty, 0, 0, 0, static_cast<std::uint32_t>(seen_.size())}, {unseen, 0, 0, 0, 0}};
  }

  std::size_t words() const override { return 1; }
  void initial(std::uint64_t* state) const override { *state = empty; }

  Action action(const HistoryOperation& o) const override {
    if (o.phase == sim::Phase::fail) return {};
    if (o.function == put) return {.effect = Action::Effect::overwrites, .kind = put, .a = o.a};
    if (o.function == append) return {.effect = Action::Effect::extends, .kind = append, .a = o.a};
    if (!o.out_known) return {.effect = Action::Effect::reads, .kind = get_unseen};
    const auto rank = std::lower_bound(seen_.begin(), seen_.end(), text_of(o.out)) - seen_.begin();
    return {.effect = Action::Effect::reads, .kind = get, .out = rank};
  }

  /// The state: the index of a rope.
  bool step(std::uint64_t* state, const Action& action) override {
    const auto rope = static_cast<std::uint32_t>(*state);
    if (action.kind == get) return begins(rope, action.out) && ropes_[rope].length == seen_[action.out].size();
    if (action.kind == get_unseen) return true;
    *state = joined(action.kind == put ? empty : rope, action.a);
    return true;
  }

  /// Appends only make a text longer.
  bool looks_ahead() const override { return true; }
  bool can_lead_to(const std::uint64_t* state, const Action& read) override {
    return read.kind != get || begins(static_cast<std::uint32_t>(*state), read.out);
  }
  bool can_lead_to_after(const Action& overwrite, const Action& read) const override {
    return read.kind != get || seen_[read.out].starts_with(text_of(overwrite.a));
  }
  void expect_reads(std::span<const Action> reads) override {
    expected_.assign(seen_.size() + 1, 0);
    for (const Action& read : reads) {
      if (read.kind == get) expected_[read.out + 1] = 1;
    }
    std::partial_sum(expected_.begin(), expected_.end(), expected_.begin());
  }
  bool forget_unseen(std::uint64_t* state) const override {
    const Rope& rope = ropes_[*state];
    if (expected_[rope.from] != expected_[rope.to]) return false;
    *state = unseen;
    return true;
  }

  std::string describe(const std::uint64_t* state) const override {
    std::vector<std::string_view> pieces;
    for (auto rope = static_cast<std::uint32_t>(*state); rope != empty; rope = ropes_[rope].before) {
      pieces.emplace_back(history_.texts[ropes_[rope].piece]);
    }
    std::string text = "\"";
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) text += *piece;
    return text + "\"";
  }

  std::size_t bytes() const override {
    return ropes_.capacity() * sizeof(Rope) + slots_.capacity() * 4 + seen_.capacity() * sizeof(std::string_view);
  }

 private:
  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t unseen = 1;  ///< any text that begins nothing that a get has seen
  static constexpr std::uint32_t none = 0xffffffff;

  std::string_view text_of(std::int64_t value) const {
    return value == nil ? std::string_view() : std::string_view(history_.texts[value]);
  }

  bool begins(std::uint32_t rope, std::int64_t rank) const {
    return ropes_[rope].from <= rank && rank < ropes_[rope].to;
  }

  std::uint32_t joined(std::uint32_t before, std::int64_t value) {
    const std::string_view text = text_of(value);
    if (text.empty() || before == unseen) return before;
    const Rope& head = ropes_[before];
    const auto rest = [&](std::string_view seen) { return seen.substr(head.length, text.size()); };
    const auto first = seen_.begin() + head.from;
    const auto last = seen_.begin() + head.to;
    const auto from = std::lower_bound(first, last, text, [&](auto seen, auto t) { return rest(seen) < t; });
    const auto to = std::upper_bound(from, last, text, [&](auto t, auto seen) { return t < rest(seen); });
    const Rope rope{.before = before,
                    .piece = static_cast<std::uint32_t>(value),
                    .length = head.length + text.size(),
                    .from = static_cast<std::uint32_t>(from - seen_.begin()),
                    .to = static_cast<std::uint32_t>(to - seen_.begin())};
    std::size_t slot = slot_of(rope);
    for (; slots_[slot] != none; slot = (slot + 1) & (slots_.size() - 1)) {
      if (are_equal(ropes_[slots_[slot]], rope)) return slots_[slot];
    }
    const auto index = static_cast<std::uint32_t>(ropes_.size());
    slots_[slot] = index;
    ropes_.push_back(rope);
    if (2 * ropes_.size() > slots_.size()) grow();
    return index;
  }

  /// Of the texts that begin with what get has seen, there is one of each length.
  static bool are_equal(const Rope& a, const Rope& b) {
    const bool is_seen = a.from != a.to;
    if (is_seen != (b.from != b.to)) return false;
    return is_seen ? a.from == b.from && a.length == b.length : a.before == b.before && a.piece == b.piece;
  }

  std::size_t slot_of(const Rope& rope) const {
    const std::uint64_t key = rope.from != rope.to ? std::uint64_t{rope.from} << 32 ^ rope.length
                                                   : std::uint64_t{rope.before} << 32 | rope.piece;
    return sim::mix64(key) & (slots_.size() - 1);
  }

  void grow() {
    slots_.assign(slots_.size() * 2, none);
    for (std::uint32_t i = unseen + 1; i < ropes_.size(); ++i) {
      std::size_t slot = slot_of(ropes_[i]);
      while (slots_[slot] != none) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i;
    }
  }

  const OperationHistory& history_;
  std::vector<std::string_view> seen_;   ///< what gets returned, in order, each once
  std::vector<std::uint32_t> expected_;  ///< how many of seen_[0 .. i) somebody still asks for
  std::vector<Rope> ropes_;
  std::vector<std::uint32_t> slots_;  ///< open addressing; never points to the first two ropes
};

}  // namespace

const Model& key_value_map() {
  static const ModelOf<KeyValueMap> model;
  return model;
}

}  // namespace lockstep::checker::specifications
