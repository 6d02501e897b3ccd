#include "checker/explorer/explorer.hpp"
#include "sim/last_words.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace lockstep::checker {
namespace {

constexpr std::uint64_t kRunsBetweenQuestions = 64;

/// The same answers, whether they were forced or chosen.
bool are_same(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Answer& x, const Answer& y) {
    return x.index == y.index && (x.options == y.options || x.options == 1 || y.options == 1);
  });
}

}  // namespace

using Mutant = ExplorerOptions::Mutant;
using Kind = ExploredFault::Kind;

bool is_asleep(std::span<const Sleeping> sleep, sim::EventId event) {
  std::uint32_t variants = 0;
  std::uint32_t least = 0;
  for (const Sleeping& s : sleep) {
    if (s.id != event) continue;
    least = variants == 0 ? s.variants : std::min(least, s.variants);
    ++variants;
  }
  return variants > 0 && variants >= least;
}

bool is_one_asleep(std::span<const Sleeping> sleep, std::span<const Scheduled> candidates) {
  return !sleep.empty() && std::any_of(candidates.begin(), candidates.end(),
                                       [&](const Scheduled& event) { return is_asleep(sleep, event.id); });
}

ExplorerCounts& ExplorerCounts::operator+=(const ExplorerCounts& more) {
  traces += more.traces;
  blocked += more.blocked;
  infeasible += more.infeasible;
  events += more.events;
  complete = complete && more.complete;
  return *this;
}

Explorer::Explorer(ExplorerOptions options) : options_(std::move(options)) {
  std::size_t at_most_armed = 0;
  for (const FaultBudget& budget : options_.faults) {
    may_lose_ = may_lose_ || budget.kind == Kind::lose;
    may_crash_ = may_crash_ || budget.kind == Kind::crash;
    may_delay_ = may_delay_ || budget.kind == Kind::delay;
    may_be_late_ = may_be_late_ || budget.kind == Kind::delay || budget.kind == Kind::partition;
    if (budget.kind == Kind::crash || budget.kind == Kind::jump) at_most_armed += budget.times;
    if (budget.kind != Kind::pause) continue;
    const bool is_of_work = budget.during == sim::Activity::work;
    asks_afterwards_ = asks_afterwards_ || (!is_of_work && budget.during != sim::Activity::anything);
    for (const sim::ProcessId process : budget.who) {
      for (std::vector<bool>* may : {&may_pause_, is_of_work ? nullptr : &may_pause_anywhere_}) {
        if (may == nullptr) continue;
        if (may->size() <= process.index) may->resize(process.index + 1u, false);
        (*may)[process.index] = true;
      }
    }
  }
  armed_.resize(at_most_armed);
}

// --- The search.

ExplorerCounts Explorer::explore(Explorable& subject, const Visitor& visit) {
  return explore(subject, Branch{}, {.traces = options_.max_traces}, visit).counts;
}

BranchOutcome Explorer::explore(Explorable& subject, const Branch& branch, BranchLimits limits, const Visitor& visit) {
  start(subject);
  BranchOutcome outcome;
  outcome_ = &outcome;
  follow(branch);
  for (std::uint64_t runs = 1;; ++runs) {
    if (runs % kRunsBetweenQuestions == 0 && options_.gives_up && options_.gives_up()) {
      outcome.given_up = true;
      break;
    }
    if (!advance(visit)) {
      outcome.stopped = !outcome.too_long;
      break;
    }
    const bool is_full = (limits.traces != 0 && counts_.traces >= limits.traces) ||
                         (limits.events != 0 && counts_.events >= limits.events);
    // What was run beyond the first infeasible event only served to find races.
    if (ghost_from_) depth_ = *ghost_from_ + 1;
    if (is_full) outcome.rest = rest_of(branch);
    if (is_full ? outcome.rest.empty() : !back_up()) {
      counts_.complete = true;
      break;
    }
    if (is_full) break;
  }
  {
    // Nobody must ask the explorer about what is left in the world.
    const sim::Region::Inside inside(region_);
    world_->restart();
  }
  tell_others(outcome);
  outcome.counts = counts_;
  outcome_ = nullptr;
  return outcome;
}

