// Which pairs of events of a trace could as well have happened the other way round.

#include <algorithm>

#include "checker/explorer.hpp"

namespace lockstep::checker {
namespace {

using sim::Duration;
using Mutant = ExplorerOptions::Mutant;

bool has_bit(const std::vector<std::uint64_t>& bits, std::uint32_t position) {
  const std::size_t word = position / 64;
  return word < bits.size() && (bits[word] >> (position % 64) & 1) != 0;
}

void set_bit(std::vector<std::uint64_t>& bits, std::uint32_t position) {
  if (position / 64 >= bits.size()) bits.resize(position / 64 + 1, 0);
  bits[position / 64] |= std::uint64_t{1} << (position % 64);
}

void join(std::vector<std::uint64_t>& bits, const std::vector<std::uint64_t>& others) {
  if (others.size() > bits.size()) bits.resize(others.size(), 0);
  for (std::size_t i = 0; i < others.size(); ++i) bits[i] |= others[i];
}

}  // namespace

bool Explorer::happens_before(std::uint32_t a, std::uint32_t b) const { return has_bit(nodes_[b].past, a); }

/// The races of an event with those before it: it depends on them, and nothing in between forces the order. Also fills its past.
void Explorer::find_races(std::uint32_t position) {
  if (!options_.reduction || (coda_from_ && position >= *coda_from_)) return;
  Node& node = nodes_[position];
  find_races(position, &Node::past, kNone);
  if (options_.mutant != Mutant::forget_cancelled) {
    for (const Cancelled& cancelled : cancelled_here_) {
      if (is_always_before(position, cancelled.cause, cancelled.least_delay)) continue;
      candidates_.assign(1, cancelled.timer);
      reverse(position);
    }
  }
  for (const std::uint32_t earlier : races_) add_reversal(earlier, position, &Node::past, kNone);
  if (options_.mutant == Mutant::hide_races_beyond) return;
  const bool is_beyond = ghost_from_ && position > *ghost_from_;
  if (!is_beyond) {
    node.past_by_causes = node.past;
    return;
  }
  // What comes after the first infeasible event is run in one order alone, and nothing is tried in its place. So no order there may keep a
  // race with what is feasible out of sight: only causes do.
  find_races(position, &Node::past_by_causes, *ghost_from_);
  for (const std::uint32_t earlier : races_) add_reversal(earlier, position, &Node::past_by_causes, *ghost_from_);
  if (options_.thorough) begin_with_past_of(position);
}

/// `past`: which one to fill; an event after `last` is in it only if it is a cause.
void Explorer::find_races(std::uint32_t position, std::vector<std::uint64_t> Node::* past, std::uint32_t last) {
  Node& node = nodes_[position];
  (node.*past).clear();
  for (const std::uint32_t before : {node.cause, node.fifo_before, node.alike_before}) {
    if (before != kNone) join(node.*past, nodes_[before].*past);
  }
  races_.clear();
  for (std::uint32_t f = node.process_before; f != kNone; f = nodes_[f].process_before) {
    const Node& before = nodes_[f];
    if (last != kNone && f > last) continue;
    if (!before.footprint.conflicts(node.footprint) || has_bit(node.*past, f)) continue;
    join(node.*past, before.*past);
    if (options_.mutant == Mutant::forget_races) continue;
    if (!is_always_before(f, node.cause, node.delay.lo)) races_.push_back(f);
  }
  set_bit(node.*past, position);
}

/// Tries, in place of the first infeasible event, each of those that can come there and happen before this one, or are it.
void Explorer::begin_with_past_of(std::uint32_t position) {
  const std::uint32_t first = *ghost_from_;
  const auto is_beyond = [&](std::uint32_t before) { return before != kNone && before >= first; };
  for (std::uint32_t i = first + 1; i <= position; ++i) {
    const Node& node = nodes_[i];
    // Ticks never end, and what comes of them here is tried where they are feasible.
    if (node.is_of_tick || !happens_before(i, position)) continue;
    if (is_beyond(node.cause) || is_beyond(node.fifo_before) || is_beyond(node.alike_before)) continue;
    candidates_.assign(1, {node.chosen, node.process});
    reverse(first);
  }
}

/// Whether `event` arrives, in every execution, before something that comes `least_delay` or more after `cause`: from the last thing
/// that both come from (the beginning, if nothing else) the one takes less with its longest delays than the other with its
/// shortest. What may be paused on the way has no longest; a pause where the two ways part puts both off.
bool Explorer::is_always_before(std::uint32_t event, std::uint32_t cause, Duration least_delay) const {
  constexpr Duration no_bound = Duration::seconds(1'000'000);
  Duration longest = nodes_[event].delay.hi;
  Duration least = least_delay;
  std::uint32_t from = nodes_[event].cause;
  // Causes have lower positions, and the beginning counts as lowest: the higher of the two is never what both come from.
  while (from != cause) {
    if (cause != kNone && (from == kNone || cause > from)) {
      least += nodes_[cause].delay.lo;
      cause = nodes_[cause].cause;
    } else {
      if (longest >= no_bound || may_pause(nodes_[from].process)) return false;
      longest += nodes_[from].delay.hi;
      from = nodes_[from].cause;
    }
  }
  return longest < least;
}

/// The part of the trace after `earlier` that does not depend on it, and then `later`, could have come first. One of the
/// events that can begin that part has to be tried in place of `earlier`, unless one already is. After `last` only what `later` comes from is of that part.
void Explorer::add_reversal(std::uint32_t earlier, std::uint32_t later, std::vector<std::uint64_t> Node::* past,
                            std::uint32_t last) {
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) { return has_bit(nodes_[b].*past, a); };
  part_.clear();
  for (std::uint32_t i = earlier + 1; i < later; ++i) {
    if (!is_before(earlier, i) && (last == kNone || i < last || is_before(i, later))) part_.push_back(i);
  }
  part_.push_back(later);
  candidates_.clear();
  for (std::size_t i = 0; i < part_.size(); ++i) {
    const bool is_initial = std::none_of(part_.begin(), part_.begin() + static_cast<std::ptrdiff_t>(i),
                                         [&](std::uint32_t other) { return is_before(other, part_[i]); });
    if (is_initial) candidates_.push_back({nodes_[part_[i]].chosen, nodes_[part_[i]].process});
  }
  reverse(earlier);
}

/// Any of the candidates has to be tried in place of the event at `position`.
void Explorer::reverse(std::uint32_t position) {
  Node& node = nodes_[position];
  const auto is_candidate = [&](const Scheduled& event) {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [&](const Scheduled& candidate) { return candidate.id == event.id; });
  };
  if (std::any_of(node.backtrack.begin(), node.backtrack.end(), is_candidate)) return;
  if (position >= own_from_) {
    node.backtrack.push_back(candidates_.front());
    return;
  }
  // Others choose, who know what other branches have found; so no choice may be taken for made here. But whatever they choose for a set
  // of candidates will do for every larger one.
  const auto is_smaller = [&](const std::vector<Scheduled>& known) {
    return std::all_of(known.begin(), known.end(), is_candidate);
  };
  if (std::any_of(node.reversals.begin(), node.reversals.end(), is_smaller)) return;
  node.reversals.push_back(candidates_);
}

}  // namespace lockstep::checker
