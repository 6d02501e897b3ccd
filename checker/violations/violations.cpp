#include "checker/violations/violations.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "checker/properties/evidence.hpp"
#include "checker/properties/places.hpp"
#include "checker/time/parameter_space.hpp"
#include "sim/invariant.hpp"
#include "sim/stop.hpp"

namespace lockstep::checker {

std::span<const Violation> ViolationFinder::find(const sim::History& history, std::span<const ExploredFault> faults,
                                                 std::span<const sim::ProcessId> resources,
                                                 const RecoverableQuestion* question,
                                                 std::optional<sim::Duration> deadlock_lasting,
                                                 const WakeupQuestion* wakeup) {
  resources_ = resources;
  read(history, faults, question);
  found_count_ = 0;
  mutual_exclusion();
  if (semaphore_.places && !semaphore_.lock.empty()) {
    linearizable_semaphore(static_cast<std::size_t>(*semaphore_.places));
  } else {
    linearizable();
  }
  if (deadlock_lasting) no_deadlock(*deadlock_lasting);
  if (progress_) progress(*progress_);
  own_release();
  if (semaphore_.places) capacity(static_cast<std::size_t>(*semaphore_.places));
  if (semaphore_.overtakings) fairness(static_cast<std::size_t>(*semaphore_.overtakings));
  if (question != nullptr) recoverable(*question);
  order_properties();
  leases_that_run_out();
  if (wakeup != nullptr) lost_wakeups(*wakeup);
  if (!resources.empty()) fencing();
  return {found_.data(), found_count_};
}

void ViolationFinder::read(const sim::History& history, std::span<const ExploredFault> faults,
                           const RecoverableQuestion* question) {
  history_ = &history;
  operations_ = history.operations;
  effects_ = history.effects;
  if (question != nullptr && question->probe.is_valid()) {
    std::size_t first = 0;
    while (first < operations_.size() && operations_[first].process != question->probe) ++first;
    if (first < operations_.size()) {
      const sim::Step begin = operations_[first].invoked_in;
      operations_ = operations_.first(first);
      std::size_t effects = 0;
      while (effects < effects_.size() && effects_[effects].step < begin) ++effects;
      effects_ = effects_.first(effects);
    }
  }
  sim::costly_invariant(
      [&] {
        std::size_t next = 0;
        return std::all_of(history.operations.begin(), history.operations.end(),
                           [&](const sim::Operation& operation) { return operation.id == ++next; });
      },
      "an operation's number is its place in the history");
  sim::costly_invariant(
      [&] {
        std::map<sim::ProcessId, sim::Step> latest;
        return std::all_of(history.effects.begin(), history.effects.end(), [&](const sim::Effect& effect) {
          return std::exchange(latest[effect.server], effect.step) <= effect.step;
        });
      },
      "the effects of a server stand in its order");
  sim::costly_invariant(
      [&] {
        return question == nullptr || std::none_of(operations_.begin(), operations_.end(), [&](const auto& operation) {
                 return question->probe.is_valid() && operation.process == question->probe;
               });
      },
      "what the probe does is no part of the story");
  locks_ = LockObjects(operations_, effects_, history);
  collect_beliefs(history, beliefs_, belief_of_);
  while (!beliefs_.empty() && beliefs_.back().acquire > operations_.size()) beliefs_.pop_back();
  for (std::size_t i = 0; i < beliefs_.size(); ++i)
    sim::invariant(belief_of_[beliefs_[i].acquire] == i, "a belief is found by the acquire that begins it");
  ways_of_.assign(beliefs_.size(), {});
  ways_.clear();
  sides_.clear();
  pauses_.clear();
  for (const ExploredFault& fault : faults) {
    if (!freezes(fault.kind)) continue;
    const bool is_loose = fault.place == ExploredFault::Place::within;
    const auto add = [&](sim::ProcessId process) {
      Pause& pause = pauses_.emplace_back(Pause{process, fault.from, fault.cut_short.value_or(fault.until), is_loose});
      if (!is_loose) return;
      pause.event = fault.event;
      pause.earliest = fault.work_from;
      pause.is_first = true;
      for (Pause& other : pauses_) {
        if (other.process != process || other.event != fault.event) continue;
        other.last = pauses_.size() - 1;
        pause.is_first = pause.is_first && &other == &pause;
      }
    };
    add(fault.process);
    for (const sim::Part& part : history.parts) {
      if (part.host == fault.process) add(part.part);
    }
  }
  for (const sim::Interruption& i : history.interruptions) {
    if (freezes(i.kind)) pauses_.push_back({i.process, i.from, i.until, false});
  }
  for (const Pause& pause : pauses_) {
    if (!pause.is_loose) continue;
    const Pause& last = pauses_[pause.last];
    sim::invariant(last.process == pause.process && last.event == pause.event && last.until,
                   "the pauses of one work are of one process, and the work goes on after them");
  }
}

bool ViolationFinder::is_resource(sim::ProcessId server) const { return checker::is_resource(resources_, server); }

const sim::Operation* ViolationFinder::operation_of(const sim::Effect& effect) const {
  return find_operation(operations_, effect.operation);
}

// --- Ways.

void ViolationFinder::begin(std::string_view property, bool is_widened, sim::ProcessId a, sim::ProcessId b) {
  sim::Stop::ask();
  if (found_count_ == found_.size()) found_.emplace_back();
  current_ = &found_[found_count_];
  current_->property = property;
  current_->is_widened = is_widened;
  current_->constraints.clear();
  current_->sums.clear();
  current_->pauses.clear();
  current_->lasts = false;
  current_->lengths.clear();
  current_->by.clear();
  for (const sim::ProcessId process : {a, b}) {
    if (process.is_valid()) current_->by.push_back(process);
  }
  is_impossible_ = false;
}

void ViolationFinder::require(const Constraint& constraint) {
  if (constraint.bound == Bound::always()) return;
  if (constraint.bound == Bound::never() || (constraint.from == constraint.to && constraint.bound.units() < 0)) {
    is_impossible_ = true;
  } else if (constraint.from != constraint.to) {
    current_->constraints.push_back(constraint);
  }
}

void ViolationFinder::require(sim::Instant a, sim::Instant b, bool strict) {
  require(Constraint::at_most(a, b, strict));
}

void ViolationFinder::require(const SumConstraint& sum) {
  if (std::find(current_->sums.begin(), current_->sums.end(), sum) == current_->sums.end())
    current_->sums.push_back(sum);
}

void ViolationFinder::finish() {
  sim::costly_invariant(
      [&] {
        return std::all_of(current_->by.begin(), current_->by.end(),
                           [&](sim::ProcessId one) { return one.is_valid(); });
      },
      "who is to blame for a violation is somebody");
  if (!is_impossible_) ++found_count_;
}

// --- mutual-exclusion.

const ViolationFinder::BeliefWays& ViolationFinder::alive_ways(std::size_t index) {
  BeliefWays& made = ways_of_[index];
  if (made.end != 0) return made;
  made.begin = ways_.size();
  const Belief& belief = beliefs_[index];
  AliveWay way;
  sim::Step first = sim::no_step;
  for (const auto* ending : {&belief.released, &belief.lost, &belief.crashed}) {
    if (!*ending || (way.event && (*ending)->step >= first)) continue;
    way.event = (*ending)->at;
    first = (*ending)->step;
  }
  if (belief.deadline) way.clock = deadline_of(belief);
  ways_.push_back(way);
  if (belief.deadline && mutant_ != JudgingMutant::deadlines_in_pauses) {
    chain_.clear();
    add_pause_chains(belief, way.event, 0);
  }
  made.end = ways_.size();
  sim::invariant(made.end > made.begin, "there is a way to believe, or it is no belief");
  return made;
}

/// Requires: it has one.
sim::Instant ViolationFinder::deadline_of(const Belief& belief) const {
  constexpr sim::Duration off = sim::Duration::milliseconds(3);
  sim::invariant(belief.deadline.has_value(), "a deadline is asked of a belief that has one");
  if (mutant_ == JudgingMutant::early_deadlines) return belief.deadline->at - off;
  return mutant_ == JudgingMutant::late_deadlines ? belief.deadline->at + off : belief.deadline->at;
}

/// One way for each sequence of pauses that goes on with one from `first_pause` on; and another where that is of a
/// work, for all pauses of that work together, which begin at the end of what has been covered before. (Nothing can
/// follow these without a gap: the rest of the work does.)
void ViolationFinder::add_pause_chains(const Belief& belief, std::optional<sim::Instant> event,
                                       std::size_t first_pause) {
  const auto sides_of_chain = [&](AliveWay& way) {
    way.sides.begin = sides_.size();
    sim::Instant covered_to = deadline_of(belief);
    for (const std::size_t link : chain_) {
      sides_.push_back(Constraint::at_most(pauses_[link].from, covered_to));
      if (pauses_[link].until) covered_to = *pauses_[link].until;
    }
    way.sides.end = sides_.size();
    return covered_to;
  };
  for (std::size_t i = first_pause; i < pauses_.size(); ++i) {
    const Pause& pause = pauses_[i];
    if (pause.process != belief.process) continue;
    if (pause.is_first && mutant_ != JudgingMutant::pauses_begin_late) {
      AliveWay way;
      way.event = event;
      way.clock = sides_of_chain(way);
      way.work_pause = i;
      sides_.push_back(Constraint::at_most(pause.earliest, *way.clock));
      sides_.push_back(Constraint::at_most(*way.clock, pause.from));
      way.sides.end += 2;
      ways_.push_back(way);
    }
    chain_.push_back(i);
    AliveWay way;
    way.event = event;
    way.clock = pause.until;
    sides_of_chain(way);
    for (const std::size_t link : chain_) {
      if (pauses_[link].is_first) way.work_at_end = link;
    }
    ways_.push_back(way);
    // Nothing covers more than a pause without end.
    if (pause.until && mutant_ != JudgingMutant::single_pauses) add_pause_chains(belief, event, i + 1);
    chain_.pop_back();
  }
}

void ViolationFinder::add_alive(const AliveWay& way, sim::Instant moment) {
  if (way.event) require(moment, *way.event, true);
  add_unnoticed(way, moment);
}

/// The same, where it lasts until one of them is alive no more.
void ViolationFinder::add_together(const AliveWay& way, sim::Instant moment) {
  add_alive(way, moment);
  current_->lasts = true;
  if (way.event) current_->lengths.push_back({moment, *way.event});
  if (way.clock && !way.work_pause) current_->lengths.push_back({moment, *way.clock});
}

/// The deadline has not been noticed by then.
void ViolationFinder::add_unnoticed(const AliveWay& way, sim::Instant moment) {
  if (!way.clock) return;
  if (way.work_at_end) begin_pauses(pauses_[*way.work_at_end].event, pauses_[*way.work_at_end].from);
  if (!way.work_pause) {
    require(moment, *way.clock, true);
    return;
  }
  const Pause& first = pauses_[*way.work_pause];
  require(SumConstraint{moment, *way.clock, first.from, *pauses_[first.last].until});
  begin_pauses(first.event, *way.clock);
}

/// The way rests on the pauses of this work beginning here. They cannot begin at two moments: who needs that is left to
/// a replay.
void ViolationFinder::begin_pauses(std::uint32_t event, sim::Instant begin) {
  const auto is_known = [&](const WorkPauses& known) { return known.event == event; };
  const auto known = std::find_if(current_->pauses.begin(), current_->pauses.end(), is_known);
  if (known == current_->pauses.end()) {
    current_->pauses.push_back({event, begin});
  } else if (!known->begin.identical(begin)) {
    current_->is_widened = true;
  }
}

void ViolationFinder::add_sides(Slice sides) {
  for (std::size_t i = sides.begin; i < sides.end; ++i) require(sides_[i]);
}

void ViolationFinder::mutual_exclusion() {
  for (std::size_t i = 0; i < beliefs_.size(); ++i) {
    for (std::size_t j = i + 1; j < beliefs_.size(); ++j) {
      const Belief& a = beliefs_[i];
      const Belief& b = beliefs_[j];
      if (a.process == b.process || a.object != b.object || (a.is_shared && b.is_shared)) continue;
      const BeliefWays ways_a = alive_ways(i);
      const BeliefWays ways_b = alive_ways(j);
      for (std::size_t x = ways_a.begin; x < ways_a.end; ++x) {
        for (std::size_t y = ways_b.begin; y < ways_b.end; ++y) {
          begin("mutual-exclusion", ways_[x].is_widened || ways_[y].is_widened, a.process, b.process);
          // What is most likely impossible first.
          add_together(ways_[x], b.from);
          add_together(ways_[y], a.from);
          add_together(ways_[x], a.from);
          add_together(ways_[y], b.from);
          add_sides(ways_[x].sides);
          add_sides(ways_[y].sides);
          finish();
        }
      }
    }
  }
}

// --- recoverable.

void ViolationFinder::recoverable(const RecoverableQuestion& question) {
  if (!question.probe.is_valid() || mutant_ == JudgingMutant::no_probe) return;
  const sim::Operation* got = nullptr;
  for (const sim::Operation& operation : history_->operations) {
    if (operation.process != question.probe || !is_successful(operation, "acquire")) continue;
    if (got == nullptr || operation.completed_in < got->completed_in) got = &operation;
  }
  const sim::Operation* last = nullptr;
  for (const sim::Operation& operation : operations_) {
    if (!is_successful(operation, "acquire") || was_given_back(operations_, operation)) continue;
    if (last == nullptr || operation.completed_in > last->completed_in) last = &operation;
  }
  const sim::Instant bound = question.quiescent + question.within;
  if (question.visitor_attempt) {
    begin("recoverable", false, last != nullptr ? last->process : sim::ProcessId{}, {});
    if (got != nullptr) {
      require(bound + *question.visitor_attempt, got->completed, true);
      require(got->invoked + *question.visitor_attempt, got->completed, true);
    } else {
      require(bound, question.probed_until, false);
    }
    finish();
    return;
  }
  if (question.is_renewed) {
    // The trace ends where the ticks go on: only a replay tells what they bring.
    begin("recoverable", true, last != nullptr ? last->process : sim::ProcessId{}, {});
    finish();
    return;
  }
  // Had it begun a little earlier or later, it might have had the lock in time: unless it had failed before with as
  // many events, and was too late with that.
  const auto events_of = [](const sim::Operation& operation) { return operation.completed_in - operation.invoked_in; };
  const sim::Operation* failed = nullptr;
  for (const sim::Operation& operation : history_->operations) {
    if (operation.process == question.probe && operation.phase == sim::Phase::fail) failed = &operation;
  }
  const sim::ProcessId holder = last != nullptr ? last->process : sim::ProcessId{};
  if (got != nullptr && failed != nullptr && events_of(*failed) <= events_of(*got)) {
    begin("recoverable", false, holder, {});
    require(bound, failed->completed, false);
    require(bound, got->completed, true);
    finish();
  }
  begin("recoverable", got != nullptr, holder, {});
  if (got != nullptr) {
    require(bound, got->completed, true);
  } else {
    require(bound, question.probed_until, false);
  }
  finish();
}

// --- fencing.

/// The last write of each acquire on each object of a lock server.
void ViolationFinder::collect_grant_writes() {
  grant_writes_.clear();
  for (std::size_t i = 0; i < effects_.size(); ++i) {
    const sim::Effect& effect = effects_[i];
    if (effect.kind != sim::Effect::Kind::write || is_resource(effect.server)) continue;
    const sim::Operation* operation = operation_of(effect);
    if (operation == nullptr || !is_successful(*operation, "acquire")) continue;
    const auto known = std::find_if(grant_writes_.begin(), grant_writes_.end(), [&](const GrantWrite& write) {
      const sim::Effect& other = effects_[write.position];
      return write.operation == effect.operation && other.server == effect.server && other.object == effect.object;
    });
    if (known != grant_writes_.end()) {
      known->position = i;
    } else {
      grant_writes_.push_back({effect.operation, i});
    }
  }
}

/// The latest acquire of the same process that had ended ok when the write was invoked; null if that wrote nothing.
const sim::Operation* ViolationFinder::grant_of(const sim::Operation& write) const {
  const sim::Operation* latest = nullptr;
  for (const Belief& belief : beliefs_) {
    if (belief.process != write.process || belief.from_step > write.invoked_in) continue;
    const sim::Operation& acquire = operations_[belief.acquire - 1];
    if (latest == nullptr || acquire.completed_in >= latest->completed_in) latest = &acquire;
  }
  if (latest == nullptr) return nullptr;
  const bool wrote = std::any_of(grant_writes_.begin(), grant_writes_.end(),
                                 [&](const GrantWrite& write) { return write.operation == latest->id; });
  return wrote ? latest : nullptr;
}

/// The last write of one comes after the last of the other: one of its writes comes after all of the other's. Writes on
/// one object have the server's order. Two others are ordered by their times and, if these are equal, as the trace has
/// them.
void ViolationFinder::add_newer_grant(const sim::Operation& newer, const sim::Operation& older,
                                      const sim::Effect& newer_write, const sim::Effect& late_write) {
  for (const GrantWrite& last : grant_writes_) {
    if (last.operation != newer.id) continue;
    const sim::Effect& write = effects_[last.position];
    begin("fencing", false, late_write.by, newer_write.by);
    for (const GrantWrite& other : grant_writes_) {
      if (other.operation != older.id) continue;
      const sim::Effect& before = effects_[other.position];
      const bool is_in_order = other.position < last.position;
      if (before.server == write.server && before.object == write.object) {
        is_impossible_ = is_impossible_ || !is_in_order;
      } else {
        require(before.at, write.at, !is_in_order);
      }
    }
    finish();
  }
}

void ViolationFinder::fencing() {
  written_.clear();
  for (std::size_t i = 0; i < effects_.size(); ++i) {
    if (effects_[i].kind == sim::Effect::Kind::write && is_resource(effects_[i].server)) written_.push_back(i);
  }
  if (written_.size() < 2) return;
  collect_grant_writes();
  for (std::size_t i = 1; i < written_.size(); ++i) {
    const sim::Effect& late = effects_[written_[i]];
    const sim::Operation* late_operation = operation_of(late);
    const sim::Operation* older = late_operation == nullptr ? nullptr : grant_of(*late_operation);
    for (std::size_t j = 0; j < i; ++j) {
      const sim::Effect& earlier = effects_[written_[j]];
      if (earlier.server != late.server || earlier.object != late.object) continue;
      if (earlier.token && late.token) {
        if (*earlier.token <= *late.token) continue;
        begin("fencing", false, late.by, earlier.by);
        finish();
        continue;
      }
      const sim::Operation* earlier_operation = operation_of(earlier);
      const sim::Operation* newer = earlier_operation == nullptr ? nullptr : grant_of(*earlier_operation);
      if (older == nullptr || newer == nullptr || older == newer) continue;
      add_newer_grant(*newer, *older, earlier, late);
    }
  }
}

Violable violable(std::string_view property, std::span<const Violation> ways, DifferenceConstraints& constraints) {
  Violable result;
  for (const Violation& way : ways) {
    bool& known = way.is_widened ? result.perhaps : result.for_certain;
    if (way.property != property || known) continue;
    if (way.sums.empty()) {
      known = constraints.is_feasible_with(way.constraints);
      continue;
    }
    const DifferenceConstraints::Mark mark = constraints.mark();
    if (constraints.add_all(way.constraints)) {
      std::vector<ParametricBound> bounds;
      std::vector<sim::DurationRange> ranges;
      add_parametric(way.sums, bounds, ranges);
      known = !ParameterSpace(constraints, bounds, ranges).is_empty();
    }
    constraints.undo(mark);
  }
  return result;
}

bool SumConstraint::operator==(const SumConstraint& o) const {
  return moment.identical(o.moment) && base.identical(o.base) && from.identical(o.from) && until.identical(o.until);
}

void Violation::last_longer_than(sim::Duration length) {
  for (const Length& each : lengths) constraints.push_back(Constraint::less_than(each.from + length, each.until));
  for (SumConstraint& sum : sums) sum.moment = sum.moment + length;
}

void add_parametric(std::span<const SumConstraint> sums, std::vector<ParametricBound>& bounds,
                    std::vector<sim::DurationRange>& ranges, std::uint32_t lasting) {
  const std::size_t first_parameter = ranges.size();
  std::vector<const SumConstraint*> lengths;
  for (const SumConstraint& sum : sums) {
    const auto is_same = [&](const SumConstraint* s) {
      return s->from.identical(sum.from) && s->until.identical(sum.until);
    };
    const auto known = std::find_if(lengths.begin(), lengths.end(), is_same);
    const auto parameter = static_cast<std::uint32_t>(first_parameter + (known - lengths.begin()));
    if (known == lengths.end()) {
      lengths.push_back(&sum);
      ranges.push_back({sim::Duration::zero(), kLongestLength});
      bounds.push_back({Constraint::at_most(sum.until, sum.from), parameter, ParametricBound::none});
      bounds.push_back({Constraint::at_most(sum.from, sum.until), ParametricBound::none, parameter});
    }
    bounds.push_back({Constraint::less_than(sum.moment, sum.base), parameter, lasting});
  }
}

}  // namespace lockstep::checker