void Explorer::start(Explorable& subject) {
  subject_ = &subject;
  world_ = &subject.world();
  world_->set_scheduler(*this);
  // An observer sees each trace from its beginning.
  region_ = subject.region();
  goes_back_ = region_ != nullptr && options_.goes_back && options_.observer == nullptr;
  const bool is_same = goes_back_ && region_->claim(this);
  // Of the branch before, what led there stands.
  forget_from(is_same && own_from_ > 0 ? own_from_ - 1 : 0);
  counts_ = {};
  depth_ = 0;
  picks_again_ = false;
  dead_from_.reset();
  ghost_from_.reset();
  put_alike_in_order();
}

/// Of the present trace only what comes before this event stands.
void Explorer::forget_from(std::size_t position) {
  while (built_ > position) undo(nodes_[--built_]);
  while (saved_count_ > 0 && saved_[saved_count_ - 1].position > position) --saved_count_;
  if (position > 0) return;
  saved_count_ = 0;
  root_answers_.clear();
  faults_.clear();
  parametric_.clear();
  widened_ = 0;
  constraints_.clear();
  raised_.clear();
  earliest_.assign(1, sim::Duration::zero());
}

/// What the event of this node, the last that stands, has added.
void Explorer::undo(const Node& node) {
  constraints_.undo(node.mark);
  lower_to(node.raised_before);
  faults_.resize(node.faults_before);
  parametric_.erase(parametric_.begin() + static_cast<std::ptrdiff_t>(node.parametric_before), parametric_.end());
  widened_ = node.widened_before;
}

/// Brings the world to a state from which the present trace goes on, and says at which position: the nearest that is known, or the beginning.
std::uint32_t Explorer::go_back() {
  while (saved_count_ > 0 && saved_[saved_count_ - 1].position >= depth_) --saved_count_;
  goes_back_ = goes_back_ && region_->is_whole();
  if (!goes_back_ || saved_count_ == 0) {
    begin_again();
    return 0;
  }
  const Saved& saved = saved_[saved_count_ - 1];
  region_->restore(saved.world);
  pending_ = saved.pending;
  last_at_ = saved.last_at;
  if (options_.mutant == Mutant::forget_last) last_at_.assign(last_at_.size(), kNone);
  last_on_ = saved.last_on;
  coda_from_ = saved.coda_from;
  coda_after_ = saved.coda_after;
  ghost_from_.reset();
  counts_.events += saved.position;
  return saved.position;
}

void Explorer::save(std::uint32_t position) {
  if (saved_count_ == saved_.size()) saved_.emplace_back();
  Saved& saved = saved_[saved_count_++];
  saved.position = position;
  region_->save(saved.world);
  saved.pending = pending_;
  saved.last_at = last_at_;
  saved.last_on = last_on_;
  saved.coda_from = coda_from_;
  saved.coda_after = coda_after_;
}

/// Whether something is left to be tried in place of the node's event, or with other answers.
bool Explorer::is_open(const Node& node) const {
  for (const Answer& answer : node.answers) {
    if (answer.index + 1 < answer.options) return true;
  }
  return std::any_of(node.backtrack.begin(), node.backtrack.end(),
                     [&](const Wakeup& next) { return next.id != node.chosen && !is_asleep(node.sleep, next.id); });
}

/// What is sure to be come back to, and now and then another: then no way from a saved moment is long. How often hardly matters: a copy
/// costs as much as some ten events.
bool Explorer::is_worth_saving(std::uint32_t position) const {
  if (!goes_back_ || ghost_from_ || !region_->is_whole()) return false;
  if (saved_count_ == 0) return true;
  constexpr std::size_t bytes_most = std::size_t{32} << 20;
  if (saved_count_ * region_->used_bytes() > bytes_most) return false;
  constexpr std::uint32_t now_and_then = 16;
  constexpr std::uint32_t least_distance = 4;
  const std::uint32_t distance = position - saved_[saved_count_ - 1].position;
  return distance >= now_and_then || (distance >= least_distance && position < built_ && is_open(nodes_[position]));
}

