#include "checker/linearizability/search.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <tuple>

#include "checker/linearizability/holds.hpp"
#include "checker/linearizability/look_ahead.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker {
namespace {

using Index = std::uint32_t;
using Word = std::uint64_t;
using Hold = Action::Hold;
constexpr Index no_node = 0xffffffff;

/// What a configuration has to remember of a pending operation.
enum class Role : std::uint8_t {
  update,    ///< ordered or not
  write,     ///< overwrites or extends; ordered, not ordered, or hideable
  read,      ///< done or not
  optional,  ///< used or not
  left_out
};

using Event = SearchEvent;

/// A move of the search is an operation that is ordered, or one of these two things that can happen to the one that
/// returns.
constexpr Index hides = 0x8000'0000;  ///< a hideable write: it was ordered just before a past one
constexpr Index skips = 0x4000'0000;  ///< an optional operation: it never takes effect
constexpr Index operation_mask = 0x3fff'ffff;

/// Configurations in blocks, so that growing does not copy them.
class Arena {
 public:
  explicit Arena(std::size_t words_each)
      : words_each_(words_each), shift_(words_each > 64 ? 6 : 12), mask_((Index{1} << shift_) - 1) {}

  Word* operator[](Index i) { return blocks_[i >> shift_].get() + (i & mask_) * words_each_; }
  const Word* operator[](Index i) const { return blocks_[i >> shift_].get() + (i & mask_) * words_each_; }
  Index size() const { return size_; }
  Word* add() {
    if ((size_ & mask_) == 0) blocks_.push_back(std::make_unique_for_overwrite<Word[]>(words_each_ << shift_));
    return (*this)[size_++];
  }
  std::size_t bytes() const { return blocks_.size() * (words_each_ << shift_) * sizeof(Word); }

 private:
  std::size_t words_each_;
  unsigned shift_;
  Index mask_;
  Index size_ = 0;
  std::vector<std::unique_ptr<Word[]>> blocks_;
};

class Search {
 public:
  Search(std::span<const SearchOperation> operations, Specification& specification, const SearchLimits& limits)
      : operations_(operations), specification_(specification), limits_(limits), state_words_(specification.words()) {
    prepare_kinds();
    expect_reads();
    prepare_holds();
    prepare_events();
    looks_ahead_ = limits_.looks_ahead && specification_.looks_ahead();
    if (looks_ahead_) ahead_ = ReadsAhead(operations_, events_, specification_);
    mask_words_ = (slots_ + 63) / 64;
    config_words_ = state_words_ + 3 * mask_words_;
    pending_writes_.assign(mask_words_, 0);
    config_.resize(config_words_);
    scratch_.resize(state_words_);
  }

  bool gave_up() const { return gave_up_; }

  SearchResult run() {
    Arena nodes(header_words + config_words_);
    nodes_ = &nodes;
    table_.assign(1024, no_node);
    first_.assign(events_.size(), no_node);
    last_.assign(events_.size(), no_node);

    start(config_.data());
    const Index event = advance(config_.data(), 0, nullptr);
    if (event == events_.size()) return finish(Verdict::holds, no_node, no_node);
    // Never given up: there has to be one configuration to tell of.
    add(event, no_node, no_node);
    // The latest event first, and there whoever came first: that took the fewest moves, so it dominates most.
    while (true) {
      while (level_ > 0 && first_[level_] == no_node) --level_;
      const Index node = first_[level_];
      if (node == no_node) return finish(Verdict::violated, deepest_, no_node);
      first_[level_] = static_cast<Index>(nodes[node][2]);
      if ((nodes[node][2] & is_dominated) != 0) continue;
      find_moves(node);
      const Index now = event_of(node);
      for (const Index move : moves_) {
        const Word* from = nodes[node] + header_words;
        std::copy(from, from + config_words_, config_.begin());
        const Index next = apply(config_.data(), now, move, nullptr);
        if (next == events_.size()) return finish(Verdict::holds, node, move);
        if (is_hopeless(next)) continue;
        if (add(next, node, move) && is_over_limit()) return finish(Verdict::unknown, deepest_, no_node);
      }
    }
  }

