// Events that cannot come where they are tried, since time does not allow it: why not, and what has to be tried instead. docs/argument/exploring.md, "What
// time does not allow", says why nothing is lost.

#include <algorithm>

#include "checker/explorer/explorer.hpp"
#include "checker/explorer/positions.hpp"

namespace lockstep::checker {
namespace {

using sim::Duration;
using sim::Instant;
using Mutant = ExplorerOptions::Mutant;

bool is_request(const sim::Event& event) {
  return event.kind == sim::EventKind::message && !event.bounced && !event.message->is_reply && !event.message->is_fin;
}

}  // namespace

// --- What is known of events that are on their way.

/// When it has arrived at the latest, and whatever its process handles after that, it handles after it. Nothing: never, or not known.
std::optional<Instant> Explorer::latest(const sim::Event& event) const {
  if (coda_from_ || !options_.reduction || options_.thorough) return std::nullopt;
  const bool is_tick = event.kind == sim::EventKind::timer && event.timer_kind == sim::TimerKind::tick;
  if (event.is_anchored || event.delay.hi >= Duration::forever() || event.kind == sim::EventKind::fault || is_tick)
    return std::nullopt;
  // Who is frozen does not handle what has arrived; and what a pause holds back, a crash keeps from leaving.
  if (may_pause_anywhere(event.process)) return std::nullopt;
  // Behind one that is delayed it waits for that.
  if (event.kind == sim::EventKind::message && may_delay_) return std::nullopt;
  if (event.kind == sim::EventKind::message && may_crash_ && may_pause_anywhere(event.from)) return std::nullopt;
  return event.base + event.delay.hi;
}

/// When the answer to a request that is on its way has arrived at the latest.
std::optional<Instant> Explorer::latest_answer(const sim::Event& event) const {
  if (may_lose_ || may_be_late_ || may_pause_anywhere(event.from) || !is_answered_at_once(event)) return std::nullopt;
  const std::optional<Instant> handled = latest(event);
  if (!handled) return std::nullopt;
  return *handled + world_->latency_of(sim::ConnectionId{event.channel / 2}).hi;
}

bool Explorer::is_answered_at_once(const sim::Event& event) const {
  return is_request(event) && world_->state(event.process).process->answers_at_once(*event.message);
}

/// Whether nothing else that might come first is on its way to the process of a client's event, nor to where it would be answered.
bool Explorer::is_alone(const sim::Event& event) const {
  const sim::Process& process = *world_->state(event.process).process;
  if (process.describes_accesses() || process.hears_unasked()) return false;
  return std::none_of(pending_.begin(), pending_.end(), [&](std::uint32_t slot) {
    const sim::Event& other = world_->event(slot);
    if (other.id == event.id) return false;
    if (other.process != event.process) return other.kind == sim::EventKind::message && other.from == event.process;
    const bool is_timeout = other.kind == sim::EventKind::timer;
    if (is_timeout && options_.mutant == Mutant::forget_timeouts) return false;
    return !is_timeout || !is_always_before(position_, other.cause == 0 ? kNone : other.cause - 1, delay_of(other).lo);
  });
}

/// Whether the event is the next one of its process whatever is tried in its place: then nothing has to be.
bool Explorer::comes_next(std::uint32_t position) const {
  const Node& next = nodes_[position];
  if (!next.is_alone) return false;
  // Somebody may have kept an answer back.
  return std::none_of(nodes_.begin(), nodes_.begin() + position, [&](const Node& node) {
    const bool is_sent = node.event.kind == sim::EventKind::message && !node.event.is_reply;
    return is_sent && node.event.from == next.process && !node.is_answered;
  });
}

// --- What has to come first.

/// All that is on its way to the process of the present event comes later, so it can: else the event waits for that.
void Explorer::come_before_pending(const Node& node) {
  for (const std::uint32_t slot : pending_) {
    if (ghost_from_) return;
    const sim::Event& event = world_->event(slot);
    std::optional<Instant> end;
    if (event.process == node.process) {
      end = latest(event);
    } else if (is_request(event) && event.from == node.process) {
      end = latest_answer(event);
    }
    if (!end) continue;
    at_most(node.arrived, *end);
    if (ghost_from_) overdue_ = first_on_channel(slot);
  }
}

/// What was sent before on the channel of an event comes before it. Nothing: that waits for somebody alike.
std::optional<Scheduled> Explorer::first_on_channel(std::uint32_t slot) const {
  const std::uint32_t channel = world_->event(slot).channel;
  const auto first = std::find_if(pending_.begin(), pending_.end(), [&](std::uint32_t other) {
    return other == slot || (channel != sim::Event::kNoChannel && world_->event(other).channel == channel);
  });
  const sim::Event& event = world_->event(*first);
  if (!alike_before_.empty() && waits_for_alike(event)) return std::nullopt;
  return Scheduled{event.id, event.process};
}

/// What its process has handled already, it handled before this event, which has just been emitted.
void Explorer::come_after_last(const sim::Event& event) {
  if (ghost_from_ || event.process == nodes_[position_].process) return;
  const std::optional<Instant> end = latest(event);
  if (!end) return;
  for (std::uint32_t f = last_at_[event.process.index]; f != kNone; f = nodes_[f].process_before) {
    if (!nodes_[f].footprint.is_everything()) continue;
    at_most(nodes_[f].arrived, *end);
    return;
  }
}

// --- What does not allow an event.

/// The present event cannot be, with this constraint.
void Explorer::fail(const Constraint& failed) {
  ghost_from_ = position_;
  if (is_asking_) {
    deny(failed);
    return;
  }
  has_failed_for_good_ = is_certain_;
  explain(failed, position_);
}

/// Time leaves the present event no such answer: who does not allow it is as much in conflict with it as with an event that fails.
void Explorer::deny(const Constraint& failed) {
  if (position_ == kNone || coda_from_ || !options_.reduction || options_.thorough) return;
  explain(failed, position_);
  const Node& node = nodes_[position_];
  const Wanted answer = wanted({node.chosen, node.process}, node.cause, node.fifo_before, node.delay.lo);
  for (const std::uint32_t other : conflict_) {
    if (is_in_conflict(answer, other)) denied_by_.push_back(other);
  }
}

/// Which of the events before `end` do not allow this constraint. Requires: it is the last that failed.
void Explorer::explain(const Constraint& failed, std::uint32_t end) {
  failed_ = failed;
  constraints_.explain_last(why_);
  note_owners(std::min(end + 1, static_cast<std::uint32_t>(depth_)));
  note_conflict(end);
}

/// Which of the events before `end` `failed_` and `why_` come from. Requires: owners are known.
void Explorer::note_conflict(std::uint32_t end) {
  conflict_.clear();
  const auto add = [&](std::uint32_t owner) {
    if (owner == kNone || owner >= end) return;
    if (std::find(conflict_.begin(), conflict_.end(), owner) == conflict_.end()) conflict_.push_back(owner);
  };
  const auto add_ends = [&](const Constraint& c) {
    add(owner_of_variable_[c.from]);
    add(owner_of_variable_[c.to]);
  };
  add_ends(failed_);
  for (const std::uint32_t i : why_) {
    add(owner_of_constraint_[i]);
    add_ends(constraints_.constraint(i));
  }
}

/// Which of the first `executed` events each variable and each constraint comes from.
void Explorer::note_owners(std::uint32_t executed) {
  owner_of_variable_.assign(constraints_.variables(), kNone);
  owner_of_constraint_.assign(constraints_.constraints(), kNone);
  for (std::uint32_t i = 0; i < executed; ++i) {
    const DifferenceConstraints::Mark begin = nodes_[i].mark;
    const DifferenceConstraints::Mark end = i + 1 == executed ? constraints_.mark() : nodes_[i + 1].mark;
    std::fill(owner_of_variable_.begin() + begin.variables, owner_of_variable_.begin() + end.variables, i);
    std::fill(owner_of_constraint_.begin() + begin.constraints, owner_of_constraint_.begin() + end.constraints, i);
  }
}

/// Whether a constraint is there already when of the trace there are only the events before `position` and those of this set.
bool Explorer::is_among(std::uint32_t constraint, std::uint32_t position, const Positions& set) const {
  const auto is_there = [&](std::uint32_t owner) { return owner == kNone || owner < position || has_bit(set, owner); };
  const Constraint c = constraints_.constraint(constraint);
  return is_there(owner_of_constraint_[constraint]) && is_there(owner_of_variable_[c.from]) &&
         is_there(owner_of_variable_[c.to]);
}

/// What is on its way and has not been executed, as far as it is needed here.
Explorer::Wanted Explorer::wanted(const sim::Event& event) {
  const std::uint32_t cause = event.cause == 0 ? kNone : event.cause - 1;
  return wanted({event.id, event.process}, cause, event.channel < last_on_.size() ? last_on_[event.channel] : kNone,
                delay_of(event).lo);
}

Explorer::Wanted Explorer::wanted(Scheduled event, std::uint32_t cause, std::uint32_t fifo_before,
                                  Duration least_delay) {
  past_.clear();
  for (const std::uint32_t before : {cause, fifo_before}) {
    if (before != kNone) join(past_, nodes_[before].past);
  }
  return {event, cause, least_delay, &past_, true};
}

/// What was wanted is infeasible, and would not be without one of those that do not allow it. So it, and what it needs, is tried in place of
/// each, unless it cannot come there either.
void Explorer::find_conflicts(const Wanted& wanted, std::uint32_t end) {
  for (const std::uint32_t other : conflict_) {
    if (other < end && is_in_conflict(wanted, other)) try_in_place_of(other, *wanted.past, wanted.event);
  }
}

/// Whether what was wanted might come in place of one of those that do not allow it.
bool Explorer::is_in_conflict(const Wanted& wanted, std::uint32_t other) const {
  if (options_.mutant == Mutant::forget_conflicts || has_bit(*wanted.past, other)) return false;
  if (is_always_before(other, wanted.cause, wanted.least_delay)) return false;
  if (!wanted.is_failed) return true;
  const auto is_left = [&](std::uint32_t i) { return is_among(i, other, *wanted.past); };
  return !constraints_.is_infeasible_among(failed_, is_left);
}

void Explorer::try_in_place_of(std::uint32_t position, const Positions& past, Scheduled event) {
  part_.clear();
  reversal_.candidates.clear();
  reversal_.then.clear();
  for (std::uint32_t i = position + 1; i < depth_; ++i) {
    if (!has_bit(past, i)) continue;
    const bool is_initial =
        std::none_of(part_.begin(), part_.end(), [&](std::uint32_t before) { return has_bit(nodes_[i].past, before); });
    part_.push_back(i);
    if (is_initial) reversal_.candidates.push_back({nodes_[i].chosen, nodes_[i].process});
  }
  if (reversal_.candidates.empty()) reversal_.candidates.push_back(event);
  reverse(position);
}

// --- What is done about it.

/// Whether the event that has just been executed is infeasible. Then it is no part of any trace that begins like this one: what has to come first is
/// to be tried in its place, and it in place of what does not allow it.
bool Explorer::has_failed(std::uint32_t position) {
  if (ghost_from_ != position || options_.thorough || !options_.reduction) return false;
  ++counts_.infeasible;
  Node& node = nodes_[position];
  node.is_impossible = true;
  node.may_live = true;
  if (coda_from_ || options_.mutant == Mutant::cut_infeasible) return true;
  // Races have conflicts of their own.
  const Constraint failed = failed_;
  const std::vector<std::uint32_t> conflict = conflict_;
  find_races(position);
  failed_ = failed;
  conflict_ = conflict;
  find_conflicts({{node.chosen, node.process}, node.cause, node.delay.lo, &node.past, true}, position);
  if (overdue_) {
    reversal_ = {{*overdue_}, {}};
    reverse(position);
  } else if (has_failed_for_good_ && !conflict.empty()) {
    node.may_live = node.lived_before;
    node.conflict.insert(node.conflict.end(), conflict.begin(), conflict.end());
  }
  return true;
}

/// The event of this node is infeasible with each of its answers, and nothing that can still happen would change that. So no execution begins like the
/// trace up to the last of those that do not allow it.
void Explorer::give_up(const Node& node) {
  if (node.may_live || node.conflict.empty()) return;
  const std::uint32_t last = *std::max_element(node.conflict.begin(), node.conflict.end());
  // What is before belongs to others, who would have to pick somebody else there.
  if (last < own_from_) return;
  dead_from_ = last;
  const Node& dead = nodes_[last];
  conflict_ = node.conflict;
  find_conflicts({{dead.chosen, dead.process}, dead.cause, dead.delay.lo, &dead.past, false}, last);
}

/// Whether the reversal of a race is infeasible: `later` cannot have arrived by the time at which `earlier` has, as long as the part of the trace
/// that comes first with it has. Requires: `part_` is that part.
bool Explorer::is_too_late(std::uint32_t earlier, std::uint32_t later) {
  const Node& before = nodes_[earlier];
  const Node& node = nodes_[later];
  if (!before.latest) return false;
  failed_ = Constraint::at_most(node.event.base + node.event.delay.lo, *before.latest);
  if (constraints_.is_feasible_with(failed_)) return false;
  first_.clear();
  for (const std::uint32_t i : part_) {
    if (i != later) set_bit(first_, i);
  }
  note_owners(later + 1);
  const auto is_first = [&](std::uint32_t i) { return is_among(i, earlier, first_); };
  if (!constraints_.is_infeasible_among(failed_, is_first, &why_)) return false;
  note_conflict(later);
  find_conflicts(wanted({node.chosen, node.process}, node.cause, node.fifo_before, node.delay.lo), later);
  return true;
}

/// Whether somebody who is asleep has come before anything else can that is still to be tried: then nobody will wake him.
bool Explorer::sleeps_for_good(const Node& node) {
  if (node.sleep.empty() || ghost_from_) return false;
  const auto is_open = [&](std::uint32_t slot) { return !is_asleep(node.sleep, world_->event(slot).id); };
  const auto until = [&](std::uint32_t slot, Instant end) {
    const sim::Event& event = world_->event(slot);
    return Constraint::at_most(event.base + event.delay.lo, end);
  };
  for (const std::uint32_t sleeper : pending_) {
    if (is_open(sleeper)) continue;
    const std::optional<Instant> end = latest(world_->event(sleeper));
    if (!end) continue;
    const bool is_over = std::none_of(pending_.begin(), pending_.end(), [&](std::uint32_t slot) {
      return is_open(slot) && constraints_.is_feasible_with(until(slot, *end));
    });
    if (!is_over) continue;
    if (options_.mutant == Mutant::sleep_unasked) return true;
    for (const std::uint32_t slot : pending_) {
      if (!is_open(slot) || !is_enabled(slot)) continue;
      const Constraint in_time = until(slot, *end);
      if (constraints_.is_feasible_with(in_time)) continue;  // it is not: now the constraints can say why
      explain(in_time, static_cast<std::uint32_t>(depth_));
      find_conflicts(wanted(world_->event(slot)), static_cast<std::uint32_t>(depth_));
    }
    return true;
  }
  return false;
}

}  // namespace lockstep::checker