void Explorer::begin_again() {
  {
    const sim::Region::Inside inside(region_);
    world_->restart();
    if (may_be_late_) world_->reunite();
  }
  saved_count_ = 0;
  pending_.clear();
  last_at_.assign(world_->process_count(), kNone);
  last_on_.clear();
  ghost_from_.reset();
  coda_from_.reset();
  position_ = kNone;
  next_answer_ = 0;
  is_replay_ = false;
  decide_beforehand();
  {
    const sim::Region::Inside inside(region_);
    subject_->begin();
    for (std::size_t i = 0; i < armed_count_; ++i) {
      world_->arm(armed_[i].fault, {sim::Duration::zero(), sim::Duration::forever()});
    }
  }
  if (options_.observer != nullptr) options_.observer->began(*this);
}

/// Runs what the trace is to begin with; only its last event is new. False: that sleeps with the answers that it was given.
bool Explorer::run_way() {
  for (std::uint32_t i = go_back(); i < depth_; ++i) {
    if (!world_->is_busy() && !coda_from_ && !is_pending(nodes_[i].chosen) && !begin_coda(i, true))
      sim::end_with_divergence();
    const bool is_replay = i < built_;
    if (is_worth_saving(i)) save(i);
    execute(i, is_replay);
    if (i + 1 == depth_ && leads_nowhere(i)) {
      built_ = depth_;
      return false;
    }
    if (!is_replay && has_failed(i)) {
      built_ = depth_;
      return false;
    }
    nodes_[i].has_tried = nodes_[i].may_live = true;
    if (is_replay) continue;
    // Races on the way to a branch were found by whoever came there first.
    const bool is_of_others = i + 1 < own_from_;
    is_of_others ? fill_past(i) : find_races(i);
  }
  built_ = depth_;
  return true;
}

/// Runs the trace to its end. False: the visitor has had enough, or the trace is too long.
bool Explorer::advance(const Visitor& visit) {
  if (!run_way()) return true;
  while (!is_quiet() || begin_coda(depth_, false)) {
    if (depth_ >= options_.max_steps) {
      outcome_->too_long = true;
      return false;
    }
    if (ghost_from_ && options_.mutant == Mutant::cut_infeasible) break;
    if (!go_on()) return true;
  }
  if (ghost_from_) {
    ++counts_.infeasible;
    return true;
  }
  if (has_idle_partition()) {
    ++counts_.blocked;
    return true;
  }
  ++counts_.traces;
  return visit(*this);
}

/// Executes one more event. False: nothing is left to be tried here.
bool Explorer::go_on() {
  if (is_worth_saving(static_cast<std::uint32_t>(depth_))) save(static_cast<std::uint32_t>(depth_));
  if (nodes_.size() == depth_) nodes_.emplace_back();
  Node& node = nodes_[depth_];
  if (!picks_again_) {
    node.has_tried = node.tried_before = false;
    node.backtrack.clear();
    node.answers.clear();
    node.sleep.clear();
    node.done.clear();
    if (depth_ > 0 && options_.reduction) {
      const Node& parent = nodes_[depth_ - 1];
      for (const Sleeping& sleeping : parent.sleep) {
        const bool is_dependent = sleeping.process == parent.process && sleeping.footprint.conflicts(parent.footprint);
        if (!is_dependent || options_.mutant == Mutant::never_wake) node.sleep.push_back(sleeping);
      }
    }
  }
  std::optional<std::uint32_t> slot = next_to_follow(node);
  if (!slot) slot = pick(node);
  picks_again_ = false;
  if (!slot || sleeps_for_good(node) || comes_after_all_sleepers(node, world_->event(*slot))) {
    // Those who wait for somebody alike who will never come do so for ever: no execution of the world, only a place for races.
    const bool is_dead_end = !slot && node.sleep.empty();
    const bool is_impossible =
        std::any_of(node.sleep.begin(), node.sleep.end(), [](const Sleeping& s) { return s.is_impossible; });
    ++(ghost_from_ || is_dead_end || is_impossible ? counts_.infeasible : counts_.blocked);
    return false;
  }
  node.chosen = world_->event(*slot).id;
  node.may_live = node.lived_before = node.is_impossible = false;
  node.conflict.clear();
  node.backtrack.push_back({{node.chosen, world_->event(*slot).process}, {}});
  if (!options_.reduction && !coda_from_) {
    for (const std::uint32_t other : pending_) {
      const sim::Event& event = world_->event(other);
      if (other != *slot && is_enabled(other)) node.backtrack.push_back({{event.id, event.process}, {}});
    }
  }
  ++depth_;
  execute(static_cast<std::uint32_t>(depth_ - 1), false);
  built_ = depth_;
  if (leads_nowhere(static_cast<std::uint32_t>(depth_ - 1))) return false;
  if (has_failed(static_cast<std::uint32_t>(depth_ - 1))) return false;
  nodes_[depth_ - 1].has_tried = nodes_[depth_ - 1].may_live = true;
  find_races(static_cast<std::uint32_t>(depth_ - 1));
  return true;
}