 private:
  // A node: three words of header, then a configuration.
  //   parent, move | event, next node of the same bucket | next node to search at this event, is_dominated
  //   state | updates: ordered | optional: used, write: ordered | write: neither ordered nor hideable, read: not done
  // The bits of the last two are costs: a configuration dominates another if it has no bit more than it.
  static constexpr std::size_t header_words = 3;
  static constexpr Word is_dominated = Word{1} << 63;

  Word* updates(Word* config) const { return config + state_words_; }
  Word* used(Word* config) const { return config + state_words_ + mask_words_; }
  Word* open_bits(Word* config) const { return config + state_words_ + 2 * mask_words_; }

  Word bit(Index o) const { return Word{1} << (slot_[o] & 63); }
  std::size_t word(Index o) const { return slot_[o] >> 6; }

  Index event_of(Index node) const { return static_cast<Index>((*nodes_)[node][1]); }

  void prepare_kinds() {
    const std::size_t n = operations_.size();
    role_.resize(n);
    std::vector<Index> by_action;
    for (Index o = 0; o < n; ++o) {
      const SearchOperation& operation = operations_[o];
      const bool is_read = operation.action.effect == Action::Effect::reads;
      if (operation.action.effect == Action::Effect::none || (is_read && !operation.is_required)) {
        role_[o] = Role::left_out;
        continue;
      }
      const bool is_blind = operation.action.effect != Action::Effect::updates;
      role_[o] = !operation.is_required ? Role::optional : is_read ? Role::read : is_blind ? Role::write : Role::update;
      if (!is_read) by_action.push_back(o);
    }
    const auto key = [this](Index o) {
      const Action& a = operations_[o].action;
      return std::tuple(a.kind, a.process, a.a, a.b, a.out);
    };
    std::sort(by_action.begin(), by_action.end(), [&key](Index a, Index b) { return key(a) < key(b); });
    class_.resize(n);
    Index classes = 0;
    for (std::size_t i = 0; i < by_action.size(); ++i) {
      if (i != 0 && operations_[by_action[i - 1]].action != operations_[by_action[i]].action) ++classes;
      class_[by_action[i]] = classes;
    }
    seen_.assign(classes + std::size_t{1}, 0);
  }

  void expect_reads() {
    std::vector<Action> reads;
    for (Index o = 0; o < operations_.size(); ++o) {
      if (role_[o] == Role::read) reads.push_back(operations_[o].action);
    }
    has_reads_ = !reads.empty();
    specification_.expect_reads(reads);
  }

  void prepare_holds() {
    holds_ = plan_holds(operations_, has_reads_);
    for (Index o = 0; o < operations_.size(); ++o) {
      if (holds_.is_pointless[o] != 0) role_[o] = Role::left_out;
    }
    releases_.assign(holds_.processes, 0);
  }

  void prepare_events() {
    for (Index o = 0; o < operations_.size(); ++o) {
      if (role_[o] == Role::left_out) continue;
      events_.push_back({operations_[o].invoked, o, false});
      if (operations_[o].returned != never) events_.push_back({operations_[o].returned, o, true});
    }
    // What touches is concurrent: invocations first.
    const auto key = [](const Event& e) { return std::tuple(e.time, e.is_return, e.operation); };
    std::sort(events_.begin(), events_.end(), [&key](const Event& a, const Event& b) { return key(a) < key(b); });
    // Nothing needs to be ordered after the last required return.
    std::size_t end = events_.size();
    while (end > 0 && !(events_[end - 1].is_return && operations_[events_[end - 1].operation].is_required)) --end;
    events_.resize(end);

    slot_.assign(operations_.size(), no_node);
    std::vector<Index> free;
    for (const Event& e : events_) {
      if (e.is_return) {
        free.push_back(slot_[e.operation]);
      } else if (!free.empty()) {
        slot_[e.operation] = free.back();
        free.pop_back();
      } else {
        slot_[e.operation] = slots_++;
      }
    }
  }

