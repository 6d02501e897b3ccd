#include "checker/explorer/execution/placement.hpp"

#include <algorithm>
#include <optional>

namespace lockstep::checker::explorer {
namespace {

/// Whether an event comes after one before it whatever else is handled before: it has touched nothing so far but what
/// that one did, so what could change what it does now comes after that one, too. Of servers alone: what an answer does
/// with a client's state depends on which others have come.
bool fixes(const Step& before, const Step& step, const Footprint& known) {
  return step.is_answered && before.footprint.covers(known);
}

}  // namespace

using sim::Duration;
using sim::DurationRange;
using sim::Instant;

void Placement::place(Step& step, const sim::Event& event) {
  step.frees_late = step.is_held_back = step.is_promised = false;
  step.doom.reset();
  if (timing_.is_infeasible()) {
    // Time means nothing any more; but instants need a variable.
    step.at = step.arrived = step.process_free = Instant::origin();
    return;
  }
  // How long work takes, pauses say that have come before.
  const Timing::Certain certain(timing_, !event.is_work() || !rules_.faults.may_pause(event.process));
  const Step* earlier = trace_.find(step.fifo_before);
  const bool waits = is_behind(event, earlier);
  if (!step.footprint.is_everything()) {
    place_described(step, event, earlier, waits);
    return;
  }
  const Step* doomed = event.is_crash() ? doomed_before(step) : nullptr;
  if (doomed != nullptr) {
    place_in_pause(step, *doomed);
  } else if (const std::optional<std::size_t> late = faults_.ask_for_pause(event.process, is_at_work(event))) {
    event.is_work() ? place_late_work(step, event, *late) : place_late(step, event, *late, waits);
  } else {
    place_on_time(step, event, earlier, waits);
  }
  if (moment_.is_coda() && *moment_.coda_from() == trace_.position()) {
    for (std::uint32_t i = 0; i < trace_.position(); ++i) {
      timing_.at_most(trace_[i].at + moment_.coda_after(), step.arrived);
      // A visitor comes when servers go on again, as in a run: then it hears them before its patience ends, or never.
      const bool is_server = moment_.world().state(trace_[i].process).process->is_service();
      if (!moment_.is_without_ticks() && is_server) timing_.at_most(trace_[i].process_free, step.arrived);
    }
  }
  come_after_all(step, Footprint());
  come_after_alike(step);
  if (event.is_crash()) return;
  if (const std::optional<std::size_t> budget = faults_.ask_for_pause(event.process, false, 0, true))
    hold_back(step, *budget);
}

void Placement::keep_order(const Step& step, const sim::Event& event) {
  const OrderInTime& order = rules_.order;
  if (order.events == 0) return;
  const Timing::Certain certain(timing_, !event.is_work() || !rules_.faults.may_pause(event.process));
  const std::uint32_t position = trace_.position();
  if (position > 0) timing_.at_most(trace_[std::min(position, order.events) - 1].at, step.at);
  if (position + 1 != order.events) return;
  if (order.later_than)
    timing_.add(Constraint::at_most(Instant::at(order.later_than->value), step.at, order.later_than->attained));
  if (order.earlier_than)
    timing_.add(Constraint::at_most(step.at, Instant::at(order.earlier_than->value), order.earlier_than->attained));
}

/// Whether its process works when the event comes, or until then.
bool Placement::is_at_work(const sim::Event& event) const {
  if (event.is_work()) return true;
  if (event.is_crash() && rules_.mutant == SearchMutant::no_crash_at_work) return false;
  if (!event.is_crash() && rules_.mutant == SearchMutant::works_undisturbed) return false;
  return rules_.faults.may_pause(event.process) && moment_.is_working(event.process);
}

/// Of a server that is never paused: in what order it comes to those that it depends on, it will say itself.
void Placement::place_described(Step& step, const sim::Event& event, const Step* earlier, bool waits) {
  step.at = step.arrived = step.process_free = timing_.fresh();
  arrive_after(step.at, event, earlier, waits);
  come_after_alike(step);
  for (std::uint32_t f = step.process_before; f != kNone; f = trace_[f].process_before) {
    if (!trace_[f].footprint.is_everything()) continue;
    timing_.at_most(trace_[f].process_free, step.at);
    break;
  }
}

void Placement::place_on_time(Step& step, const sim::Event& event, const Step* earlier, bool waits) {
  const Step* before = trace_.find(step.process_before);
  const Instant free = free_for(step);
  if (event.is_work() && rules_.faults.may_pause(event.process)) {
    // Pauses have made it longer, so it cannot end in one.
    step.at = step.arrived = step.process_free = end_of_work(event);
    timing_.at_most(free, step.at);
    return;
  }
  step.at = step.arrived = timing_.fresh();
  const auto waited = [&] {
    // It arrived while its process was frozen, and is handled at the end of that.
    const Instant arrival = timing_.fresh();
    arrive_after(arrival, event, earlier, waits);
    timing_.at_most(before->frozen_from, arrival);
    timing_.at_most(before->arrived, arrival);
    timing_.at_most(arrival, free);
    timing_.between(free, step.at, DurationRange::exactly(Duration::zero()));
    step.arrived = arrival;
    return !timing_.is_infeasible();
  };
  const auto did_not_wait = [&] {
    step.arrived = step.at;
    arrive_after(step.at, event, earlier, waits);
    timing_.at_most(free, step.at);
    return !timing_.is_infeasible();
  };
  if (before != nullptr && before->frees_late) {
    step.frees_late = questions_.decide(waited, did_not_wait);
    step.frozen_from = before->frozen_from;
  } else {
    did_not_wait();
  }
  step.process_free = step.at;
}

/// One pause or several since the event before, within work, which takes that much longer.
void Placement::place_late_work(Step& step, const sim::Event& work, std::size_t budget) {
  step.arrived = end_of_work(work);
  timing_.at_most(free_for(step), step.arrived);
  const Instant end = timing_.fresh();
  timing_.between(step.arrived, end, rules_.faults.budgets()[budget].range);
  step.at = step.process_free = faults_.add_pauses(step, budget, ExploredFault::Place::within, step.arrived, end, true);
}

/// It is handled only at the end of a pause that began before, or of several. If its process works, they may also be
/// over when it arrives: the work takes that much longer all the same.
void Placement::place_late(Step& step, const sim::Event& event, std::size_t budget, bool waits) {
  const bool of_work = is_at_work(event);
  const Instant free = free_for(step);
  step.arrived = timing_.fresh();
  arrive_after(step.arrived, event, trace_.find(step.fifo_before), waits);
  Instant end = timing_.fresh();
  const Instant begin = timing_.fresh();
  timing_.at_most(free, begin);
  const Step* before = trace_.find(step.process_before);
  const auto came_meanwhile = [&] { return timing_.add(Constraint::at_most(begin, step.arrived)); };
  const auto came_in_last = [&] {
    timing_.add(Constraint::less_than(step.arrived, begin));
    timing_.at_most(begin, free);
    timing_.at_most(before->frozen_from, step.arrived);
    timing_.at_most(before->arrived, step.arrived);
    return !timing_.is_infeasible();
  };
  // What came in a pause may wait for the next one, too, if that begins just when the first ends.
  const bool may_wait_longer =
      before != nullptr && before->frees_late && !event.is_crash() && rules_.mutant != SearchMutant::pauses_part;
  const bool waits_longer = may_wait_longer && !questions_.decide(came_meanwhile, came_in_last);
  if (!may_wait_longer) came_meanwhile();
  timing_.between(begin, end, rules_.faults.budgets()[budget].range);
  end = faults_.add_pauses(step, budget, ExploredFault::Place::before, begin, end, of_work);
  if (of_work && !event.is_crash()) {
    const auto waited = [&] { return timing_.add(Constraint::at_most(step.arrived, end)); };
    const auto did_not_wait = [&] { return timing_.add(Constraint::less_than(end, step.arrived)); };
    if (!questions_.decide(waited, did_not_wait)) {
      step.at = step.process_free = step.arrived;
      return;
    }
  }
  timing_.at_most(step.arrived, end);
  if (event.is_crash()) {
    // It does not wait for the end. What has come meanwhile, and so before it, finds its process dead.
    step.is_promised = true;
    faults_.cut_last_pause(step.arrived);
    end = step.arrived;
    if (rules_.mutant != SearchMutant::crashes_come_first) step.arrived = begin;
  }
  step.at = step.process_free = end;
  step.frees_late = true;
  step.frozen_from = waits_longer ? before->frozen_from : begin;
}

/// When work would end without the pauses since the event before: it takes its own length, and that of all pauses
/// before. These are sums, so the constraints have their ranges alone, and `readings_` what holds exactly.
Instant Placement::end_of_work(const sim::Event& work) {
  Instant end = timing_.fresh();
  arrive_within(end, work);
  const std::span<const ExploredFault> faults = faults_.faults();
  const std::uint32_t since = Trace::cause_of(work);
  const auto is_meanwhile = [&](const ExploredFault& fault) {
    return freezes(fault.kind) && fault.process == work.process && fault.event < trace_.position() &&
           (since == kNone || fault.event > since);
  };
  for (std::size_t i = 0; i < faults.size() && !timing_.is_infeasible(); ++i) {
    if (!is_meanwhile(faults[i]) || faults[i].is_further) continue;
    std::size_t last = i;
    while (last + 1 < faults.size() && faults[last + 1].is_further) ++last;
    end = prolonged(end, faults.subspan(i, last + 1 - i));
  }
  return end;
}

/// `pauses`: at one place, each of which begins before the one before it is over.
Instant Placement::prolonged(Instant end, std::span<const ExploredFault> pauses) {
  const std::span<const FaultBudget> budgets = rules_.faults.budgets();
  DurationRange length = budgets[pauses.front().budget].range;
  for (const ExploredFault& further : pauses.subspan(1)) length.hi += budgets[further.budget].range.hi;
  const Instant later = timing_.fresh();
  timing_.between(end, later, length);
  if (length.is_exact()) return later;
  const std::uint32_t parameter = faults_.add_length(pauses.front(), length);
  readings_.set_apart(pauses.front().from, pauses.back().until, parameter);
  readings_.set_apart(end, later, parameter);
  return later;
}

/// The crash that was promised when the pause began that it strikes in. What has come to its process meanwhile finds it
/// dead.
void Placement::place_in_pause(Step& step, const Step& doomed) {
  step.at = step.process_free = timing_.fresh();
  // What was handled in between, was so when the pause was over.
  if (trace_.find(step.process_before) != &doomed && rules_.mutant != SearchMutant::late_dooms)
    timing_.at_most(free_for(step), step.at);
  timing_.between(*doomed.doom, step.at, DurationRange::exactly(Duration::zero()));
  step.arrived = doomed.arrived;
  step.frozen_from = doomed.frozen_from;
  step.frees_late = step.is_promised = true;
}

/// The event before it in whose pause its process is to crash; null: none, or that has happened.
const Step* Placement::doomed_before(const Step& step) const {
  for (std::uint32_t f = step.process_before; f != kNone; f = trace_[f].process_before) {
    if (trace_[f].doom) return &trace_[f];
    if (trace_[f].is_promised) return nullptr;
  }
  return nullptr;
}

/// A pause begins when it has been handled: what its process sends then leaves at the end, or never, if that dies
/// before.
void Placement::hold_back(Step& step, std::size_t budget) {
  step.is_held_back = true;
  const Instant end = timing_.fresh();
  timing_.between(step.at, end, rules_.faults.budgets()[budget].range);
  step.process_free = faults_.add_pauses(step, budget, ExploredFault::Place::after, step.at, end);
  if (!step.frees_late) step.frozen_from = step.at;
  step.frees_late = true;
  // A crash that was promised before and did not come next cannot come any more: no second one hides that.
  if (doomed_before(step) != nullptr) return;
  step.doom = faults_.ask_for_doom(step);
}

// --- What has to come before it.

void Placement::come_after_all(const Step& step, const Footprint& known) {
  for (std::uint32_t f = step.process_before; f != kNone; f = trace_[f].process_before) {
    const Step& before = trace_[f];
    if (before.footprint.is_everything()) return;
    const Timing::Certain certain(timing_, fixes(before, step, known));
    timing_.at_most(before.at, step.at);
  }
}

void Placement::come_after_those_at(std::uint64_t part, bool changes, const Step& step, const Footprint& known) {
  for (std::uint32_t f = step.process_before; f != kNone; f = trace_[f].process_before) {
    const Step& before = trace_[f];
    if (before.footprint.is_everything()) return;
    const bool changed = before.footprint.changes(part);
    if (changed || (changes && before.footprint.reads(part) && rules_.mutant != SearchMutant::forget_readers)) {
      const Timing::Certain certain(timing_, fixes(before, step, known));
      timing_.at_most(before.at, step.at);
    }
    if (changed) return;
  }
}

void Placement::come_after_alike(const Step& step) {
  const Step* first = trace_.find(step.alike_before);
  if (first == nullptr) return;
  const bool is_strict = rules_.mutant == SearchMutant::strictly_alike;
  timing_.at_most(first->at + Duration::nanoseconds(is_strict ? 1 : 0), step.at);
}

void Placement::come_before_pending(const Step& step) {
  for (const std::uint32_t slot : moment_.pending()) {
    if (timing_.is_infeasible()) return;
    const sim::Event& event = moment_.event(slot);
    std::optional<Instant> end;
    if (event.process == step.process) {
      end = arrivals_.latest(event);
    } else if (is_request(event) && event.from == step.process) {
      end = arrivals_.latest_answer(event);
    }
    if (!end) continue;
    timing_.at_most(step.arrived, *end);
    if (timing_.is_infeasible()) conflicts_.note_overdue(slot);
  }
}

void Placement::come_after_last(const sim::Event& event) {
  if (timing_.is_infeasible() || event.process == trace_.present().process) return;
  const std::optional<Instant> end = arrivals_.latest(event);
  if (!end) return;
  for (std::uint32_t f = moment_.last_at(event.process); f != kNone; f = trace_[f].process_before) {
    if (!trace_[f].footprint.is_everything()) continue;
    timing_.at_most(trace_[f].arrived, *end);
    return;
  }
}

void Placement::come_before_end(const sim::Event& timer) {
  const PossibleFaults& faults = rules_.faults;
  // Work that a pause prolongs comes at the end of that, and what is due meanwhile before it.
  const Step& step = trace_.present();
  const bool is_work = step.is(sim::EventKind::timer) && step.event.timer_kind == sim::TimerKind::work;
  const Instant moment = is_work && rules_.mutant != SearchMutant::works_undisturbed ? step.at : step.arrived;
  if (!timer.is_work() || !faults.may_pause(timer.process)) {
    timing_.at_most(moment, timer.base + timer.delay.hi);
  } else if (!timing_.is_infeasible()) {
    timing_.at_most(moment, end_of_work(timer));
  }
}

// --- When it arrives.

/// Whether a message finds one before it on its channel that was delayed so long that it has to wait for that.
/// `earlier`: that one, or null.
bool Placement::is_behind(const sim::Event& event, const Step* earlier) {
  if (earlier == nullptr || !rules_.faults.may_delay() || event.kind != sim::EventKind::message) return false;
  const Instant latest = event.base + (moment_.is_coda() ? event.delay.lo : event.delay.hi);
  return !questions_.decide([&] { return timing_.add(Constraint::at_most(earlier->arrived, latest)); },
                            [&] { return timing_.add(Constraint::less_than(latest, earlier->arrived)); });
}

/// After `earlier`, what came before it on its channel, or together with that, if it waits behind it.
void Placement::arrive_after(Instant arrival, const sim::Event& event, const Step* earlier, bool waits) {
  if (waits) {
    timing_.between(earlier->arrived, arrival, DurationRange::exactly(Duration::zero()));
    return;
  }
  arrive_within(arrival, event);
  if (earlier != nullptr) timing_.at_most(earlier->arrived, arrival);
}

void Placement::arrive_within(Instant arrival, const sim::Event& event) {
  const bool is_quick = moment_.is_coda() && event.kind == sim::EventKind::message;
  timing_.between(event.base, arrival, is_quick ? DurationRange::exactly(event.delay.lo) : event.delay);
}

}  // namespace lockstep::checker::explorer