/// Whether the world has something to do after everything has come to rest.
bool Explorer::begin_coda(std::size_t position, bool is_due) {
  if (ghost_from_ || coda_from_) return false;
  std::optional<sim::Duration> after;
  {
    const sim::Region::Inside inside(region_);
    after = subject_->begin_coda(is_due);
  }
  if (!after || !world_->is_busy()) return false;
  coda_from_ = position;
  coda_after_ = *after;
  return true;
}

/// Whether all is over: nothing is pending, or nothing but ticks that come after the story.
bool Explorer::is_quiet() {
  if (world_->is_busy()) return false;
  if (coda_from_ || options_.mutant == Mutant::no_late_ticks) return true;
  return std::none_of(pending_.begin(), pending_.end(),
                      [&](std::uint32_t slot) { return can_come_first(world_->event(slot)); });
}

/// Whether a pending tick may be due before something that has happened. Where time means nothing any more, each
/// process's next tick is let through once, since it may hold the race that is looked for.
bool Explorer::can_come_first(const sim::Event& tick) {
  if (ghost_from_) {
    std::uint32_t cause = tick.cause == 0 ? kNone : tick.cause - 1;
    while (cause != kNone && !(cause >= *ghost_from_ && nodes_[cause].is_of_tick)) cause = nodes_[cause].cause;
    return cause == kNone;
  }
  for (std::uint32_t i = 0; i < depth_; ++i) {
    // A fault may come as late as it likes, and changes nothing for others.
    if (nodes_[i].is_of_tick || nodes_[i].event.kind == sim::EventKind::fault) continue;
    if (constraints_.can_be_at_most(tick.base + tick.delay.lo, nodes_[i].at, true)) return true;
  }
  return false;
}

/// Whether nothing but ticks goes on, and the next one comes later than all that is asleep: what follows has been explored
/// where that was executed, and would go on here for ever.
bool Explorer::comes_after_all_sleepers(const Node& node, const sim::Event& tick) {
  if (node.sleep.empty() || tick.timer_kind != sim::TimerKind::tick || tick.kind != sim::EventKind::timer) return false;
  for (const std::uint32_t slot : pending_) {
    const sim::Event& event = world_->event(slot);
    if (event.kind == sim::EventKind::timer && event.timer_kind == sim::TimerKind::tick) continue;
    const bool waits_for_sleeper = !is_enabled(slot);
    if (waits_for_sleeper) continue;
    if (!is_asleep(node.sleep, event.id)) return false;
    // A fault may come as late as it likes, and time means nothing here any more: neither ever comes to its end.
    if (event.kind == sim::EventKind::fault || ghost_from_) continue;
    if (event.is_anchored || event.delay.hi >= sim::Duration::forever()) return false;
    if (may_delay_ && event.kind == sim::EventKind::message) return false;
    const sim::Instant latest = event.base + event.delay.hi + longest_pause(event.process);
    if (constraints_.can_be_at_most(tick.base + tick.delay.lo, latest)) return false;
  }
  return !can_come_first(tick);
}