  /// Is there a pending read in config_, at this event, or one of the next, that will never be possible?
  bool is_hopeless(Index event) {
    if (!looks_ahead_) return false;
    seek(event);
    const std::int64_t now = events_[event].time;
    const auto is_lost = [&](Index r) {
      if (specification_.can_lead_to(config_.data(), operations_[r].action)) return false;
      return std::none_of(ahead_.sources(r).begin(), ahead_.sources(r).end(), [&](Index w) {
        const bool is_past = operations_[w].returned < now;
        return !is_past && (operations_[w].invoked > now || !is_ordered_or_used(config_.data(), w));
      });
    };
    const auto is_lost_if_open = [&](Index r) {
      return (open_bits(config_.data())[word(r)] & bit(r)) != 0 && is_lost(r);
    };
    const std::span<const Index> next = ahead_.after(event);
    if (std::none_of(pending_reads_.begin(), pending_reads_.end(), is_lost_if_open) &&
        std::none_of(next.begin(), next.end(), is_lost)) {
      return false;
    }
    gave_up_ = true;
    return true;
  }

  void start(Word* config) {
    std::fill_n(config, config_words_, 0);
    specification_.initial(config);
    specification_.forget_unseen(config);
  }

  /// Tries a step without changing the state.
  bool is_possible(const Word* state, Index o) {
    ++steps_;
    std::copy_n(state, state_words_, scratch_.data());
    return step(scratch_.data(), o);
  }

  bool step(Word* state, Index o) {
    if (!specification_.step(state, operations_[o].action)) return false;
    is_unseen_ = specification_.forget_unseen(state);
    return true;
  }

  /// Runs time on to the next return of an operation that is not ordered, and returns this event.
  Index advance(Word* config, Index event, std::vector<Index>* order) {
    for (; event < events_.size(); ++event) {
      const auto [time, o, is_return] = events_[event];
      Word& is_ordered = updates(config)[word(o)];
      Word& is_used = used(config)[word(o)];
      Word& is_open = open_bits(config)[word(o)];
      if (!is_return) {
        if (role_[o] == Role::write) is_open |= bit(o);
        if (holds_.is_eager[o] != 0 && is_possible(config, o)) {
          std::copy(scratch_.begin(), scratch_.end(), config);
          (role_[o] == Role::update ? is_ordered : is_used) |= bit(o);
          if (order != nullptr) order->push_back(o);
        }
        if (role_[o] != Role::read) continue;
        if (!is_possible(config, o)) {
          is_open |= bit(o);
        } else if (order != nullptr) {
          order->push_back(o);
        }
        continue;
      }
      switch (role_[o]) {
        case Role::update:
          if ((is_ordered & bit(o)) == 0) return event;
          is_ordered ^= bit(o);
          break;
        case Role::read:
          if ((is_open & bit(o)) != 0) return event;
          break;
        default:
          if ((is_used & bit(o)) == 0) return event;
          is_used ^= bit(o);
          break;
      }
    }
    return event;
  }

  /// Makes the move in a configuration that waits at this event. Requires: it is one of the configuration's moves.
  Index apply(Word* config, Index event, Index move, std::vector<Index>* order) {
    const Index o = move & operation_mask;
    if (move != o) {
      if (order != nullptr && (move & hides) != 0) order->push_back(move);
      return advance(config, event + 1, order);
    }
    seek(event);
    ++steps_;
    const bool is_done = step(config, o);
    assert(is_done);
    static_cast<void>(is_done);
    if (order != nullptr) order->push_back(o);
    if (operations_[o].action.effect == Action::Effect::overwrites) {
      for (std::size_t w = 0; w < mask_words_; ++w) open_bits(config)[w] &= ~pending_writes_[w];
    }
    (role_[o] == Role::update ? updates(config) : used(config))[word(o)] |= bit(o);
    if (role_[o] == Role::write) open_bits(config)[word(o)] &= ~bit(o);
    for (const Index r : pending_reads_) {
      Word& is_open = open_bits(config)[word(r)];
      if ((is_open & bit(r)) == 0 || !is_possible(config, r)) continue;
      is_open ^= bit(r);
      if (order != nullptr) order->push_back(r);
    }
    return advance(config, event, order);
  }

