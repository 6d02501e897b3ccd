// One entry of a map from keys to texts: get, put, append. An entry that nobody wrote is the empty text.

#include <algorithm>
#include <array>
#include <vector>

#include "checker/specification.hpp"
#include "sim/random.hpp"

namespace lockstep::checker::specifications {
namespace {

/// A text in pieces: the text before, and one of the history's texts behind it. Kept once for each way of cutting it
/// up, so that texts that grow by appending cost a piece each. Two ways to the same text are then two states, which
/// may cost a search time, but never its answer.
struct Rope {
  std::uint32_t before;
  std::uint32_t piece;
  std::uint64_t length;
  std::uint64_t hash;  ///< of the text, however it is cut
};

class KeyValueMap final : public Specification {
 public:
  static constexpr std::string_view name = "kv";
  static constexpr std::string_view summary = "a map from keys to texts: get, put, append";
  static constexpr std::array functions = {
      ModelFunction{"get", ModelFunction::Argument::none, ModelFunction::Result::value},
      ModelFunction{"put", ModelFunction::Argument::value}, ModelFunction{"append", ModelFunction::Argument::value}};
  enum Kind : std::uint8_t { get, put, append, get_unseen };

  KeyValueMap(const OperationHistory& history, std::span<const std::uint32_t>, const LinearizabilityOptions&)
      : history_(history), ropes_{{empty, 0, 0, 0}}, slots_(64, none) {
    hashes_.reserve(history.texts.size());
    for (const std::string& text : history.texts) hashes_.push_back(hash_of(0, text));
  }

  std::size_t words() const override { return 1; }
  void initial(std::uint64_t* state) const override { *state = empty; }

  Action action(const HistoryOperation& o) const override {
    if (o.phase == sim::Phase::fail) return {};
    if (o.function == put) return {.effect = Action::Effect::overwrites, .kind = put, .a = o.a};
    if (o.function == append) return {.effect = Action::Effect::updates, .kind = append, .a = o.a};
    return {.effect = Action::Effect::reads, .kind = o.out_known ? get : get_unseen, .out = o.out};
  }

  /// The state: the index of a rope.
  bool step(std::uint64_t* state, const Action& action) override {
    const auto rope = static_cast<std::uint32_t>(*state);
    if (action.kind == get) return is(rope, action.out);
    if (action.kind == get_unseen) return true;
    *state = joined(action.kind == put ? empty : rope, action.a);
    return true;
  }

  /// Appends only make a text longer.
  bool looks_ahead() const override { return true; }
  bool can_lead_to(const std::uint64_t* state, const Action& read) override {
    return read.kind != get || is_prefix(static_cast<std::uint32_t>(*state), read.out);
  }
  bool can_lead_to_after(const Action& overwrite, const Action& read) const override {
    return read.kind != get || text_of(read.out).starts_with(text_of(overwrite.a));
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
    return ropes_.capacity() * sizeof(Rope) + slots_.capacity() * 4 + prefixes_.capacity() * 8;
  }

 private:
  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::uint64_t prime = 0x100000001b3;

  static std::uint64_t hash_of(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    return hash;
  }

  /// Equal hashes are only a reason to compare.
  bool is(std::uint32_t rope, std::int64_t value) const {
    if (value == nil) return ropes_[rope].length == 0;
    std::string_view text = history_.texts[value];
    if (ropes_[rope].length != text.size() || ropes_[rope].hash != hashes_[value]) return false;
    for (; rope != empty; rope = ropes_[rope].before) {
      const std::string& piece = history_.texts[ropes_[rope].piece];
      if (!text.ends_with(piece)) return false;
      text.remove_suffix(piece.size());
    }
    return true;
  }

  std::string_view text_of(std::int64_t value) const {
    return value == nil ? std::string_view() : std::string_view(history_.texts[value]);
  }

  /// Is the rope the beginning of this text? Remembered, because a rope is asked about whenever it has grown: the pieces
  /// are compared from the last one back, as far as one that is known.
  bool is_prefix(std::uint32_t rope, std::int64_t value) {
    if (value == nil) return ropes_[rope].length == 0;
    const std::string_view text = text_of(value);
    if (ropes_[rope].length > text.size()) return false;
    if (prefixes_.empty()) prefixes_.assign(std::size_t{1} << 16, 0);
    const auto known_at = [&](std::uint32_t r) -> std::uint64_t& {
      return prefixes_[sim::mix64(std::uint64_t{r} << 32 | static_cast<std::uint32_t>(value)) & (prefixes_.size() - 1)];
    };
    for (std::uint32_t r = rope; r != empty; r = ropes_[r].before) {
      if (known_at(r) == (std::uint64_t{r} << 32 | static_cast<std::uint32_t>(value))) break;
      const std::string& piece = history_.texts[ropes_[r].piece];
      if (text.compare(ropes_[r].length - piece.size(), piece.size(), piece) != 0) return false;
    }
    if (rope != empty) known_at(rope) = std::uint64_t{rope} << 32 | static_cast<std::uint32_t>(value);
    return true;
  }

  std::uint32_t joined(std::uint32_t before, std::int64_t value) {
    if (value == nil || history_.texts[value].empty()) return before;
    const auto piece = static_cast<std::uint32_t>(value);
    std::size_t slot = slot_of(before, piece);
    for (; slots_[slot] != none; slot = (slot + 1) & (slots_.size() - 1)) {
      const Rope& rope = ropes_[slots_[slot]];
      if (rope.before == before && rope.piece == piece) return slots_[slot];
    }
    const auto index = static_cast<std::uint32_t>(ropes_.size());
    slots_[slot] = index;
    const std::string& text = history_.texts[piece];
    ropes_.push_back({before, piece, ropes_[before].length + text.size(), hash_of(ropes_[before].hash, text)});
    if (2 * ropes_.size() > slots_.size()) grow();
    return index;
  }

  std::size_t slot_of(std::uint32_t before, std::uint32_t piece) const {
    return sim::mix64(std::uint64_t{before} << 32 | piece) & (slots_.size() - 1);
  }

  void grow() {
    slots_.assign(slots_.size() * 2, none);
    for (std::uint32_t i = 1; i < ropes_.size(); ++i) {
      std::size_t slot = slot_of(ropes_[i].before, ropes_[i].piece);
      while (slots_[slot] != none) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i;
    }
  }

  const OperationHistory& history_;
  std::vector<std::uint64_t> hashes_;  ///< of the history's texts
  std::vector<Rope> ropes_;
  std::vector<std::uint32_t> slots_;     ///< open addressing; never points to the empty rope
  std::vector<std::uint64_t> prefixes_;  ///< some of the pairs (rope, text) of which the one begins the other
};

}  // namespace

const Model& key_value_map() {
  static const ModelOf<KeyValueMap> model;
  return model;
}

}  // namespace lockstep::checker::specifications