/// All that pauses can hold a process back.
sim::Duration Explorer::longest_pause(sim::ProcessId process) const {
  sim::Duration sum = sim::Duration::zero();
  for (const FaultBudget& budget : options_.faults) {
    if (budget.kind != ExploredFault::Kind::pause) continue;
    if (std::find(budget.who.begin(), budget.who.end(), process) == budget.who.end()) continue;
    sum = sum + budget.range.hi * budget.times;
  }
  return sum;
}

/// Where time means nothing any more, all instants are the origin. Ticks would then come before everything that is still to
/// come, for ever: so what comes of them is counted on from the tick before.
sim::Duration Explorer::due(const sim::Event& event) const {
  const std::uint32_t cause = event.cause == 0 ? kNone : event.cause - 1;
  const bool is_timeless = ghost_from_ && cause != kNone && cause >= *ghost_from_;
  if (is_timeless && nodes_[cause].is_of_tick) return nodes_[cause].due + event.delay.lo;
  return earliest_[event.base.variable()] + event.base.offset() + event.delay.lo;
}

/// What comes after the chosen event of this node, where that was chosen to reverse a race.
void Explorer::follow_wakeup(const Node& node) {
  const auto wakeup = std::find_if(node.backtrack.begin(), node.backtrack.end(),
                                   [&](const Wakeup& next) { return next.id == node.chosen; });
  if (wakeup != node.backtrack.end()) follows_.assign(wakeup->then.rbegin(), wakeup->then.rend());
}

/// The rest of a reversal, whatever time says of it: else the search would go on as time does, away from what the reversal was to try, and often to where all
/// that is left sleeps. What cannot come any more is passed over.
std::optional<std::uint32_t> Explorer::next_to_follow(const Node& node) {
  while (!follows_.empty()) {
    const sim::EventId next = follows_.back();
    follows_.pop_back();
    const auto slot = std::find_if(pending_.begin(), pending_.end(),
                                   [&](std::uint32_t other) { return world_->event(other).id == next; });
    if (slot != pending_.end() && is_enabled(*slot) && !is_asleep(node.sleep, next)) return *slot;
  }
  return std::nullopt;
}

/// The event that can be earliest: so that a trace goes on as time does, and orders that no delays allow are met late.
std::optional<std::uint32_t> Explorer::pick(Node& node) {
  std::optional<std::uint32_t> best;
  sim::Duration best_time;
  for (const std::uint32_t slot : pending_) {
    const sim::Event& event = world_->event(slot);
    // The coda is no part of the story; the ticks of the story have come to their end.
    if (coda_from_ && event.kind == sim::EventKind::timer && event.timer_kind == sim::TimerKind::tick) continue;
    if ((!node.sleep.empty() && is_asleep(node.sleep, event.id)) || !is_enabled(slot)) continue;
    const sim::Duration time = due(event);
    if (best && time >= best_time) continue;
    best = slot;
    best_time = time;
  }
  return best;
}

bool Explorer::is_enabled(std::uint32_t slot) const {
  const std::uint32_t channel = world_->event(slot).channel;
  if (!alike_before_.empty() && waits_for_alike(world_->event(slot))) return false;
  if (channel == sim::Event::kNoChannel) return true;
  for (const std::uint32_t other : pending_) {
    if (other == slot) return true;
    if (world_->event(other).channel == channel) return false;
  }
  return true;
}

bool Explorer::is_pending(sim::EventId id) const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](std::uint32_t slot) { return world_->event(slot).id == id; });
}

std::uint32_t Explorer::slot_of(sim::EventId id) const {
  for (const std::uint32_t slot : pending_) {
    if (world_->event(slot).id == id) return slot;
  }
  sim::end_with_divergence();
}