  /// Makes the pending_ members those of the moment just before this event.
  void seek(Index event) {
    while (now_ < event) {
      const Event& e = events_[now_++];
      e.is_return ? leave(e.operation) : enter(e.operation);
    }
    while (now_ > event) {
      const Event& e = events_[--now_];
      e.is_return ? enter(e.operation) : leave(e.operation);
    }
  }

  bool returns_before(Index a, Index b) const {
    return std::pair(operations_[a].returned, a) < std::pair(operations_[b].returned, b);
  }

  void enter(Index o) {
    std::vector<Index>& list = role_[o] == Role::read ? pending_reads_ : pending_;
    auto at = list.end();
    while (at != list.begin() && returns_before(o, *(at - 1))) --at;
    list.insert(at, o);
    if (role_[o] == Role::write) pending_writes_[word(o)] |= bit(o);
  }

  void leave(Index o) {
    std::vector<Index>& list = role_[o] == Role::read ? pending_reads_ : pending_;
    list.erase(std::find(list.begin(), list.end(), o));
    if (role_[o] == Role::write) pending_writes_[word(o)] &= ~bit(o);
  }

  /// Sets moves_: the operation that returns, then the others by their return.
  void find_moves(Index node) {
    const Index event = event_of(node);
    seek(event);
    const Index x = events_[event].operation;
    Word* const config = (*nodes_)[node] + header_words;
    moves_.clear();
    if (looks_ahead_ && event > ahead_.last_return()) {
      moves_.push_back(role_[x] == Role::optional ? x | skips : x);
      return;
    }
    const bool is_hideable = role_[x] == Role::write && (open_bits(config)[word(x)] & bit(x)) == 0;
    if (is_hideable) moves_.push_back(x | hides);
    if (role_[x] == Role::optional) moves_.push_back(x | skips);
    const std::size_t first = moves_.size();
    ++epoch_;
    for (const Index o : pending_) {
      const bool gives_back = operations_[o].action.hold == Hold::gives_back && !is_ordered_or_used(config, o);
      if (gives_back) releases_[holds_.process[o]] = epoch_;
    }
    for (const Index o : pending_) {
      // Which sorts of operations with this action have been met: 1 updates and writes that cannot hide, 2 writes that
      // can, 4 optional ones. Two of one sort are interchangeable, and an optional one with a required one that returns
      // no later. Writes that can hide are not those that cannot: the latter are free only after the next write.
      if (is_ordered_or_used(config, o)) continue;
      if (operations_[o].action.hold == Hold::takes && o != x && !has_reads_ &&
          holds_.process[o] != holds_.process[x] && releases_[holds_.process[o]] != epoch_) {
        continue;
      }
      Word& seen = seen_[class_[o]];
      if (seen >> 3 != epoch_) seen = epoch_ << 3;
      const bool is_free = role_[o] == Role::write && (open_bits(config)[word(o)] & bit(o)) == 0;
      const Word sort = role_[o] == Role::optional ? 4 : is_free ? 2 : 1;
      const bool is_redundant = (seen & (sort == 4 ? 7 : sort)) != 0;
      seen |= sort;
      if (is_redundant || !is_possible(config, o)) continue;
      const Action::Effect effect = operations_[o].action.effect;
      const bool may_wait =
          sort == 4 ? effect != Action::Effect::overwrites : o != x && effect == Action::Effect::extends;
      const bool is_idle = may_wait && std::equal(scratch_.begin(), scratch_.end(), config);
      if (is_idle || (sort == 4 && is_unseen_)) continue;
      moves_.push_back(o);
      if (o == x) std::rotate(moves_.begin() + static_cast<std::ptrdiff_t>(first), moves_.end() - 1, moves_.end());
    }
  }

