#include "checker/explorer/search/picker.hpp"

#include <algorithm>

#include "sim/invariant.hpp"
#include "sim/time/time.hpp"

namespace lockstep::checker::explorer {

using sim::Duration;
using sim::Instant;

std::optional<std::uint32_t> Picker::next(const Place& place) {
  std::optional<std::uint32_t> slot = followed(place);
  if (!slot) slot = earliest(place);
  sim::costly_invariant([&] { return !slot || arrivals_.is_enabled(*slot); }, "who is picked can come");
  return slot;
}

/// The rest of a reversal, whatever time says of it: else the search would go on as time does, away from what the
/// reversal was to try, and often to where all that is left sleeps. What cannot come any more is passed over.
std::optional<std::uint32_t> Picker::followed(const Place& place) {
  while (const std::optional<sim::EventId> next = tree_.next_to_follow()) {
    const std::optional<std::uint32_t> slot = moment_.find(*next);
    if (slot && arrivals_.is_enabled(*slot) && !is_asleep(place.sleep, *next)) return slot;
  }
  return std::nullopt;
}

/// The event that can be earliest: so that a trace goes on as time does, and orders that no delays allow are met late.
std::optional<std::uint32_t> Picker::earliest(const Place& place) const {
  std::optional<std::uint32_t> best;
  Duration best_time;
  for (const std::uint32_t slot : moment_.pending()) {
    const sim::Event& event = moment_.event(slot);
    // The coda is no part of the story; the ticks of the story have come to their end.
    if (moment_.is_without_ticks() && event.is_tick()) continue;
    if ((!place.sleep.empty() && is_asleep(place.sleep, event.id)) || !arrivals_.is_enabled(slot)) continue;
    const Duration time = arrivals_.due(event);
    // An answer that the earliest visitor hears when it would give up on it, all later ones hear before.
    const bool is_answer_in_time = best && time == best_time && moment_.is_coda() &&
                                   event.kind == sim::EventKind::message &&
                                   moment_.event(*best).kind == sim::EventKind::timer;
    if (best && time >= best_time && !is_answer_in_time) continue;
    best = slot;
    best_time = time;
  }
  return best;
}

bool Picker::is_quiet() const {
  if (moment_.world().is_busy()) return false;
  if (moment_.is_coda() || rules_.mutant == SearchMutant::no_late_ticks) return true;
  const bool somebody_waits = moment_.world().has_foreground();
  return std::none_of(moment_.pending().begin(), moment_.pending().end(), [&](std::uint32_t slot) {
    const sim::Event& tick = moment_.event(slot);
    return can_come_first(tick) || (somebody_waits && !follows_rest(tick));
  });
}

/// Whether the tick before it came when nothing but ticks, and what they cause, went on any more.
bool Picker::follows_rest(const sim::Event& tick) const {
  if (timing_.is_infeasible()) return true;
  std::uint32_t last = trace_.length();
  while (last > 0 && trace_[last - 1].is_of_tick) --last;
  const std::uint32_t cause = Trace::cause_of(tick);
  return cause != kNone && cause >= last;
}

/// Whether what is pending may be due before something that has happened. Where time means nothing any more, each
/// process's next tick is let through once, since it may hold the race that is looked for.
bool Picker::can_come_first(const sim::Event& event) const {
  if (const std::optional<std::uint32_t> first = timing_.infeasible_from()) {
    std::uint32_t cause = Trace::cause_of(event);
    while (cause != kNone && !(cause >= *first && trace_[cause].is_of_tick)) cause = trace_[cause].cause;
    return cause == kNone;
  }
  for (std::uint32_t i = 0; i < trace_.length(); ++i) {
    // A fault may come as late as it likes, and changes nothing for others.
    const Step& step = trace_[i];
    if (step.is_of_tick || step.is(sim::EventKind::fault)) continue;
    if (timing_.constraints().can_be_at_most(event.base + event.delay.lo, step.at, true)) return true;
  }
  return false;
}

bool Picker::comes_after_all_sleepers(const Place& place, const sim::Event& tick) const {
  if (place.sleep.empty() || !tick.is_tick()) return false;
  sleepers_.clear();
  awake_.assign(1, &tick);
  for (const std::uint32_t slot : moment_.pending()) {
    const sim::Event& event = moment_.event(slot);
    const bool waits_for_sleeper = !arrivals_.is_enabled(slot);
    if (event.is_tick() || waits_for_sleeper) continue;
    if (!is_asleep(place.sleep, event.id)) {
      awake_.push_back(&event);
      continue;
    }
    // A fault may come as late as it likes, and time means nothing here any more: neither ever comes to its end.
    if (event.kind == sim::EventKind::fault || timing_.is_infeasible()) continue;
    if (event.is_anchored || event.delay.hi >= Duration::forever()) return false;
    const bool is_message = event.kind == sim::EventKind::message;
    const Duration late = is_message ? rules_.faults.longest_delay() : Duration::zero();
    sleepers_.push_back(event.base + event.delay.hi + rules_.faults.longest_pause(event.process) + late);
  }
  // What else is on its way, as the end of a lease that every tick puts off, must come later still.
  if (awake_.size() > 1 && (sleepers_.empty() || timing_.is_infeasible())) return false;
  return std::none_of(awake_.begin(), awake_.end(), [&](const sim::Event* event) {
    const Instant earliest = event->base + event->delay.lo;
    return std::any_of(sleepers_.begin(), sleepers_.end(),
                       [&](Instant latest) { return timing_.constraints().can_be_at_most(earliest, latest); }) ||
           can_come_first(*event);
  });
}

}  // namespace lockstep::checker::explorer
