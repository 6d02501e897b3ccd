#include "checker/explorer/execution/execution.hpp"

#include <optional>
#include <string_view>

#include "checker/explorer/execution/clock_kinds.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker::explorer {

using sim::Duration;
using sim::Instant;

void Execution::decide_beforehand(sim::Region* region) {
  trace_.begin(kNone, false);
  questions_.begin();
  const bool is_new = trace_.built() == 0;
  if (is_new) readings_.clear();
  faults_.decide(region, is_new);
}

void Execution::undo_last() {
  const StepMark& before = trace_.take_down().before;
  timing_.undo(before);
  faults_.undo(before);
  readings_.undo(before);
}

void Execution::clear() {
  sim::invariant(trace_.built() == 0, "an event that stands has added something");
  timing_.clear();
  faults_.clear();
  readings_.clear();
}

void Execution::execute(std::uint32_t position, bool is_replay, sim::Region* region) {
  const std::uint32_t slot = moment_.slot_of(trace_[position].chosen);
  sim::costly_invariant([&] { return moment_.first_on_channel(slot) == slot; }, "on a channel first in is first out");
  sim::costly_invariant([&] { return !alike_.keeps_waiting(moment_.event(slot)); },
                        "those who are alike come in order");
  trace_.begin(position, is_replay);
  questions_.begin();
  readings_.begin();
  faults_.begin();
  conflicts_.begin();
  races_.begin();
  has_answered_ = false;
  Step& step = trace_.present();
  const sim::Event& event = moment_.event(slot);
  if (is_replay) {
    questions_.skip_own();
  } else {
    begin(step, event);
    placement_.place(step, event);
    placement_.keep_order(step, event);
    questions_.note_own();
    if (event.kind == sim::EventKind::fault || event.kind == sim::EventKind::start) faults_.note_fault(step, event);
  }

  sim::World& world = moment_.world();
  sim::ProcessState& process = world.state(event.process);
  is_held_back_ = step.is_held_back;
  if (is_held_back_) {
    process.was_paused = true;
    process.frozen_until = held_back_until_ = step.process_free;
  }
  if (event.kind == sim::EventKind::fault) {
    if (const std::optional<std::uint32_t> parameter = faults_.parameter_of(*event.fault))
      process.wall.set_scale(scale_of_parameter(*parameter));
  }
  moment_.execute(slot, position);
  if (!is_replay && step.footprint.is_everything()) placement_.come_before_pending(step);
  is_silent_ = !is_replay && event.kind == sim::EventKind::message && step.event.is_reply;
  {
    const sim::Region::Inside inside(region);
    world.execute(slot, step.at);
  }
  break_silence();
  questions_.end();
  sim::costly_invariant([&] { return faults_.are_within_budgets(); }, "no budget is overspent");
  sim::invariant(is_replay || !step.is_answered || has_answered_ || step.doom || rules_.faults.may_lose(),
                 "no answer is kept back that has been promised");
  process.was_paused = false;
  is_held_back_ = false;
}

/// What is known of an event before it is executed.
void Execution::begin(Step& step, const sim::Event& event) {
  timing_.note(step.before);
  faults_.note(step.before);
  readings_.note(step.before);
  step.sums.clear();
  step.partitions.clear();
  step.question = 0;
  step.footprint = Footprint();
  step.process = event.process;
  step.channel = event.channel;
  step.cause = Trace::cause_of(event);
  step.process_before = moment_.last_at(event.process);
  step.fifo_before = moment_.last_on(event.channel);
  step.alike_before = alike_.position_before(event, trace_.position());
  const auto is_earlier = [&](std::uint32_t other) { return other == kNone || other < trace_.position(); };
  sim::invariant(is_earlier(step.cause) && is_earlier(step.process_before) && is_earlier(step.fifo_before) &&
                     is_earlier(step.alike_before),
                 "an event comes after its cause, and after those before it at its process and on its channel");
  step.delay = arrivals_.delay_of(event);
  step.is_of_tick = event.is_tick() || (step.cause != kNone && trace_[step.cause].is_of_tick);
  if (step.is_of_tick) step.due = arrivals_.due(event);
  step.event.kind = event.kind;
  step.event.timer_kind = event.timer_kind;
  step.event.is_reply = event.bounced || (event.message && event.message->is_reply);
  step.event.bounced = event.bounced;
  step.event.from = event.from;
  step.event.name = event.message ? event.message->name() : std::string_view();
  step.event.base = event.base;
  step.event.delay = event.delay;
  step.is_alone = arrivals_.is_alone(event);
  step.is_answered = arrivals_.is_answered_at_once(event);
  step.latest = arrivals_.latest(event);
  const sim::ProcessState& process = moment_.world().state(event.process);
  // A reply may say what it does, if it begins with that: see `break_silence`.
  const bool may_say = event.kind == sim::EventKind::message && (step.event.is_reply || process.describes_accesses);
  // What a dead server answers depends on its being dead; and a pause puts all of its requests into one line.
  const bool may_be_paused = rules_.faults.may_pause_anywhere(event.process) ||
                             (rules_.faults.may_pause(event.process) && moment_.is_working(event.process));
  if (!may_say || !process.alive || may_be_paused) step.footprint.add_everything();
}