  bool is_ordered_or_used(Word* config, Index o) const {
    return ((role_[o] == Role::update ? updates(config) : used(config))[word(o)] & bit(o)) != 0;
  }

  std::uint64_t hash_of(const Word* config, Index event) const {
    std::uint64_t hash = event;
    for (std::size_t w = 0; w < state_words_ + mask_words_; ++w) hash = sim::combine64(hash, config[w]);
    return hash;
  }

  Index next_of(Index node) const { return static_cast<Index>((*nodes_)[node][1] >> 32); }

  /// Does the first configuration cost nothing that the second does not?
  bool has_no_bit_beyond(const Word* first, const Word* second) const {
    for (std::size_t w = state_words_ + mask_words_; w < config_words_; ++w) {
      if ((first[w] & ~second[w]) != 0) return false;
    }
    return true;
  }

  /// Keeps config_ to be searched, unless it is dominated. Was it kept?
  bool add(Index event, Index parent, Index move) {
    const std::size_t key_words = state_words_ + mask_words_;
    std::size_t slot = hash_of(config_.data(), event) & (table_.size() - 1);
    for (; table_[slot] != no_node; slot = (slot + 1) & (table_.size() - 1)) {
      const Word* other = (*nodes_)[table_[slot]];
      if (static_cast<Index>(other[1]) == event &&
          std::equal(config_.begin(), config_.begin() + static_cast<std::ptrdiff_t>(key_words), other + header_words)) {
        break;
      }
    }
    // The bucket: all nodes with this event, state and updates, none of which dominates another.
    for (Index i = table_[slot]; i != no_node; i = next_of(i)) {
      if (has_no_bit_beyond((*nodes_)[i] + header_words, config_.data())) return false;
    }
    Index kept = no_node;
    for (Index i = table_[slot]; i != no_node;) {
      const Index next = next_of(i);
      if (!has_no_bit_beyond(config_.data(), (*nodes_)[i] + header_words)) {
        (*nodes_)[i][1] = event | Word{kept} << 32;
        kept = i;
      } else {
        (*nodes_)[i][2] |= is_dominated;
      }
      i = next;
    }
    const Index node = nodes_->size();
    Word* const words = nodes_->add();
    words[0] = parent | Word{move} << 32;
    words[1] = event | Word{kept} << 32;
    words[2] = no_node;
    std::copy(config_.begin(), config_.end(), words + header_words);
    const bool is_new = table_[slot] == no_node;
    table_[slot] = node;
    if (is_new && ++buckets_ * 2 > table_.size()) grow();
    if (node == 0 || event > event_of(deepest_)) deepest_ = node;
    if (first_[event] == no_node) {
      first_[event] = node;
    } else {
      Word& next = (*nodes_)[last_[event]][2];
      next = (next & is_dominated) | node;
    }
    last_[event] = node;
    level_ = std::max(level_, event);
    return true;
  }

  void grow() {
    std::vector<Index> old(table_.size() * 2, no_node);
    old.swap(table_);
    for (const Index node : old) {
      if (node == no_node) continue;
      const Word* words = (*nodes_)[node];
      std::size_t slot = hash_of(words + header_words, static_cast<Index>(words[1])) & (table_.size() - 1);
      while (table_[slot] != no_node) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = node;
    }
  }

  std::size_t bytes() const {
    return nodes_->bytes() + table_.capacity() * sizeof(Index) +
           (first_.capacity() + last_.capacity()) * sizeof(Index) + events_.capacity() * sizeof(Event) +
           operations_.size() * (2 * sizeof(Role) + 3 * sizeof(Index) + sizeof(SearchOperation)) +
           seen_.capacity() * sizeof(Word) + specification_.bytes();
  }

  bool is_over_limit() {
    if (nodes_->size() >= limits_.max_configurations || nodes_->size() == operation_mask) {
      bound_ = SearchBound::memory;
      return true;
    }
    if (nodes_->size() % 512 != 0) return false;
    if (bytes() > limits_.max_memory) bound_ = SearchBound::memory;
    if (limits_.is_out_of_time && nodes_->size() % 4096 == 0 && limits_.is_out_of_time()) bound_ = SearchBound::time;
    return bound_ != SearchBound::none;
  }

