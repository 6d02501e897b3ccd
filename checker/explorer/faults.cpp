// Faults within their budgets: whom they strike, and what is known of them.

#include <algorithm>
#include <cassert>

#include "checker/explorer/clock_kinds.hpp"
#include "checker/explorer/explorer.hpp"

namespace lockstep::checker {
namespace {

using sim::Duration;
using sim::Instant;
using Kind = ExploredFault::Kind;

}  // namespace

// --- What is decided before the first event.

void Explorer::decide_beforehand() {
  const bool is_new = built_ == 0;
  if (is_new) {
    faults_.clear();
    parametric_.clear();
    widened_ = 0;
  }
  parameters_.clear();
  armed_count_ = 0;
  std::size_t partitions = 0;
  for (std::uint16_t i = 0; i < world_->process_count(); ++i) {
    sim::ProcessState& state = world_->state(sim::ProcessId{i});
    if (state.drift_ppb == 0) continue;
    assert(kFirstDrifting + i < 256);
    state.wall.set_scale(static_cast<sim::Scale>(kFirstDrifting + i));
    state.monotonic.set_scale(static_cast<sim::Scale>(kFirstDrifting + i));
  }
  for (std::size_t b = 0; b < options_.faults.size(); ++b) {
    const FaultBudget& budget = options_.faults[b];
    if (budget.kind == Kind::pause || budget.kind == Kind::lose || budget.kind == Kind::delay) continue;
    if (budget.kind == Kind::partition) {
      std::size_t first_side = 0;
      for (std::uint32_t t = 0; t < budget.times; ++t) {
        const std::uint64_t answer = ask(1 + (budget.sides.size() - first_side));
        if (answer == 0) break;
        first_side += answer - 1;
        separate(b, first_side, partitions++, is_new);
      }
      continue;
    }
    // Victims in ascending order, so that each choice of them is met once; a clock is off but once.
    std::size_t first = 0;
    for (std::uint32_t t = 0; t < budget.times; ++t) {
      const std::uint64_t answer = ask(1 + (budget.who.size() - first));
      if (answer == 0) break;
      first += answer - 1;
      const sim::ProcessId victim = budget.who[first];
      if (budget.kind == Kind::skew) {
        ++first;
        sim::Clock& clock = world_->state(victim).wall;
        if (budget.range.is_exact()) {
          clock.skew(budget.range.lo);
        } else {
          parameters_.push_back({b, victim, budget.range});
          clock.set_scale(static_cast<sim::Scale>(parameters_.size()));
        }
        if (!is_new) continue;
        ExploredFault& skew = faults_.emplace_back();
        skew.kind = Kind::skew;
        skew.process = victim;
        skew.budget = b;
        if (budget.range.is_exact()) {
          skew.by = budget.range.lo;
        } else {
          skew.parameter = static_cast<std::uint32_t>(parameters_.size() - 1);
        }
        continue;
      }
      Armed& armed = armed_[armed_count_++];
      armed.budget = b;
      armed.fault.process = victim;
      armed.fault.kind = budget.kind == Kind::crash ? sim::PlannedFault::Kind::crash : sim::PlannedFault::Kind::jump;
      armed.fault.at = Duration::zero();  // it is an event of its own
      armed.fault.restart_after = budget.restart_after;
      armed.fault.keep = budget.keep;
      armed.fault.during = budget.during;
      armed.fault.length = budget.range.is_exact() ? budget.range.lo : Duration::zero();
      armed.parameter.reset();
      if (budget.kind == Kind::jump && !budget.range.is_exact()) {
        parameters_.push_back({b, victim, budget.range});
        armed.parameter = static_cast<std::uint32_t>(parameters_.size() - 1);
      }
    }
  }
}

std::uint32_t Explorer::spent(std::size_t budget) const {
  return static_cast<std::uint32_t>(std::count_if(faults_.begin(), faults_.end(), [&](const ExploredFault& fault) {
    // A replay meets the faults of what comes later as well.
    const bool is_of_message = fault.kind == Kind::lose || fault.kind == Kind::delay;
    const bool is_earlier_here = !is_of_message || fault.emission < emissions_;
    const bool is_past = fault.event < position_ || (fault.event == position_ && is_earlier_here);
    return fault.budget == budget && is_past;
  }));
}

/// A partition is no event: who sends a message asks whether it has begun, and whether it is over, and that is all that it does. `number`: of all partitions.
void Explorer::separate(std::size_t budget, std::size_t side, std::size_t number, bool is_new) {
  if (is_new) {
    const Instant from = fresh();
    const Instant until = fresh();
    at_most(Instant::origin(), from);
    between(from, until, options_.faults[budget].range);
    ExploredFault& fault = faults_.emplace_back();
    fault.kind = Kind::partition;
    fault.budget = budget;
    fault.side = side;
    fault.process = options_.faults[budget].sides[side].left.front();
    fault.from = from;
    fault.until = until;
  }
  for (const ExploredFault& fault : faults_) {
    if (fault.kind != Kind::partition || number-- > 0) continue;
    const sim::Region::Inside inside(region_);
    world_->plan(sim::Partition{options_.faults[budget].sides[side], fault.from, fault.until});
    return;
  }
}

/// Whether no message had to wait for the end of some partition of this trace: the same trace without it is explored elsewhere.
bool Explorer::has_idle_partition() const {
  return std::any_of(faults_.begin(), faults_.end(), [&](const ExploredFault& fault) {
    if (fault.kind != Kind::partition) return false;
    return std::none_of(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(depth_), [&](const Node& node) {
      return std::find(node.partitions.begin(), node.partitions.end(), fault.until.variable()) != node.partitions.end();
    });
  });
}

void Explorer::held_up(Instant until) {
  const sim::Region::Outside outside;
  if (!is_replay_ && position_ != kNone) nodes_[position_].partitions.push_back(until.variable());
}

// --- While the trace goes on.

/// Crashes, restarts and jumps are events; what is known of them as faults is noted when they are executed.
void Explorer::note_fault(const Node& node, const sim::Event& event) {
  if (event.kind == sim::EventKind::start) {
    for (auto fault = faults_.rbegin(); fault != faults_.rend(); ++fault) {
      if (fault->kind != Kind::crash || fault->event != node.cause) continue;
      fault->until = node.at;
      return;
    }
    return;
  }
  if (!world_->state(event.process).alive) return;
  for (std::size_t i = 0; i < armed_count_; ++i) {
    const Armed& armed = armed_[i];
    if (&armed.fault != event.fault) continue;
    if (!world_->is_at(event.process, armed.fault.during)) return;
    ExploredFault& fault = faults_.emplace_back();
    fault.kind = options_.faults[armed.budget].kind;
    fault.process = event.process;
    fault.event = position_;
    fault.budget = armed.budget;
    fault.from = node.at;
    fault.restarts = armed.fault.restart_after.has_value();
    fault.parameter = armed.parameter;
    fault.by = armed.fault.length;
  }
}

/// `of_work`: it is the end of its work that would be late. Budgets before `first_budget` are not asked. `is_afterwards`: it begins when the present event has
/// been handled, and only then it is known what its process is at: `is_void`.
std::optional<std::size_t> Explorer::ask_for_pause(sim::ProcessId process, bool of_work, std::size_t first_budget,
                                                   bool is_afterwards) {
  if (coda_from_ || !(of_work ? may_pause(process) : may_pause_anywhere(process))) return std::nullopt;
  std::size_t allowed = 0;
  const auto is_allowed = [&](std::size_t b) {
    const FaultBudget& budget = options_.faults[b];
    if (budget.kind != Kind::pause || (budget.during == sim::Activity::work && !of_work)) return false;
    if (!is_afterwards && budget.during != sim::Activity::work && !world_->is_at(process, budget.during)) return false;
    return std::find(budget.who.begin(), budget.who.end(), process) != budget.who.end() && spent(b) < budget.times;
  };
  for (std::size_t b = first_budget; b < options_.faults.size(); ++b) allowed += is_allowed(b) ? 1 : 0;
  std::uint64_t answer = ask(1 + allowed);
  for (std::size_t b = first_budget; answer > 0 && b < options_.faults.size(); ++b) {
    if (is_allowed(b) && --answer == 0) return b;
  }
  return std::nullopt;
}

/// More pauses at the same place, one after the other; returns the end of the last. The first begins at `from` and ends at `until`. Their budgets come in ascending
/// order: at one place it makes no difference which of them is first.
///
/// Before an event, the next pause may begin at the very end of the one before: what is due then has not been handled yet. After an event, it begins before that: at the
/// end the process sends what it kept back. (A pause that begins later does so at the next event.) Work is not under way in any of them, so the next begins just where the one before ends.
Instant Explorer::add_further_pauses(const Node& node, std::size_t last, ExploredFault::Place place, Instant from,
                                     Instant until) {
  using Place = ExploredFault::Place;
  while (!ghost_from_ && options_.mutant != ExplorerOptions::Mutant::one_pause_each) {
    const std::optional<std::size_t> budget =
        ask_for_pause(node.process, place == Place::within, last, place == Place::after);
    if (!budget) break;
    last = *budget;
    Instant begin = until;
    if (place != Place::within) {
      begin = fresh();
      at_most(from, begin);
      add(Constraint::at_most(begin, until, place == Place::after));
    }
    const Instant end = fresh();
    between(begin, end, options_.faults[last].range);
    at_most(until, end);
    add_pause(node, last, place, begin, end, true);
    from = begin;
    until = end;
  }
  return until;
}

/// Whether a pause that begins when an event has been handled may strike only who is at something that its process turns out not to be at. No execution of the story has it.
bool Explorer::is_void(std::uint32_t position) const {
  if (!asks_afterwards_) return false;
  return std::any_of(faults_.begin(), faults_.end(), [&](const ExploredFault& fault) {
    const bool is_here = fault.kind == Kind::pause && fault.place == ExploredFault::Place::after;
    return is_here && fault.event == position && !world_->is_at(fault.process, options_.faults[fault.budget].during);
  });
}

/// Which of the budgets can strike this message.
std::vector<std::size_t> Explorer::message_faults(const sim::Event& message) const {
  std::vector<std::size_t> allowed;
  // What a server sends unasked (a subscriber's message) is not struck alone: if it were lost, its connection would be, too.
  const bool is_answer = message.bounced || (message.message && message.message->is_reply && !message.message->is_push);
  for (std::size_t b = 0; b < options_.faults.size(); ++b) {
    const FaultBudget& budget = options_.faults[b];
    if (budget.kind != Kind::lose && budget.kind != Kind::delay) continue;
    const bool is_meant = std::any_of(budget.who.begin(), budget.who.end(), [&](sim::ProcessId client) {
      return client == message.from || (is_answer && client == message.process);
    });
    const bool has_direction = budget.direction == FaultBudget::Direction::either ||
                               (budget.direction == FaultBudget::Direction::reply) == is_answer;
    const bool has_name = budget.message.empty() || message.message->name() == budget.message;
    const bool is_of_that = world_->is_of(*message.message, budget.during);
    if (is_meant && has_direction && has_name && is_of_that && spent(b) < budget.times) allowed.push_back(b);
  }
  return allowed;
}

void Explorer::add_pause(const Node& node, std::size_t budget, ExploredFault::Place place, Instant from, Instant until,
                         bool is_further) {
  ExploredFault& pause = faults_.emplace_back();
  pause.place = place;
  pause.process = node.process;
  pause.event = position_;
  pause.budget = budget;
  pause.from = from;
  pause.until = until;
  pause.is_further = is_further;
  if (place == ExploredFault::Place::within) pause.work_from = node.event.base;
}

}  // namespace lockstep::checker
