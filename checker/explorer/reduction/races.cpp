#include "checker/explorer/reduction/races.hpp"

#include <algorithm>
#include <array>

#include "sim/invariant.hpp"

namespace lockstep::checker::explorer {

using sim::Duration;

namespace {

/// Of what comes later in a trace costly invariants are not asked: each looks at all that came before.
constexpr std::uint32_t kAskedUpTo = 1'000;

}  // namespace

void Races::note_cancelled(const sim::Event& timer) {
  cancelled_here_.push_back({{timer.id, timer.process},
                             Trace::cause_of(timer),
                             timer.is_anchored ? Duration::zero() : timer.base.offset() + timer.delay.lo});
}

void Races::reverse_all(std::uint32_t position) {
  if (!is_raced(position)) return;
  find(position, kNone);
  reverse_cancelled(position);
  for (const std::uint32_t earlier : races_) reverse(earlier, position, kNone);
  conflicts_.try_denied(position);
  if (!timing_.is_infeasible() || position <= *timing_.infeasible_from()) return;
  // What comes after the first infeasible event is run in one order alone. So no order there may keep a race with what
  // is feasible out of sight: only causes do.
  const std::uint32_t first = *timing_.infeasible_from();
  find(position, first);
  for (const std::uint32_t earlier : races_) reverse(earlier, position, first);
  begin_with_past_of(position);
}

void Races::reverse_cancelled(std::uint32_t position) {
  if (rules_.mutant == SearchMutant::forget_cancelled) return;
  for (const Cancelled& cancelled : cancelled_here_) {
    if (trace_.is_always_before(position, cancelled.cause, cancelled.least_delay)) continue;
    tree_.reverse(position, {{cancelled.timer}, {}});
  }
}

void Races::note_redundant(std::uint32_t position) {
  tree_[position].may_live = true;
  if (!conflicts_.has_denied()) return;
  find(position, kNone);
  conflicts_.try_denied(position);
}

/// With the order of `Trace::past_of`, which it fills for this event.
void Races::find(std::uint32_t position, std::uint32_t last) {
  Step& step = trace_[position];
  Positions& past = last == kNone ? step.past : step.past_by_causes;
  past.clear();
  for (const std::uint32_t before : Trace::causes_of(step)) {
    if (before != kNone) join(past, trace_.past_of(before, last));
  }
  races_.clear();
  for (std::uint32_t f = step.process_before; f != kNone; f = trace_[f].process_before) {
    const Step& before = trace_[f];
    if (last != kNone && f > last) continue;
    if (!before.footprint.conflicts(step.footprint) || has_bit(past, f)) continue;
    join(past, trace_.past_of(f, last));
    if (rules_.mutant == SearchMutant::forget_races) continue;
    if (!trace_.is_always_before(f, step.cause, step.delay.lo)) races_.push_back(f);
  }
  set_bit(past, position);
  if (last == kNone)
    sim::costly_invariant([&] { return position > kAskedUpTo || trace_.is_past_closed(position); },
                          "what happens before an event is all that happens before one of those");
}

/// Tries, in place of the first infeasible event, each of those that can come there and happen before this one, or are
/// it.
void Races::begin_with_past_of(std::uint32_t position) {
  const std::uint32_t first = *timing_.infeasible_from();
  const auto is_beyond = [&](std::uint32_t before) { return before != kNone && before >= first; };
  for (std::uint32_t i = first + 1; i <= position; ++i) {
    const Step& step = trace_[i];
    // Ticks never end, and what comes of them here is tried where they are feasible.
    if (step.is_of_tick || !has_bit(trace_[position].past, i)) continue;
    const std::array<std::uint32_t, 3> causes = Trace::causes_of(step);
    if (std::any_of(causes.begin(), causes.end(), is_beyond)) continue;
    tree_.reverse(first, {{{step.chosen, step.process}}, {}});
  }
}

/// Whether `later` only is what it is, the last answer to a question, because `earlier`, another answer to it, has come
/// before. Then it depends on no other answer, if `earlier` comes after it.
bool Races::is_last_by_chance(std::uint32_t earlier, std::uint32_t later) const {
  const Step& before = trace_[earlier];
  const Step& step = trace_[later];
  if (before.question == 0 || before.process != step.process || before.footprint.is_everything()) return false;
  return before.question == step.question || rules_.mutant == SearchMutant::miscount;
}

/// The part of the trace after `earlier` that does not depend on it, and then `later`, could have come first. One of
/// the events that can begin that part has to be tried in place of `earlier`, unless one already is. After `last` only
/// what `later` comes from is of that part.
void Races::reverse(std::uint32_t earlier, std::uint32_t later, std::uint32_t last) {
  sim::invariant(earlier < later, "a race is of an event and one before it");
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) { return has_bit(trace_.past_of(b, last), a); };
  const bool is_by_chance = !rules_.options.thorough && is_last_by_chance(earlier, later);
  const auto comes_before = [&](std::uint32_t a, std::uint32_t b) {
    return b == later && is_by_chance ? trace_.is_caused_by(b, a) : is_before(a, b);
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
    if (is_initial) reversal_.candidates.push_back({trace_[part_[i]].chosen, trace_[part_[i]].process});
  }
  if (tree_.needs_no_reversal(earlier, reversal_)) return;
  if (!rules_.options.thorough) {
    if (conflicts_.is_too_late(earlier, later, part_)) return;
    follow_to(later);
  }
  tree_.reverse(earlier, reversal_);
}

/// What is tried is what `later` comes from in the part of the trace that could have come first, and then `later`: the
/// rest of that part would only keep other orders away.
void Races::follow_to(std::uint32_t later) {
  const auto end =
      std::remove_if(part_.begin(), part_.end(), [&](std::uint32_t i) { return !has_bit(trace_[later].past, i); });
  const auto first = std::find_if(reversal_.candidates.begin(), reversal_.candidates.end(),
                                  [&](const Scheduled& event) { return event.id == trace_[part_.front()].chosen; });
  sim::invariant(first != reversal_.candidates.end(), "what comes first of what an event comes from can begin");
  std::iter_swap(reversal_.candidates.begin(), first);
  for (auto i = part_.begin() + 1; i != end; ++i) reversal_.then.push_back(trace_[*i].chosen);
}

}  // namespace lockstep::checker::explorer
