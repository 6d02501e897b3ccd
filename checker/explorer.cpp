#include "checker/explorer.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::checker {
namespace {

constexpr std::uint32_t kNone = ExploredEvent::no_cause;

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

using Mutant = ExplorerOptions::Mutant;

ExplorerCounts Explorer::explore(Explorable& subject, const Visitor& visit) {
  subject_ = &subject;
  world_ = &subject.world();
  world_->set_scheduler(*this);
  counts_ = {};
  depth_ = 0;
  pauses_.clear();
  constraints_.undo(DifferenceConstraints().mark());
  earliest_.assign(1, sim::Duration::zero());
  while (true) {
    begin_again();
    if (!advance(visit)) break;
    if (options_.max_traces != 0 && counts_.traces >= options_.max_traces) break;
    // What was run beyond the first infeasible event only served to find races.
    if (ghost_from_) depth_ = *ghost_from_ + 1;
    if (!back_up()) {
      counts_.complete = true;
      break;
    }
  }
  // Nobody must ask the explorer about what is left in the world.
  world_->restart();
  return counts_;
}

void Explorer::begin_again() {
  world_->restart();
  pending_.clear();
  last_at_.assign(world_->process_count(), kNone);
  last_on_.clear();
  ghost_from_.reset();
  position_ = kNone;
  subject_->begin();
}

/// Runs the trace to its end. False: the visitor has had enough.
bool Explorer::advance(const Visitor& visit) {
  for (std::uint32_t i = 0; i < depth_; ++i) {
    // All but the last are known: the last has a new event, or a new answer.
    const bool is_replay = i + 1 < depth_;
    execute(i, is_replay);
    if (!is_replay) find_races(i);
  }
  while (!pending_.empty()) {
    assert(depth_ < options_.max_steps && "the world does not end: bound its rounds and attempts");
    if (ghost_from_ && options_.mutant == Mutant::cut_infeasible) break;
    if (nodes_.size() == depth_) nodes_.emplace_back();
    Node& node = nodes_[depth_];
    node.backtrack.clear();
    node.answers.clear();
    node.sleep.clear();
    if (depth_ > 0 && options_.reduction) {
      const Node& parent = nodes_[depth_ - 1];
      for (const Sleeping& sleeping : parent.sleep) {
        if (sleeping.process != parent.process || options_.mutant == Mutant::never_wake) node.sleep.push_back(sleeping);
      }
    }
    const std::optional<std::uint32_t> slot = pick(node);
    if (!slot) {
      ++(ghost_from_ ? counts_.infeasible : counts_.blocked);
      return true;
    }
    node.chosen = world_->event(*slot).id;
    node.backtrack.push_back(node.chosen);
    if (!options_.reduction) {
      for (const std::uint32_t other : pending_) {
        if (is_enabled(other)) schedule(node, world_->event(other).id);
      }
    }
    ++depth_;
    execute(static_cast<std::uint32_t>(depth_ - 1), false);
    find_races(static_cast<std::uint32_t>(depth_ - 1));
  }
  if (ghost_from_) {
    ++counts_.infeasible;
    return true;
  }
  ++counts_.traces;
  return visit(*this);
}

/// The event that can be earliest: so that a trace goes on as time does, and orders that no delays allow are met late.
std::optional<std::uint32_t> Explorer::pick(Node& node) {
  std::optional<std::uint32_t> best;
  sim::Duration best_time;
  for (const std::uint32_t slot : pending_) {
    const sim::Event& event = world_->event(slot);
    const bool sleeps =
        std::any_of(node.sleep.begin(), node.sleep.end(), [&](const Sleeping& s) { return s.id == event.id; });
    if (sleeps || !is_enabled(slot)) continue;
    const sim::Duration time = earliest_[event.base.anchor()] + event.base.offset() + event.delay.lo;
    if (best && time >= best_time) continue;
    best = slot;
    best_time = time;
  }
  return best;
}

bool Explorer::is_enabled(std::uint32_t slot) const {
  const std::uint32_t channel = world_->event(slot).channel;
  if (channel == sim::Event::kNoChannel) return true;
  for (const std::uint32_t other : pending_) {
    if (other == slot) return true;
    if (world_->event(other).channel == channel) return false;
  }
  return true;
}

std::uint32_t Explorer::slot_of(sim::EventId id) const {
  for (const std::uint32_t slot : pending_) {
    if (world_->event(slot).id == id) return slot;
  }
  assert(false && "the world did not do again what it did before");
  return 0;
}

// --- One step.

void Explorer::execute(std::uint32_t position, bool is_replay) {
  ++counts_.events;
  const std::uint32_t slot = slot_of(nodes_[position].chosen);
  position_ = position;
  is_replay_ = is_replay;
  next_answer_ = 0;
  cancelled_here_.clear();
  Node& node = nodes_[position];
  const sim::Event& event = world_->event(slot);
  if (!is_replay) {
    node.mark = constraints_.mark();
    node.pauses_before = pauses_.size();
    node.process = event.process;
    node.channel = event.channel;
    node.cause = event.cause == 0 ? kNone : event.cause - 1;
    node.process_before = last_at_[event.process.index];
    node.fifo_before = event.channel < last_on_.size() ? last_on_[event.channel] : kNone;
    node.delay = {event.base.offset() + event.delay.lo, event.base.offset() + event.delay.hi};
    if (node.cause != kNone) {
      // Whether it left at its cause or at the end of the pause that held it back, the anchor is where it left.
      const sim::Duration left = nodes_[node.cause].at.offset();
      node.delay = {node.delay.lo - left, node.delay.hi - left};
    }
    node.past.clear();
    for (const std::uint32_t before : {node.cause, node.process_before}) {
      if (before != kNone) join(node.past, nodes_[before].past);
    }
    set_bit(node.past, position);
  }
  if (is_replay) {
    next_answer_ = node.own_answers;
  } else {
    node.pause = PauseKind::none;
    if (may_pause(event.process) && node.pauses_before < options_.pauses.times) {
      node.pause = static_cast<PauseKind>(ask(3));
    }
    place_in_time(node, event);
    node.own_answers = next_answer_;
    for (const sim::Instant instant : {node.at, node.process_free}) note_earliest(instant);
  }

  sim::ProcessState& process = world_->state(event.process);
  is_held_back_ = node.pause == PauseKind::held_back;
  if (is_held_back_) {
    process.was_paused = true;
    process.frozen_until = held_back_until_ = node.process_free;
  }
  last_at_[event.process.index] = position;
  if (event.channel != sim::Event::kNoChannel) {
    if (event.channel >= last_on_.size()) last_on_.resize(event.channel + 1, kNone);
    last_on_[event.channel] = position;
  }
  pending_.erase(std::find(pending_.begin(), pending_.end(), slot));
  const sim::Instant at = node.at;
  world_->execute(slot, at);
  process.was_paused = false;
  is_held_back_ = false;
}

/// The constraints of an event: it arrives within its delay, after what was sent before it on its channel, and is handled
/// when its process is free, which a pause may put off.
void Explorer::place_in_time(Node& node, const sim::Event& event) {
  if (ghost_from_) {
    // Time means nothing any more; but instants need a variable.
    node.at = node.arrived = node.process_free = sim::Instant::origin();
    node.frees_late = false;
    return;
  }
  const Node* before = node_at(node.process_before);
  const sim::Instant free = before != nullptr ? before->process_free : sim::Instant::origin();
  const auto on_channel = [&](sim::Instant arrival) {
    if (const Node* earlier = node_at(node.fifo_before)) at_most(earlier->arrived, arrival);
  };
  node.frees_late = false;

  if (node.pause == PauseKind::late) {
    node.arrived = fresh();
    arrive_within(node.arrived, event);
    on_channel(node.arrived);
    node.at = fresh();
    node.process_free = node.at;
    if (event.kind == sim::EventKind::timer && event.timer_kind == sim::TimerKind::work) {
      // The pause is somewhere within the work, which takes that much longer. Whatever else reaches the client meanwhile
      // is taken to come before or after the pause: a client that works does one thing at a time.
      at_most(free, node.arrived);
      between(node.arrived, node.at, options_.pauses.length);
      pauses_.push_back({event.process, node.arrived, node.at});
    } else {
      const sim::Instant begin = fresh();
      at_most(free, begin);
      at_most(begin, node.arrived);
      at_most(node.arrived, node.at);
      between(begin, node.at, options_.pauses.length);
      pauses_.push_back({event.process, begin, node.at});
      node.frees_late = true;
      node.frozen_from = begin;
    }
    return;
  }

  node.at = node.arrived = fresh();
  const bool may_have_waited = before != nullptr && before->frees_late;
  const auto waited = [&] {
    // It arrived while its process was frozen, and is handled at the end of that.
    const sim::Instant arrival = fresh();
    arrive_within(arrival, event);
    on_channel(arrival);
    at_most(before->frozen_from, arrival);
    at_most(before->arrived, arrival);
    at_most(arrival, free);
    between(free, node.at, sim::DurationRange::exactly(sim::Duration::zero()));
    node.arrived = arrival;
    return !ghost_from_.has_value();
  };
  const auto did_not_wait = [&] {
    node.arrived = node.at;
    arrive_within(node.at, event);
    on_channel(node.at);
    at_most(free, node.at);
    return !ghost_from_.has_value();
  };
  if (may_have_waited) {
    node.frees_late = decide(waited, did_not_wait);
    node.frozen_from = before->frozen_from;
  } else {
    did_not_wait();
  }
  node.process_free = node.at;

  if (node.pause == PauseKind::held_back) {
    node.process_free = fresh();
    between(node.at, node.process_free, options_.pauses.length);
    pauses_.push_back({event.process, node.at, node.process_free});
    node.frees_late = true;
    node.frozen_from = node.at;
  }
}

/// The bound of this moment; what follows may raise it, which costs the order of picking nothing but a little sense.
void Explorer::note_earliest(sim::Instant instant) {
  if (earliest_.size() <= instant.anchor()) earliest_.resize(instant.anchor() + 1);
  std::optional<Extent> least;
  if (!ghost_from_) least = constraints_.least_difference(0, instant.anchor());
  earliest_[instant.anchor()] = least ? least->value : sim::Duration::zero();
}

void Explorer::arrive_within(sim::Instant arrival, const sim::Event& event) {
  between(event.base, arrival, event.delay);
}

sim::Instant Explorer::fresh() { return sim::Instant(constraints_.add_variable(), sim::Duration::zero()); }

void Explorer::at_most(sim::Instant a, sim::Instant b) {
  if (!ghost_from_ && !constraints_.add_at_most(a, b, false)) ghost_from_ = position_;
}

void Explorer::between(sim::Instant from, sim::Instant to, sim::DurationRange length) {
  at_most(from + length.lo, to);
  at_most(to, from + length.hi);
}

bool Explorer::may_pause(sim::ProcessId process) const {
  const std::vector<sim::ProcessId>& who = options_.pauses.who;
  return options_.pauses.times > 0 && std::find(who.begin(), who.end(), process) != who.end();
}

// --- What the world asks.

std::uint64_t Explorer::ask(std::uint64_t options) {
  if (options < 2 || (ghost_from_ && !is_replay_)) return 0;
  std::vector<Answer>& answers = nodes_[position_].answers;
  if (next_answer_ == answers.size()) answers.push_back({options, 0});
  assert(answers[next_answer_].options == options && "the world did not ask again what it asked before");
  return answers[next_answer_++].index;
}

/// Answers that follow from the constraints are noted all the same, since a replay does not look at the constraints.
bool Explorer::decide(const std::function<bool()>& yes, const std::function<bool()>& no) {
  if (ghost_from_ && !is_replay_) return false;
  std::vector<Answer>& answers = nodes_[position_].answers;
  if (next_answer_ == answers.size()) {
    const auto is_feasible = [&](const std::function<bool()>& answer) {
      const DifferenceConstraints::Mark mark = constraints_.mark();
      const bool feasible = answer();
      constraints_.undo(mark);
      ghost_from_.reset();
      return feasible;
    };
    const bool can_be = is_feasible(yes);
    const bool cannot_be = is_feasible(no);
    if (can_be && cannot_be) {
      answers.push_back({2, 0});
    } else {
      answers.push_back({1, cannot_be ? std::uint64_t{1} : std::uint64_t{0}});
    }
  }
  const bool answer = answers[next_answer_++].index == 0;
  if (!is_replay_) answer ? yes() : no();
  return answer;
}

bool Explorer::is_at_or_after(sim::Instant a, sim::Instant b) {
  // A process that holds its messages back asks whether it is done with that: the end of the pause has not come yet.
  if (is_held_back_ && b.identical(held_back_until_)) return false;
  const auto add = [&](sim::Instant x, sim::Instant y, bool strict) {
    if (!ghost_from_ && !constraints_.add_at_most(x, y, strict)) ghost_from_ = position_;
    return !ghost_from_.has_value();
  };
  return decide([&] { return add(b, a, false); }, [&] { return add(a, b, true); });
}

sim::Instant Explorer::later_of(sim::Instant a, sim::Instant b) { return is_at_or_after(a, b) ? a : b; }

std::uint64_t Explorer::choose(sim::Choice, std::uint64_t options, sim::EventId) { return ask(options); }

void Explorer::emitted(std::uint32_t slot) { pending_.push_back(slot); }

void Explorer::cancelled(std::uint32_t slot) {
  pending_.erase(std::find(pending_.begin(), pending_.end(), slot));
  if (is_replay_) return;
  const sim::Event& event = world_->event(slot);
  if (event.cause == position_ + 1) return;  // set and cancelled by the same event: nothing could come in between
  cancelled_here_.push_back(
      {event.id, event.cause == 0 ? kNone : event.cause - 1, event.base.offset() + event.delay.lo});
  // Had it been due before, it would have fired.
  at_most(nodes_[position_].arrived, event.base + event.delay.hi);
}

void Explorer::postponed(std::uint32_t, sim::Duration) {
  assert(false && "pauses are the explorer's own here, and none of them grows");
}

// --- Races.

bool Explorer::happens_before(std::uint32_t a, std::uint32_t b) const { return has_bit(nodes_[b].past, a); }

void Explorer::schedule(Node& node, sim::EventId event) {
  if (std::find(node.backtrack.begin(), node.backtrack.end(), event) == node.backtrack.end())
    node.backtrack.push_back(event);
}

void Explorer::find_races(std::uint32_t position) {
  if (!options_.reduction) return;
  Node& node = nodes_[position];
  if (options_.mutant != Mutant::forget_cancelled) {
    for (const Cancelled& timer : cancelled_here_) {
      if (!is_always_before(position, timer.cause, timer.least_delay)) schedule(node, timer.id);
    }
  }
  const std::uint32_t earlier = node.process_before;
  if (earlier == kNone || earlier == node.fifo_before || options_.mutant == Mutant::forget_races) return;
  if (node.cause != kNone && happens_before(earlier, node.cause)) return;
  if (is_always_before(earlier, node.cause, node.delay.lo)) return;
  add_reversal(earlier, position);
}

/// Whether `event` arrives, in every execution, before something of the same process that comes `least_delay` or more after
/// `cause`. Follows the causes of `event` up to `cause`, with the longest delays. What may be paused on the way has no longest.
bool Explorer::is_always_before(std::uint32_t event, std::uint32_t cause, sim::Duration least_delay) const {
  sim::Duration longest = sim::Duration::zero();
  for (std::uint32_t at = event;; at = nodes_[at].cause) {
    longest += nodes_[at].delay.hi;
    if (nodes_[at].cause == cause) return longest < least_delay;
    if (nodes_[at].cause == kNone) return false;
    if (may_pause(nodes_[nodes_[at].cause].process)) return false;
  }
}

/// The part of the trace after `earlier` that does not depend on it, and then `later`, could have come first. One of the
/// events that can begin that part has to be tried in place of `earlier`, unless one already is.
void Explorer::add_reversal(std::uint32_t earlier, std::uint32_t later) {
  std::vector<std::uint32_t> part;
  for (std::uint32_t i = earlier + 1; i < later; ++i) {
    if (!happens_before(earlier, i)) part.push_back(i);
  }
  part.push_back(later);
  Node& node = nodes_[earlier];
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool is_initial = std::none_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(i),
                                         [&](std::uint32_t other) { return happens_before(other, part[i]); });
    if (!is_initial) continue;
    const sim::EventId candidate = nodes_[part[i]].chosen;
    if (std::find(node.backtrack.begin(), node.backtrack.end(), candidate) != node.backtrack.end()) return;
  }
  schedule(node, nodes_[part.front()].chosen);
}

bool Explorer::back_up() {
  while (depth_ > 0) {
    Node& node = nodes_[depth_ - 1];
    constraints_.undo(node.mark);
    pauses_.resize(node.pauses_before);
    while (!node.answers.empty()) {
      Answer& last = node.answers.back();
      if (last.options > 1 && last.index + 1 < last.options) {
        ++last.index;
        return true;
      }
      node.answers.pop_back();
    }
    node.sleep.push_back({node.chosen, node.process});
    for (const sim::EventId next : node.backtrack) {
      const bool sleeps =
          std::any_of(node.sleep.begin(), node.sleep.end(), [&](const Sleeping& s) { return s.id == next; });
      if (sleeps) continue;
      node.chosen = next;
      return true;
    }
    --depth_;
  }
  return false;
}

std::vector<ExploredEvent> Explorer::trace() const {
  std::vector<ExploredEvent> events;
  for (std::size_t i = 0; i < depth_; ++i) {
    const Node& node = nodes_[i];
    events.push_back({node.chosen, node.process, node.at, node.cause, std::nullopt});
    if (node.pause == PauseKind::held_back) events.back().held_back_until = node.process_free;
  }
  return events;
}

}  // namespace lockstep::checker