  /// The order that leads to a node and then makes one more move: the same moves once more, written down.
  std::vector<Index> order_of(Index node, Index last_move) {
    std::vector<Index> moves;
    if (last_move != no_node) moves.push_back(last_move);
    for (; node != no_node && (*nodes_)[node][0] >> 32 != no_node; node = static_cast<Index>((*nodes_)[node][0])) {
      moves.push_back(static_cast<Index>((*nodes_)[node][0] >> 32));
    }
    std::vector<Index> order;
    start(config_.data());
    Index event = advance(config_.data(), 0, &order);
    for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
      event = apply(config_.data(), event, *move, &order);
    }
    // A hidden write belongs just before the last write that was ordered before it was decided.
    std::vector<Index> reversed;
    std::vector<Index> hidden;
    for (auto o = order.rbegin(); o != order.rend(); ++o) {
      if ((*o & hides) != 0) {
        hidden.push_back(*o & operation_mask);
        continue;
      }
      reversed.push_back(*o);
      if (operations_[*o].action.effect != Action::Effect::overwrites) continue;
      reversed.insert(reversed.end(), hidden.begin(), hidden.end());
      hidden.clear();
    }
    assert(hidden.empty());
    std::reverse(reversed.begin(), reversed.end());
    return reversed;
  }

  SearchResult finish(Verdict verdict, Index node, Index last_move) {
    SearchResult result{.verdict = verdict, .bound = bound_, .configurations = nodes_->size(), .steps = steps_};
    if (verdict != Verdict::holds) result.culprit = events_[event_of(node)].operation;
    result.bytes = bytes();
    result.order = order_of(node, last_move);
    return result;
  }

  std::span<const SearchOperation> operations_;
  Specification& specification_;
  const SearchLimits& limits_;
  std::size_t state_words_;
  std::size_t mask_words_ = 0;
  std::size_t config_words_ = 0;

  std::vector<Role> role_;
  std::vector<Index> class_;  ///< equal for equal actions
  std::vector<Index> slot_;   ///< its bit, while it is pending
  Index slots_ = 0;
  bool has_reads_ = false;
  LockHolds holds_;
  std::vector<Word> releases_;  ///< by process: the epoch in which a release of its was last seen pending
  std::vector<Event> events_;

  bool looks_ahead_ = false;
  ReadsAhead ahead_;
  bool gave_up_ = false;  ///< was any configuration?

  Index now_ = 0;               ///< the event up to which the pending_ members have come
  std::vector<Index> pending_;  ///< all but reads, by return
  std::vector<Index> pending_reads_;
  std::vector<Word> pending_writes_;

  Arena* nodes_ = nullptr;
  std::vector<Index> table_;  ///< open addressing: the first node of each bucket
  std::size_t buckets_ = 0;
  Index deepest_ = 0;
  Index level_ = 0;           ///< no event after it has anything to search
  std::vector<Index> first_;  ///< by event: the nodes to search there, linked
  std::vector<Index> last_;
  std::vector<Index> moves_;
  std::vector<Word> seen_;  ///< by class: epoch, then what was seen of it
  Word epoch_ = 0;

  std::vector<Word> config_;
  std::vector<Word> scratch_;
  bool is_unseen_ = false;  ///< does the last step lead to the state that forget_unseen puts?
  std::uint64_t steps_ = 0;
  SearchBound bound_ = SearchBound::none;
};

}  // namespace

SearchResult search_linearization(std::span<const SearchOperation> operations, Specification& specification,
                                  const SearchLimits& limits) {
  Search search(operations, specification, limits);
  SearchResult all = search.run();
  if (all.verdict != Verdict::violated || !search.gave_up() || !limits.needs_culprit) return all;

  return first_violation(std::move(all), operations, specification, limits);
}

}  // namespace lockstep::checker
