// One step of an exploration: what one event does, when it can happen, and what is asked meanwhile.

#include <algorithm>
#include <cassert>
#include <utility>

#include "checker/explorer/clock_kinds.hpp"
#include "checker/explorer/explorer.hpp"
#include "sim/last_words.hpp"

namespace lockstep::checker {
namespace {

using sim::Duration;
using sim::DurationRange;
using sim::FaultKind;
using sim::Instant;
using Mutant = ExplorerOptions::Mutant;

}  // namespace

// --- Executing an event.

void Explorer::execute(std::uint32_t position, bool is_replay) {
  ++counts_.events;
  const std::uint32_t slot = slot_of(nodes_[position].chosen);
  position_ = position;
  is_replay_ = is_replay;
  next_answer_ = 0;
  next_sum_ = 0;
  emissions_ = 0;
  has_answered_ = false;
  if (!ghost_from_) ghost_questions_ = 0;
  cancelled_here_.clear();
  overdue_.reset();
  denied_by_.clear();
  Node& node = nodes_[position];
  const sim::Event& event = world_->event(slot);
  if (is_replay) {
    next_answer_ = node.own_answers;
  } else {
    begin_node(node, event);
    node.sums.clear();
    is_certain_ = true;
    place_in_time(node, event);
    is_certain_ = false;
    node.own_answers = next_answer_;
    if (event.kind == sim::EventKind::fault || event.kind == sim::EventKind::start) note_fault(node, event);
  }

  sim::ProcessState& process = world_->state(event.process);
  is_held_back_ = node.is_held_back;
  if (is_held_back_) {
    process.was_paused = true;
    process.frozen_until = held_back_until_ = node.process_free;
  }
  if (event.kind == sim::EventKind::fault) {
    for (std::size_t i = 0; i < armed_count_; ++i) {
      if (&armed_[i].fault == event.fault && armed_[i].parameter)
        process.wall.set_scale(static_cast<sim::Scale>(*armed_[i].parameter + 1));
    }
  }
  last_at_[event.process.index] = position;
  if (event.channel != sim::Event::kNoChannel) {
    if (event.channel >= last_on_.size()) last_on_.resize(event.channel + 1, kNone);
    last_on_[event.channel] = position;
  }
  pending_.erase(std::find(pending_.begin(), pending_.end(), slot));
  if (!is_replay && node.footprint.is_everything()) come_before_pending(node);
  is_silent_ = !is_replay && event.kind == sim::EventKind::message && node.event.is_reply;
  {
    const sim::Region::Inside inside(region_);
    world_->execute(slot, node.at);
  }
  break_silence();
  assert((is_replay || !node.is_answered || has_answered_ || may_lose_) &&
         "an answer was kept back that had been promised");
  process.was_paused = false;
  is_held_back_ = false;
  if (options_.observer != nullptr && !ghost_from_) options_.observer->executed(*this, position, is_replay);
}

void Explorer::begin_node(Node& node, const sim::Event& event) {
  node.mark = constraints_.mark();
  node.raised_before = raised_.size();
  node.faults_before = faults_.size();
  node.parametric_before = parametric_.size();
  node.widened_before = widened_;
  node.process = event.process;
  node.channel = event.channel;
  node.cause = event.cause == 0 ? kNone : event.cause - 1;
  node.process_before = last_at_[event.process.index];
  node.fifo_before = event.channel < last_on_.size() ? last_on_[event.channel] : kNone;
  node.alike_before = position_of_alike(event);
  node.delay = delay_of(event);
  const bool is_tick = event.kind == sim::EventKind::timer && event.timer_kind == sim::TimerKind::tick;
  node.is_of_tick = is_tick || (node.cause != kNone && nodes_[node.cause].is_of_tick);
  if (node.is_of_tick) node.due = due(event);
  node.event.kind = event.kind;
  node.event.timer_kind = event.timer_kind;
  node.event.is_reply = event.bounced || (event.message && event.message->is_reply);
  node.event.bounced = event.bounced;
  node.event.from = event.from;
  node.event.name = event.message ? event.message->name() : std::string_view();
  node.event.base = event.base;
  node.event.delay = event.delay;

  node.is_alone = is_alone(event);
  node.is_answered = is_answered_at_once(event);
  node.latest = latest(event);
  node.question = 0;
  node.partitions.clear();
  node.footprint = Footprint();
  const sim::ProcessState& process = world_->state(event.process);
  // A reply may say what it does, if it begins with that: see `break_silence`.
  const bool may_say = event.kind == sim::EventKind::message && (node.event.is_reply || process.describes_accesses);
  // What a dead server answers depends on its being dead; and a pause puts all of its requests into one line.
  if (!may_say || !process.alive || may_pause_anywhere(event.process)) {
    node.footprint.add_everything();
  }
}

/// How long after its cause, or the beginning, it comes.
DurationRange Explorer::delay_of(const sim::Event& event) const {
  // Nothing is known of that.
  if (event.is_anchored) return {Duration::zero(), Duration::forever()};
  const bool may_be_late = may_be_late_ && event.kind == sim::EventKind::message;
  // Whether it left at its cause or at the end of the pause that held it back, the anchor is where it left.
  const Duration left = event.cause == 0 ? Duration::zero() : nodes_[event.cause - 1].at.offset();
  const DurationRange delay{event.base.offset() + event.delay.lo - left, event.base.offset() + event.delay.hi - left};
  return {delay.lo, may_be_late ? Duration::forever() : delay.hi};
}

// --- When it can happen.

/// The constraints of an event: it arrives within its delay, after what was sent before it on its channel, and is handled
/// when its process is free, which a pause may put off.
void Explorer::place_in_time(Node& node, const sim::Event& event) {
  node.frees_late = node.is_late = node.is_held_back = false;
  if (ghost_from_) {
    // Time means nothing any more; but instants need a variable.
    node.at = node.arrived = node.process_free = Instant::origin();
    return;
  }
  const Node* earlier = node_at(node.fifo_before);
  const bool waits = is_behind(event, earlier);
  if (!node.footprint.is_everything()) {
    // A server that is never paused: in what order it comes to those that it depends on, it will say itself.
    node.at = node.arrived = node.process_free = fresh();
    arrive_after(node.at, event, earlier, waits);
    come_after_alike(node);
    for (std::uint32_t f = node.process_before; f != kNone; f = nodes_[f].process_before) {
      if (!nodes_[f].footprint.is_everything()) continue;
      at_most(nodes_[f].process_free, node.at);
      break;
    }
    return;
  }
  const Node* before = node_at(node.process_before);
  const Instant free = before != nullptr ? before->process_free : Instant::origin();
  const bool is_work = event.kind == sim::EventKind::timer && event.timer_kind == sim::TimerKind::work;
  const std::optional<std::size_t> late = ask_for_pause(event.process, is_work);
  node.is_late = late.has_value();
  if (late) {
    place_late(node, event, *late, free, waits);
  } else {
    node.at = node.arrived = fresh();
    const auto waited = [&] {
      // It arrived while its process was frozen, and is handled at the end of that.
      const Instant arrival = fresh();
      arrive_after(arrival, event, earlier, waits);
      at_most(before->frozen_from, arrival);
      at_most(before->arrived, arrival);
      at_most(arrival, free);
      between(free, node.at, DurationRange::exactly(Duration::zero()));
      node.arrived = arrival;
      return !ghost_from_.has_value();
    };
    const auto did_not_wait = [&] {
      node.arrived = node.at;
      arrive_after(node.at, event, earlier, waits);
      at_most(free, node.at);
      return !ghost_from_.has_value();
    };
    if (before != nullptr && before->frees_late) {
      node.frees_late = decide(waited, did_not_wait);
      node.frozen_from = before->frozen_from;
    } else {
      did_not_wait();
    }
    node.process_free = node.at;
  }
  if (coda_from_ && *coda_from_ == position_) {
    for (std::uint32_t i = 0; i < position_; ++i) at_most(nodes_[i].at + coda_after_, node.arrived);
  }
  come_after_all(node, Footprint());
  come_after_alike(node);

  if (const std::optional<std::size_t> budget = ask_for_pause(event.process, false, 0, true)) {
    node.is_held_back = true;
    node.process_free = fresh();
    between(node.at, node.process_free, options_.faults[*budget].range);
    add_pause(node, *budget, ExploredFault::Place::after, node.at, node.process_free);
    node.process_free = add_further_pauses(node, *budget, ExploredFault::Place::after, node.at, node.process_free);
    if (!node.frees_late) node.frozen_from = node.at;
    node.frees_late = true;
  }
}

/// It is handled only at the end of a pause that began before, or of several.
void Explorer::place_late(Node& node, const sim::Event& event, std::size_t budget, Instant free, bool waits) {
  const DurationRange length = options_.faults[budget].range;
  node.arrived = fresh();
  arrive_after(node.arrived, event, node_at(node.fifo_before), waits);
  Instant end = fresh();
  if (event.kind == sim::EventKind::timer && event.timer_kind == sim::TimerKind::work) {
    // The pauses are somewhere within the work, which takes that much longer. Whatever else reaches the client meanwhile
    // is taken to come before or after them: a client that works does one thing at a time.
    at_most(free, node.arrived);
    between(node.arrived, end, length);
    add_pause(node, budget, ExploredFault::Place::within, node.arrived, end);
    node.at = node.process_free = add_further_pauses(node, budget, ExploredFault::Place::within, node.arrived, end);
    return;
  }
  const Instant begin = fresh();
  at_most(free, begin);
  at_most(begin, node.arrived);
  between(begin, end, length);
  add_pause(node, budget, ExploredFault::Place::before, begin, end);
  end = add_further_pauses(node, budget, ExploredFault::Place::before, begin, end);
  at_most(node.arrived, end);
  node.at = node.process_free = end;
  node.frees_late = true;
  node.frozen_from = begin;
}

/// Whether an event comes after one before it whatever else is handled before: it has touched nothing so far but what that one did, so what could change what
/// it does now comes after that one, too. Of servers alone: what an answer does with a client's state depends on which others have come.
bool Explorer::fixes(const Node& before, const Node& node, const Footprint& known) {
  return node.is_answered && before.footprint.covers(known);
}

/// An event that touches all of its server's state, among others that do not: it comes after each of those before it.
void Explorer::come_after_all(const Node& node, const Footprint& known) {
  for (std::uint32_t f = node.process_before; f != kNone; f = nodes_[f].process_before) {
    if (nodes_[f].footprint.is_everything()) return;
    const bool was_certain = std::exchange(is_certain_, is_certain_ || fixes(nodes_[f], node, known));
    at_most(nodes_[f].at, node.at);
    is_certain_ = was_certain;
  }
}

/// Whether a message finds one before it on its channel that was delayed so long that it has to wait for that. `earlier`: that one, or null.
bool Explorer::is_behind(const sim::Event& event, const Node* earlier) {
  if (earlier == nullptr || !may_delay_ || event.kind != sim::EventKind::message) return false;
  const Instant latest = event.base + (coda_from_ ? event.delay.lo : event.delay.hi);
  return !decide([&] { return add(Constraint::at_most(earlier->arrived, latest)); },
                 [&] { return add(Constraint::less_than(latest, earlier->arrived)); });
}

/// After `earlier`, what came before it on its channel, or together with that, if it waits behind it.
void Explorer::arrive_after(Instant arrival, const sim::Event& event, const Node* earlier, bool waits) {
  if (waits) {
    between(earlier->arrived, arrival, DurationRange::exactly(Duration::zero()));
    return;
  }
  arrive_within(arrival, event);
  if (earlier != nullptr) at_most(earlier->arrived, arrival);
}

void Explorer::arrive_within(Instant arrival, const sim::Event& event) {
  const bool is_quick = coda_from_ && event.kind == sim::EventKind::message;
  DurationRange delay = is_quick ? DurationRange::exactly(event.delay.lo) : event.delay;
  // A pause on the way to where its length was learnt makes it that much later.
  if (event.is_anchored && !may_pause_.empty()) delay.hi = Duration::forever();
  between(event.base, arrival, delay);
}

Instant Explorer::fresh() {
  const Variable variable = constraints_.add_variable();
  if (earliest_.size() <= variable) earliest_.resize(variable + 1);
  earliest_[variable] = Duration::zero();
  return Instant(variable, Duration::zero());
}

/// Takes back what `earliest_` was raised by since.
void Explorer::lower_to(std::size_t mark) {
  for (; raised_.size() > mark; raised_.pop_back()) earliest_[raised_.back().first] = raised_.back().second;
}

/// Adds a constraint of the present event, unless one has failed. False: that one, or this.
bool Explorer::add(const Constraint& constraint) {
  if (!ghost_from_ && !constraints_.add(constraint)) fail(constraint);
  return !ghost_from_.has_value();
}

void Explorer::at_most(Instant a, Instant b) {
  if (!add(Constraint::at_most(a, b))) return;
  // What is known at this moment; what follows may raise it, which costs the order of picking nothing but a little sense.
  Duration& least = earliest_[b.variable()];
  const Duration raised = earliest_[a.variable()] + a.offset() - b.offset();
  if (raised <= least) return;
  raised_.emplace_back(b.variable(), least);
  least = raised;
}

void Explorer::between(Instant from, Instant to, DurationRange length) {
  at_most(from + length.lo, to);
  add(Constraint::at_most(to, from + length.hi));
}

// --- What it reads and changes.

/// A reply that has not said what it reads and changes does it with everything: this is so before it asks or emits something.
void Explorer::break_silence() {
  if (is_silent_) accessed_all();
}

void Explorer::accessed(std::uint64_t part, bool changes) {
  const sim::Region::Outside outside;
  if (is_replay_ || position_ == kNone) return;
  is_silent_ = false;
  Node& node = nodes_[position_];
  if (node.footprint.is_everything()) return;
  if (node.footprint.changes(part) || (!changes && node.footprint.reads(part))) return;
  const Footprint known = node.footprint;
  node.footprint.add(part, changes);
  if (node.footprint.is_everything()) {
    come_after_all(node, known);
    return;
  }
  for (std::uint32_t f = node.process_before; f != kNone; f = nodes_[f].process_before) {
    const Node& before = nodes_[f];
    if (before.footprint.is_everything()) return;
    const bool changed = before.footprint.changes(part);
    if (changed || (changes && before.footprint.reads(part) && options_.mutant != Mutant::forget_readers)) {
      is_certain_ = fixes(before, node, known);
      at_most(before.at, node.at);
      is_certain_ = false;
    }
    if (changed) return;
  }
}

void Explorer::accessed_all() {
  const sim::Region::Outside outside;
  if (is_replay_ || position_ == kNone) return;
  is_silent_ = false;
  Node& node = nodes_[position_];
  if (node.footprint.is_everything()) return;
  const Footprint known = node.footprint;
  node.footprint.add_everything();
  come_after_all(node, known);
  come_before_pending(node);
}

void Explorer::counted(std::uint64_t question) {
  if (!is_replay_ && position_ != kNone) nodes_[position_].question = question;
}

// --- What the world asks.

std::uint64_t Explorer::ask(std::uint64_t options) {
  break_silence();
  if (options < 2 || (ghost_from_ && !is_replay_)) return 0;
  std::vector<Answer>& known = answers();
  if (next_answer_ == known.size()) known.push_back({static_cast<std::uint32_t>(options), 0});
  if (known[next_answer_].options != options) sim::end_with_divergence();
  return known[next_answer_++].index;
}

/// Answers that follow from the constraints are noted all the same, since a replay does not look at the constraints.
template <class Yes, class No>
bool Explorer::decide(const Yes& yes, const No& no) {
  break_silence();
  // Beyond the first infeasible event any answer will do, but "not yet" for ever would keep those waiting who ask until it is time.
  constexpr std::uint32_t kPatience = 32;
  if (ghost_from_ && !is_replay_) return ghost_questions_++ >= kPatience;
  std::vector<Answer>& known = answers();
  if (next_answer_ == known.size()) {
    const auto is_feasible = [&](const auto& answer) {
      const DifferenceConstraints::Mark mark = constraints_.mark();
      const std::size_t raised = raised_.size();
      is_asking_ = true;
      const bool feasible = answer();
      is_asking_ = false;
      constraints_.undo(mark);
      lower_to(raised);
      ghost_from_.reset();
      return feasible;
    };
    const bool can_be = is_feasible(yes);
    const bool cannot_be = is_feasible(no);
    if (can_be && cannot_be) {
      known.push_back({2, 0});
    } else {
      known.push_back({1, cannot_be ? 1u : 0u});
    }
  }
  const bool answer = known[next_answer_++].index == 0;
  if (!is_replay_) answer ? yes() : no();
  return answer;
}

bool Explorer::is_at_or_after(Instant a, Instant b) {
  const sim::Region::Outside outside;
  // A process that holds its messages back asks whether it is done with that: the end of the pause has not come yet.
  if (is_held_back_ && b.identical(held_back_until_)) return false;
  if (a.scale() != b.scale()) return is_widely_at_or_after(a, b);
  if (a.scale() >= kFirstDrifting) {
    // x * (1 + drift) + p >= y * (1 + drift) + q, to the nanosecond.
    const sim::ProcessId process{static_cast<std::uint16_t>(a.scale() - kFirstDrifting)};
    const Duration apart = world_->state(process).wall.true_length(b.offset() - a.offset());
    a = Instant(a.variable(), Duration::zero());
    b = Instant(b.variable(), apart);
  } else {
    a = Instant(a.variable(), a.offset());
    b = Instant(b.variable(), b.offset());
  }
  return decide([&] { return add(Constraint::at_most(b, a)); }, [&] { return add(Constraint::less_than(a, b)); });
}

/// Readings of clocks that differ by a parameter, or by drift: each answer adds what follows from it for the whole range.
bool Explorer::is_widely_at_or_after(Instant a, Instant b) {
  const DurationRange of_a = surplus(a);
  const DurationRange of_b = surplus(b);
  const Instant x(a.variable(), a.offset());
  const Instant y(b.variable(), b.offset());
  const bool answer = decide([&] { return add(Constraint::at_most(y + of_b.lo, x + of_a.hi)); },
                             [&] { return add(Constraint::less_than(x + of_a.lo, y + of_b.hi)); });
  if (is_replay_ || ghost_from_) return answer;
  const auto parameter_of = [&](Instant reading) {
    const bool has_one = reading.scale() != 0 && reading.scale() < kFirstDrifting;
    return has_one ? reading.scale() - 1u : ParametricBound::none;
  };
  if (a.scale() >= kFirstDrifting || b.scale() >= kFirstDrifting) {
    ++widened_;
  } else if (answer) {
    parametric_.push_back({Constraint::at_most(y, x), parameter_of(a), parameter_of(b)});
  } else {
    parametric_.push_back({Constraint::less_than(x, y), parameter_of(b), parameter_of(a)});
  }
  return answer;
}

/// By how much a reading can exceed its anchor plus its offset.
DurationRange Explorer::surplus(Instant reading) const {
  if (reading.scale() == 0) return DurationRange::exactly(Duration::zero());
  if (reading.scale() < kFirstDrifting) return parameters_[reading.scale() - 1u].range;
  const sim::ProcessId process{static_cast<std::uint16_t>(reading.scale() - kFirstDrifting)};
  const std::int64_t ppb = world_->state(process).drift_ppb;
  const std::optional<Extent> latest = constraints_.greatest_difference(0, reading.variable());
  // Without a bound on the time that has passed the drift may have made any difference.
  constexpr Duration no_bound = Duration::seconds(100'000);
  const Duration most = latest ? latest->value : no_bound;
  constexpr std::int64_t per_million = 1'000'000;
  const Duration gained =
      Duration::nanoseconds(most.count_ns() / per_million * ppb / 1'000 + (ppb > 0 ? 1 : -1) * (1 + ppb / 1'000));
  return ppb > 0 ? DurationRange{Duration::zero(), gained} : DurationRange{gained, Duration::zero()};
}

/// No difference constraint says it, since it is about four variables. What is known: it lies as far from `plus` as `a` lies from `minus`. Of that only
/// what follows from the causes of the present event is said, which come before it in every execution: whatever is not possible because of it then, is not
/// possible because of this event.
Instant Explorer::sum(Instant a, Instant plus, Instant minus) {
  const sim::Region::Outside outside;
  break_silence();
  assert(position_ != kNone);
  std::vector<Instant>& known = nodes_[position_].sums;
  if (is_replay_) return known[next_sum_++];
  ++widened_;
  const Instant made = fresh();
  const Instant given = made.on_scale(a.scale());
  known.push_back(given);
  ++next_sum_;
  // Readings of clocks that drift or are off by what nobody knows yet say nothing of their distance.
  if (ghost_from_ || plus.scale() != minus.scale() || std::max(a.scale(), plus.scale()) >= kFirstDrifting) return given;
  note_owners(position_ + 1);
  Positions chain;
  for (std::uint32_t p = position_; p != kNone; p = nodes_[p].cause) set_bit(chain, p);
  const auto is_of_causes = [&](std::uint32_t i) {
    return owner_of_constraint_[i] == kNone || has_bit(chain, owner_of_constraint_[i]);
  };
  const Instant base = Instant(plus.variable(), plus.offset()) + (a.offset() - minus.offset());
  const auto most = constraints_.greatest_difference_among(minus.variable(), a.variable(), is_of_causes);
  const auto least = constraints_.greatest_difference_among(a.variable(), minus.variable(), is_of_causes);
  if (most) add(Constraint::at_most(made, base + most->value));
  if (least) at_most(base - least->value, made);
  return given;
}

Instant Explorer::later_of(Instant a, Instant b) { return is_at_or_after(a, b) ? a : b; }

std::uint64_t Explorer::choose(sim::Choice, std::uint64_t options, sim::EventId) {
  const sim::Region::Outside outside;
  return ask(options);
}

bool Explorer::loses(sim::Event& message) {
  if (!may_lose_ && !may_delay_) return false;
  const sim::Region::Outside outside;
  ++emissions_;  // as the world counts
  const std::vector<std::size_t> allowed = message_faults(message);
  const std::uint64_t answer = ask(1 + allowed.size());
  if (answer == 0) {
    --emissions_;
    return false;
  }
  const std::size_t budget = allowed[answer - 1];
  const FaultKind kind = options_.faults[budget].kind;
  if (!is_replay_) {
    ExploredFault& fault = faults_.emplace_back();
    fault.kind = kind;
    fault.process = message.from;
    fault.event = position_;
    fault.emission = emissions_;
    fault.budget = budget;
  }
  if (kind == FaultKind::lose) return true;
  put_off(message);
  --emissions_;
  return false;
}

/// A message that a fault of the present trace delays leaves later.
void Explorer::put_off(sim::Event& message) {
  const auto fault = std::find_if(faults_.begin(), faults_.end(), [&](const ExploredFault& f) {
    return f.kind == FaultKind::delay && f.event == position_ && f.emission == emissions_;
  });
  if (!is_replay_) {
    const DurationRange range = options_.faults[fault->budget].range;
    fault->from = message.base;
    fault->until = fresh();
    between(fault->from, fault->until, range);
  }
  message.base = fault->until;
}

void Explorer::approximated() {
  if (!is_replay_ && !ghost_from_) ++widened_;
}

void Explorer::emitted(std::uint32_t slot) {
  const sim::Region::Outside outside;
  break_silence();
  ++emissions_;
  pending_.push_back(slot);
  if (is_replay_ || position_ == kNone) return;
  const sim::Event& event = world_->event(slot);
  has_answered_ = has_answered_ || event.channel == nodes_[position_].channel + 1;
  come_after_last(event);
}

void Explorer::cancelled(std::uint32_t slot) {
  const sim::Region::Outside outside;
  break_silence();
  pending_.erase(std::find(pending_.begin(), pending_.end(), slot));
  const sim::Event& event = world_->event(slot);
  // A message that a crash keeps from leaving a pause: that it does is a question of time, and has been asked.
  if (is_replay_ || event.kind != sim::EventKind::timer) return;
  if (event.cause == position_ + 1) return;  // set and cancelled by the same event: nothing could come in between
  cancelled_here_.push_back({{event.id, event.process},
                             event.cause == 0 ? kNone : event.cause - 1,
                             event.is_anchored ? Duration::zero() : event.base.offset() + event.delay.lo});
  // Had it been due before, it would have fired.
  if (event.is_anchored && !may_pause_.empty()) return;
  at_most(nodes_[position_].arrived, event.base + event.delay.hi);
}

void Explorer::postponed(std::uint32_t, Duration) {
  assert(false && "pauses are the explorer's own here, and none of them grows");
}

}  // namespace lockstep::checker