// --- What it reads and changes.

void Execution::accessed(std::uint64_t part, bool changes) {
  const sim::Region::Outside outside;
  if (!is_new()) return;
  is_silent_ = false;
  Step& step = trace_.present();
  if (step.footprint.is_everything()) return;
  if (step.footprint.changes(part) || (!changes && step.footprint.reads(part))) return;
  const Footprint known = step.footprint;
  step.footprint.add(part, changes);
  if (step.footprint.is_everything()) {
    placement_.come_after_all(step, known);
  } else {
    placement_.come_after_those_at(part, changes, step, known);
  }
}

void Execution::accessed_all() {
  const sim::Region::Outside outside;
  if (!is_new()) return;
  is_silent_ = false;
  Step& step = trace_.present();
  if (step.footprint.is_everything()) return;
  const Footprint known = step.footprint;
  step.footprint.add_everything();
  placement_.come_after_all(step, known);
  placement_.come_before_pending(step);
}

void Execution::counted(std::uint64_t question) {
  if (is_new()) trace_.present().question = question;
}

// --- What the world asks.

bool Execution::is_at_or_after(Instant a, Instant b) {
  const sim::Region::Outside outside;
  // A process that holds its messages back asks whether it is done with that: the end of the pause has not come yet.
  if (is_held_back_ && b.identical(held_back_until_)) return false;
  break_silence();
  return readings_.is_at_or_after(faults_.departure_of(a), faults_.departure_of(b));
}

void Execution::approximated(const std::optional<sim::WholeUnits>& shown_by) {
  const sim::Region::Outside outside;
  std::optional<sim::WholeUnits> whole = shown_by;
  if (whole) {
    whole->from = faults_.departure_of(whole->from);
    whole->until = faults_.departure_of(whole->until);
  }
  readings_.note_approximation(whole);
}

Instant Execution::sum(Instant a, Instant plus, Instant minus) {
  const sim::Region::Outside outside;
  break_silence();
  return readings_.sum(a, plus, minus);
}

sim::DurationRange Execution::apart(Instant later, Instant earlier, sim::DurationRange usual) {
  const sim::Region::Outside outside;
  break_silence();
  return readings_.apart(later, earlier, usual);
}

Instant Execution::moved(Instant at, const sim::PlannedFault& fault, bool later) {
  const sim::Region::Outside outside;
  const std::optional<std::uint32_t> parameter = faults_.parameter_of(fault);
  if (!parameter || at.scale() != 0) return Scheduler::moved(at, fault, later);
  break_silence();
  return readings_.moved(at, *parameter, later);
}

bool Execution::loses(sim::Event& message) {
  // It would leave at the end of the pause, and its process does not live to see that.
  if (trace_.present().doom && rules_.mutant != SearchMutant::last_words) return true;
  if (!faults_.may_strike()) return false;
  const sim::Region::Outside outside;
  break_silence();
  return faults_.strikes(message);
}

// --- What it emits and takes back.

void Execution::emitted(std::uint32_t slot) {
  const sim::Region::Outside outside;
  break_silence();
  faults_.count_emission();
  moment_.add(slot);
  if (!is_new()) return;
  const sim::Event& event = moment_.event(slot);
  has_answered_ = has_answered_ || event.channel == trace_.present().channel + 1;
  placement_.come_after_last(event);
}

void Execution::cancelled(std::uint32_t slot) {
  const sim::Region::Outside outside;
  break_silence();
  moment_.remove(slot);
  const sim::Event& event = moment_.event(slot);
  sim::invariant(event.kind == sim::EventKind::timer, "a message that a crash keeps from leaving is not emitted");
  if (trace_.is_replay()) return;
  if (event.cause == trace_.position() + 1) return;  // set by the same event: nothing could come in between
  sim::invariant(trace_.position() != kNone, "only events take others back");
  races_.note_cancelled(event);
  placement_.come_before_end(event);
}

void Execution::held_up(Instant until) {
  const sim::Region::Outside outside;
  if (is_new()) trace_.present().partitions.push_back(until.variable());
}

void Execution::postponed(std::uint32_t, Duration) {
  sim::invariant(false, "pauses are the explorer's own here, and none of them grows");
}

}  // namespace lockstep::checker::explorer