/// The next answer after these, keeping the first `fixed`. False: there is none.
bool Explorer::try_next_answer(std::vector<Answer>& answers, std::size_t fixed) {
  while (answers.size() > fixed) {
    Answer& last = answers.back();
    if (last.index + 1 < last.options) {
      ++last.index;
      return true;
    }
    answers.pop_back();
  }
  return false;
}

bool Explorer::back_up() {
  follows_.clear();
  for (; depth_ > own_from_; --depth_) {
    Node& node = nodes_[depth_ - 1];
    undo(node);
    built_ = depth_ - 1;
    if (dead_from_) {
      if (depth_ - 1 > *dead_from_) continue;
      dead_from_.reset();
      node.is_impossible = true;
      node.has_tried = node.tried_before;
    }
    node.tried_before = node.has_tried;
    node.lived_before = node.may_live;
    node.done.push_back(
        {node.chosen, node.process, node.footprint, node.answers, std::exchange(node.is_impossible, false)});
    if (try_next_answer(node.answers, 0)) {
      follow_wakeup(node);
      return true;
    }
    give_up(node);
    if (dead_from_) continue;
    if (options_.mutant == Mutant::forget_forks) node.done.erase(node.done.begin(), node.done.end() - 1);
    std::erase_if(node.sleep, [&](const Sleeping& sleeping) { return sleeping.id == node.chosen; });
    for (Sleeping& variant : node.done) {
      variant.variants = static_cast<std::uint32_t>(node.done.size());
      node.sleep.push_back(std::move(variant));
    }
    node.done.clear();
    for (const Wakeup& next : node.backtrack) {
      if (is_asleep(node.sleep, next.id)) continue;
      node.chosen = next.id;
      follow_wakeup(node);
      node.may_live = node.lived_before = false;
      node.conflict.clear();
      return true;
    }
    // Who was picked turned out to sleep, with the only answers that it could be given; so it was not to be picked.
    if (!node.has_tried && options_.reduction && options_.mutant != Mutant::picks_once) {
      picks_again_ = true;
      --depth_;
      return true;
    }
  }
  const bool is_dead = dead_from_ && (depth_ == 0 || depth_ - 1 > *dead_from_);
  dead_from_.reset();
  if (is_dead) return false;
  // Of the last step before this branch, the answers beyond the fixed ones are the branch's own.
  if (depth_ == 0) {
    constraints_.clear();
    raised_.clear();
    faults_.clear();
    built_ = 0;
    return try_next_answer(root_answers_, fixed_answers_);
  }
  Node& node = nodes_[depth_ - 1];
  undo(node);
  built_ = depth_ - 1;
  node.done.push_back({node.chosen, node.process, node.footprint, node.answers});
  follow_wakeup(node);
  return try_next_answer(node.answers, fixed_answers_);
}

/// Whether the event, with the answers that it has just been given, is no part of an execution, or of one that is explored elsewhere.
bool Explorer::leads_nowhere(std::uint32_t position) {
  if (is_void(position)) {
    nodes_[position].may_live = true;
    return true;
  }
  if (!is_redundant(nodes_[position])) return false;
  note_redundant(position);
  return true;
}

/// Whether the event sleeps with the answers that it has just been given: then an equivalent trace is explored elsewhere. Nothing is
/// lost but the one event, so this is no blocked execution.
bool Explorer::is_redundant(const Node& node) const {
  return std::any_of(node.sleep.begin(), node.sleep.end(), [&](const Sleeping& sleeping) {
    return sleeping.id == node.chosen && are_same(sleeping.answers, node.answers);
  });
}

// --- What is known of the trace.

std::vector<ExploredEvent> Explorer::trace() const {
  std::vector<ExploredEvent> events;
  for (std::size_t i = 0; i < depth_; ++i) {
    const Node& node = nodes_[i];
    ExploredEvent& event = events.emplace_back(node.event);
    event.id = node.chosen;
    event.process = node.process;
    event.channel = node.channel;
    event.cause = node.cause;
    event.arrived = node.arrived;
    event.at = node.at;
  }
  return events;
}

}  // namespace lockstep::checker
