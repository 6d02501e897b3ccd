// Which pairs of events of a trace could as well have happened the other way round.

#include <algorithm>

#include "checker/explorer/explorer.hpp"
#include "checker/explorer/positions.hpp"

namespace lockstep::checker {
namespace {

using sim::Duration;
using Mutant = ExplorerOptions::Mutant;

}  // namespace

/// What an event follows wherever it comes.
std::array<std::uint32_t, 3> Explorer::causes_of(const Node& node) {
  return {node.cause, node.fifo_before, node.alike_before};
}

bool Explorer::is_caused_by(std::uint32_t event, std::uint32_t earlier) const {
  const std::array<std::uint32_t, 3> causes = causes_of(nodes_[event]);
  return std::any_of(causes.begin(), causes.end(),
                     [&](std::uint32_t cause) { return cause != kNone && has_bit(nodes_[cause].past, earlier); });
}

/// What happens before the event and itself; after `last`, if there is one, only causes order events.
const Positions& Explorer::past_of(std::uint32_t position, std::uint32_t last) const {
  return position > last && last != kNone ? nodes_[position].past_by_causes : nodes_[position].past;
}

bool Explorer::is_raced(std::uint32_t position) const {
  return options_.reduction && !(coda_from_ && position >= *coda_from_);
}

/// What happens before an event whose races are known.
void Explorer::fill_past(std::uint32_t position) {
  if (is_raced(position)) find_races(position, kNone);
}

/// The races of an event with those before it: it depends on them, and nothing in between forces the order. Also fills its past.
void Explorer::find_races(std::uint32_t position) {
  if (!is_raced(position)) return;
  find_races(position, kNone);
  if (options_.mutant != Mutant::forget_cancelled) {
    for (const Cancelled& cancelled : cancelled_here_) {
      if (is_always_before(position, cancelled.cause, cancelled.least_delay)) continue;
      reversal_ = {{cancelled.timer}, {}};
      reverse(position);
    }
  }
  for (const std::uint32_t earlier : races_) add_reversal(earlier, position, kNone);
  find_denied(position);
  if (!ghost_from_ || position <= *ghost_from_) return;
  // What comes after the first infeasible event is run in one order alone. So no order there may keep a race with what is feasible out
  // of sight: only causes do.
  find_races(position, *ghost_from_);
  for (const std::uint32_t earlier : races_) add_reversal(earlier, position, *ghost_from_);
  begin_with_past_of(position);
}

/// The event sleeps with its answers, but others that it was not given need not.
void Explorer::note_redundant(std::uint32_t position) {
  nodes_[position].may_live = true;
  if (denied_by_.empty()) return;
  find_races(position, kNone);
  find_denied(position);
}

/// Answers that the event was not given.
void Explorer::find_denied(std::uint32_t position) {
  const Node& node = nodes_[position];
  for (const std::uint32_t other : denied_by_) {
    if (!has_bit(node.past, other)) try_in_place_of(other, node.past, {node.chosen, node.process});
  }
}

/// With the order of `past_of`, which it fills for this event.
void Explorer::find_races(std::uint32_t position, std::uint32_t last) {
  Node& node = nodes_[position];
  Positions& past = last == kNone ? node.past : node.past_by_causes;
  past.clear();
  for (const std::uint32_t before : causes_of(node)) {
    if (before != kNone) join(past, past_of(before, last));
  }
  races_.clear();
  for (std::uint32_t f = node.process_before; f != kNone; f = nodes_[f].process_before) {
    const Node& before = nodes_[f];
    if (last != kNone && f > last) continue;
    if (!before.footprint.conflicts(node.footprint) || has_bit(past, f)) continue;
    join(past, past_of(f, last));
    if (options_.mutant == Mutant::forget_races) continue;
    if (!is_always_before(f, node.cause, node.delay.lo)) races_.push_back(f);
  }
  set_bit(past, position);
}

/// Tries, in place of the first infeasible event, each of those that can come there and happen before this one, or are it.
void Explorer::begin_with_past_of(std::uint32_t position) {
  const std::uint32_t first = *ghost_from_;
  const auto is_beyond = [&](std::uint32_t before) { return before != kNone && before >= first; };
  for (std::uint32_t i = first + 1; i <= position; ++i) {
    const Node& node = nodes_[i];
    // Ticks never end, and what comes of them here is tried where they are feasible.
    if (node.is_of_tick || !has_bit(nodes_[position].past, i)) continue;
    const std::array<std::uint32_t, 3> causes = causes_of(node);
    if (std::any_of(causes.begin(), causes.end(), is_beyond)) continue;
    reversal_ = {{{node.chosen, node.process}}, {}};
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

/// Whether `later` only is what it is, the last answer to a question, because `earlier`, another answer to it, has come before. Then it depends on no other
/// answer, if `earlier` comes after it.
bool Explorer::is_last_by_chance(std::uint32_t earlier, std::uint32_t later) const {
  const Node& before = nodes_[earlier];
  const Node& node = nodes_[later];
  if (before.question == 0 || before.process != node.process || before.footprint.is_everything()) return false;
  return before.question == node.question || options_.mutant == Mutant::miscount;
}

/// The part of the trace after `earlier` that does not depend on it, and then `later`, could have come first. One of the
/// events that can begin that part has to be tried in place of `earlier`, unless one already is. After `last` only what `later` comes from is of that part.
void Explorer::add_reversal(std::uint32_t earlier, std::uint32_t later, std::uint32_t last) {
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) { return has_bit(past_of(b, last), a); };
  const bool is_by_chance = !options_.thorough && is_last_by_chance(earlier, later);
  const auto comes_before = [&](std::uint32_t a, std::uint32_t b) {
    return b == later && is_by_chance ? is_caused_by(b, a) : is_before(a, b);
  };
  part_.clear();
  for (std::uint32_t i = earlier + 1; i < later; ++i) {
    if (!is_before(earlier, i) && (last == kNone || i < last || is_before(i, later))) part_.push_back(i);
  }
  part_.push_back(later);
  reversal_.candidates.clear();
  reversal_.then.clear();
  for (std::size_t i = 0; i < part_.size(); ++i) {
    const bool is_initial = std::none_of(part_.begin(), part_.begin() + static_cast<std::ptrdiff_t>(i),
                                         [&](std::uint32_t other) { return comes_before(other, part_[i]); });
    if (is_initial) reversal_.candidates.push_back({nodes_[part_[i]].chosen, nodes_[part_[i]].process});
  }
  if (needs_no_reversal(earlier)) return;
  if (!options_.thorough) {
    if (is_too_late(earlier, later)) return;
    follow_to(later);
  }
  reverse(earlier);
}

/// What is tried is what `later` comes from in the part of the trace that could have come first, and then `later`: the rest of that part would only keep other orders away.
void Explorer::follow_to(std::uint32_t later) {
  const auto end =
      std::remove_if(part_.begin(), part_.end(), [&](std::uint32_t i) { return !has_bit(nodes_[later].past, i); });
  const auto first = std::find_if(reversal_.candidates.begin(), reversal_.candidates.end(),
                                  [&](const Scheduled& event) { return event.id == nodes_[part_.front()].chosen; });
  std::iter_swap(reversal_.candidates.begin(), first);
  for (auto i = part_.begin() + 1; i != end; ++i) reversal_.then.push_back(nodes_[*i].chosen);
}

/// Whether one of the candidates is tried, or has been.
bool Explorer::needs_no_reversal(std::uint32_t position) const {
  const Node& node = nodes_[position];
  if (have_common(node.backtrack, reversal_.candidates)) return true;
  if (options_.mutant == Mutant::doze && have_common(node.sleep, reversal_.candidates)) return true;
  return !options_.thorough && (is_one_asleep(node.sleep, reversal_.candidates) || comes_next(position));
}

/// Any of the candidates has to be tried in place of the event at `position`.
void Explorer::reverse(std::uint32_t position) {
  Node& node = nodes_[position];
  if (needs_no_reversal(position)) return;
  if (position >= own_from_) {
    node.backtrack.push_back({reversal_.candidates.front(), reversal_.then});
    return;
  }
  // Others choose, who know what other branches have found; so no choice may be taken for made here. But whatever they choose for a set
  // of candidates will do for every larger one.
  const auto is_smaller = [&](const Reversal& known) {
    return std::all_of(known.candidates.begin(), known.candidates.end(),
                       [&](const Scheduled& event) { return have_common(std::span(&event, 1), reversal_.candidates); });
  };
  if (std::any_of(node.reversals.begin(), node.reversals.end(), is_smaller)) return;
  node.reversals.push_back(reversal_);
}

}  // namespace lockstep::checker
