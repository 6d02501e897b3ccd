#include "checker/explorer/execution/fault_choices.hpp"

#include <algorithm>

#include "checker/explorer/execution/clock_kinds.hpp"
#include "sim/invariant.hpp"
#include "sim/stop.hpp"

namespace lockstep::checker::explorer {
namespace {

using FaultPlace = ExploredFault::Place;

}  // namespace

using sim::Duration;
using sim::Explored;
using sim::FaultKind;
using sim::Instant;

// --- What is decided before the first event.

void FaultChoices::decide(sim::Region* region, bool is_new) {
  region_ = region;
  begin();
  if (is_new) {
    faults_.clear();
    parameters_.clear();
  }
  planned_parameters_ = 0;
  armed_count_ = 0;
  sim::World& world = moment_.world();
  for (std::uint16_t i = 0; i < world.process_count(); ++i) {
    sim::ProcessState& state = world.state(sim::ProcessId{i});
    if (state.drift_ppb == 0) continue;
    state.wall.set_scale(scale_of_drift(sim::ProcessId{i}));
    state.monotonic.set_scale(scale_of_drift(sim::ProcessId{i}));
  }
  std::size_t partitions = 0;
  for (std::size_t b = 0; b < rules_.faults.budgets().size(); ++b) {
    switch (entry_of(budget(b).kind).explored) {
      case Explored::at_events:
      case Explored::on_messages: break;  // decided where they strike
      case Explored::between_sides: choose_partitions(b, partitions, is_new); break;
      case Explored::from_the_start:
      case Explored::own_event: choose_victims(b, is_new); break;
    }
  }
}

void FaultChoices::choose_partitions(std::size_t b, std::size_t& partitions, bool is_new) {
  std::size_t first_side = 0;
  for (std::uint32_t t = 0; t < budget(b).times; ++t) {
    const std::uint64_t answer = questions_.ask(1 + (budget(b).sides.size() - first_side));
    if (answer == 0) break;
    first_side += answer - 1;
    separate(b, first_side, partitions++, is_new);
  }
}

/// Victims in ascending order, so that each choice of them is met once; a clock is off but once.
void FaultChoices::choose_victims(std::size_t b, bool is_new) {
  const std::vector<sim::ProcessId>& who = budget(b).who;
  std::size_t first = 0;
  for (std::uint32_t t = 0; t < budget(b).times; ++t) {
    const std::uint64_t answer = questions_.ask(1 + (who.size() - first));
    if (answer == 0) break;
    first += answer - 1;
    if (is_from_the_start(budget(b).kind)) {
      skew(b, who[first++], is_new);
    } else {
      plan(b, who[first], is_new);
    }
  }
}

/// The same in each run of a trace, of which later events may have added some.
std::uint32_t FaultChoices::plan_parameter(std::size_t b, sim::ProcessId victim, bool is_new) {
  if (is_new) parameters_.push_back({b, victim, budget(b).range});
  return static_cast<std::uint32_t>(planned_parameters_++);
}

void FaultChoices::skew(std::size_t b, sim::ProcessId victim, bool is_new) {
  sim::Clock& clock = moment_.world().state(victim).wall;
  const sim::DurationRange range = budget(b).range;
  std::optional<std::uint32_t> parameter;
  if (range.is_exact()) {
    clock.skew(range.lo);
  } else {
    parameter = plan_parameter(b, victim, is_new);
    clock.set_scale(scale_of_parameter(*parameter));
  }
  if (!is_new) return;
  ExploredFault& skew = faults_.emplace_back();
  skew.kind = budget(b).kind;
  skew.process = victim;
  skew.budget = b;
  skew.parameter = parameter;
  if (!parameter) skew.by = range.lo;
}

void FaultChoices::plan(std::size_t b, sim::ProcessId victim, bool is_new) {
  sim::invariant(armed_count_ < armed_.size(), "no more faults are planned than the budgets allow");
  Armed& armed = armed_[armed_count_++];
  const FaultBudget& allowed = budget(b);
  armed.budget = b;
  armed.fault.process = victim;
  armed.fault.kind = allowed.kind;
  armed.fault.at = Duration::zero();  // it is an event of its own
  armed.fault.restart_after = allowed.restart_after;
  armed.fault.keep = allowed.keep;
  armed.fault.during = allowed.during;
  armed.fault.length = allowed.range.is_exact() ? allowed.range.lo : Duration::zero();
  armed.parameter.reset();
  if (moves_clock(allowed.kind) && !allowed.range.is_exact()) armed.parameter = plan_parameter(b, victim, is_new);
}

void FaultChoices::arm() {
  for (std::size_t i = 0; i < armed_count_; ++i) {
    moment_.world().arm(armed_[i].fault, {Duration::zero(), Duration::forever()});
  }
}

/// A partition is no event: who sends a message asks whether it has begun, and whether it is over, and that is all that
/// it does. `number`: of all partitions.
void FaultChoices::separate(std::size_t b, std::size_t side, std::size_t number, bool is_new) {
  const sim::Sides& sides = budget(b).sides[side];
  if (is_new) {
    const Instant from = timing_.fresh();
    const Instant until = timing_.fresh();
    timing_.at_most(Instant::origin(), from);
    timing_.between(from, until, budget(b).range);
    keep_apart(from, until);
    ExploredFault& fault = faults_.emplace_back();
    fault.kind = budget(b).kind;
    fault.budget = b;
    fault.side = side;
    fault.process = sides.left.front();
    fault.from = from;
    fault.until = until;
  }
  for (const ExploredFault& fault : faults_) {
    if (!cuts_off(fault.kind) || number-- > 0) continue;
    const sim::Region::Inside inside(region_);
    moment_.world().plan(sim::Partition{sides, fault.from, fault.until});
    return;
  }
  sim::invariant(false, "what was decided before the first event stands as long as anything of the trace does");
}

bool FaultChoices::has_idle_partition() const {
  return std::any_of(faults_.begin(), faults_.end(), [&](const ExploredFault& fault) {
    if (!cuts_off(fault.kind)) return false;
    for (std::uint32_t i = 0; i < trace_.length(); ++i) {
      const std::vector<Variable>& waited = trace_[i].partitions;
      if (std::find(waited.begin(), waited.end(), fault.until.variable()) != waited.end()) return false;
    }
    return true;
  });
}

// --- While the trace goes on.

std::uint32_t FaultChoices::spent(std::size_t b) const {
  return static_cast<std::uint32_t>(std::count_if(faults_.begin(), faults_.end(), [&](const ExploredFault& fault) {
    // A replay meets the faults of what comes later as well.
    const bool is_of_message = strikes_message(fault.kind);
    const bool is_earlier_here = !is_of_message || fault.emission < emissions_;
    const bool is_past = fault.event < trace_.position() || (fault.event == trace_.position() && is_earlier_here);
    return fault.budget == b && is_past;
  }));
}

void FaultChoices::note_fault(const Step& step, const sim::Event& event) {
  if (event.kind == sim::EventKind::start) {
    for (auto fault = faults_.rbegin(); fault != faults_.rend(); ++fault) {
      if (!may_come_back(fault->kind) || fault->event != step.cause) continue;
      fault->until = step.at;
      return;
    }
    return;
  }
  const sim::World& world = moment_.world();
  if (!world.state(event.process).alive) return;
  for (std::size_t i = 0; i < armed_count_; ++i) {
    const Armed& armed = armed_[i];
    if (&armed.fault != event.fault) continue;
    if (!world.is_at(event.process, armed.fault.during)) return;
    ExploredFault& fault = faults_.emplace_back();
    fault.kind = budget(armed.budget).kind;
    fault.process = event.process;
    fault.event = trace_.position();
    fault.budget = armed.budget;
    fault.from = step.at;
    fault.restarts = armed.fault.restart_after.has_value();
    fault.parameter = armed.parameter;
    fault.by = armed.fault.length;
  }
}

std::optional<std::uint32_t> FaultChoices::parameter_of(const sim::PlannedFault& fault) const {
  for (std::size_t i = 0; i < armed_count_; ++i) {
    if (&armed_[i].fault == &fault) return armed_[i].parameter;
  }
  return std::nullopt;
}

std::optional<std::size_t> FaultChoices::ask_for_pause(sim::ProcessId process, bool of_work, std::size_t first_budget,
                                                       bool is_afterwards) {
  const PossibleFaults& possible = rules_.faults;
  // Who is dead cannot be paused; who comes back can, when he is there.
  const bool is_alive =
      moment_.world().state(process).alive || (is_afterwards && trace_.present().is(sim::EventKind::start));
  if (!is_alive || moment_.is_coda() || !(of_work ? possible.may_pause(process) : possible.may_pause_anywhere(process)))
    return std::nullopt;
  const auto is_allowed = [&](std::size_t b) {
    const FaultBudget& pause = budget(b);
    if (!freezes(pause.kind) || (pause.during == sim::Activity::work && !of_work)) return false;
    if (!is_afterwards && pause.during != sim::Activity::work && !moment_.world().is_at(process, pause.during))
      return false;
    return std::find(pause.who.begin(), pause.who.end(), process) != pause.who.end() && spent(b) < pause.times;
  };
  const std::size_t budgets = possible.budgets().size();
  sim::Stop::ask(budgets);
  std::size_t allowed = 0;
  for (std::size_t b = first_budget; b < budgets; ++b) allowed += is_allowed(b) ? 1 : 0;
  std::uint64_t answer = questions_.ask(1 + allowed);
  for (std::size_t b = first_budget; answer > 0 && b < budgets; ++b) {
    if (is_allowed(b) && --answer == 0) return b;
  }
  return std::nullopt;
}

/// The budgets of several pauses come in ascending order: at one place it makes no difference which of them is first.
///
/// Before an event, the next pause may begin at the very end of the one before: what is due then has not been handled
/// yet. After an event, it begins before that: at the end the process sends what it kept back. (A pause that begins
/// later does so at the next event.) Within work the next begins just where the one before ends: the work goes on in
/// none of them.
Instant FaultChoices::add_pauses(const Step& step, std::size_t b, FaultPlace place, Instant from, Instant until,
                                 bool of_work) {
  add_pause(step, b, place, from, until, false);
  while (!timing_.is_infeasible() && rules_.mutant != SearchMutant::one_pause_each) {
    const std::optional<std::size_t> next = ask_for_pause(step.process, of_work, b, place == FaultPlace::after);
    if (!next) break;
    sim::invariant(*next >= b, "the budgets of pauses at one place ascend");
    b = *next;
    Instant begin = until;
    if (place != FaultPlace::within) {
      begin = timing_.fresh();
      timing_.at_most(from, begin);
      timing_.add(Constraint::at_most(begin, until, place == FaultPlace::after));
    }
    const Instant end = timing_.fresh();
    timing_.between(begin, end, budget(b).range);
    timing_.at_most(until, end);
    add_pause(step, b, place, begin, end, true);
    from = begin;
    until = end;
  }
  return until;
}

/// A crash between two pauses that overlap needs no second one.
void FaultChoices::cut_last_pause(Instant at) {
  ExploredFault& pause = faults_.back();
  if (pause.is_further) timing_.at_most(faults_[faults_.size() - 2].until, at);
  pause.cut_short = at;
}

/// At the very end of the pause what it kept has left: that crash is one after the pause.
std::optional<Instant> FaultChoices::ask_for_doom(const Step& step) {
  const auto is_crash = [&](std::uint32_t slot) {
    const sim::Event& event = moment_.event(slot);
    return event.process == step.process && event.is_crash();
  };
  const auto& pending = moment_.pending();
  if (timing_.is_infeasible() || std::none_of(pending.begin(), pending.end(), is_crash)) return std::nullopt;
  if (rules_.mutant == SearchMutant::survive_pauses || questions_.ask(2) == 0) return std::nullopt;
  const ExploredFault& pause = faults_.back();
  const Instant doom = timing_.fresh();
  timing_.at_most(pause.from, doom);
  timing_.add(Constraint::less_than(doom, pause.until));
  cut_last_pause(doom);
  return doom;
}

void FaultChoices::add_pause(const Step& step, std::size_t b, FaultPlace place, Instant from, Instant until,
                             bool is_further) {
  ExploredFault& pause = faults_.emplace_back();
  pause.kind = budget(b).kind;
  pause.place = place;
  pause.process = step.process;
  pause.event = trace_.position();
  pause.budget = b;
  pause.from = from;
  pause.until = until;
  pause.is_further = is_further;
  keep_apart(from, until);
  const Step* before = trace_.find(step.process_before);
  if (place == FaultPlace::within) pause.work_from = before != nullptr ? before->process_free : step.event.base;
}

bool FaultChoices::are_within_budgets() const {
  for (std::size_t b = 0; b < rules_.faults.budgets().size(); ++b) {
    const auto struck = std::count_if(faults_.begin(), faults_.end(), [&](const ExploredFault& fault) {
      return fault.budget == b && (fault.event == kNone || fault.event <= trace_.position());
    });
    if (struck > static_cast<std::ptrdiff_t>(budget(b).times)) return false;
  }
  return true;
}

bool FaultChoices::is_void(std::uint32_t position) const {
  const auto is_its_crash = [&](const ExploredFault& fault) { return kills(fault.kind) && fault.event == position; };
  if (trace_[position].is_promised && std::none_of(faults_.begin(), faults_.end(), is_its_crash)) return true;
  if (!rules_.faults.asks_afterwards()) return false;
  return std::any_of(faults_.begin(), faults_.end(), [&](const ExploredFault& fault) {
    const bool is_here = freezes(fault.kind) && fault.place == FaultPlace::after;
    return is_here && fault.event == position && !moment_.world().is_at(fault.process, budget(fault.budget).during);
  });
}

// --- Messages.

/// Which of the budgets can strike this message.
std::vector<std::size_t> FaultChoices::message_faults(const sim::Event& message) const {
  std::vector<std::size_t> allowed;
  // Whether the lock comes back is asked of a world in which no more faults strike, neither the visitor nor the ticks
  // that the story leaves behind.
  if (moment_.is_coda()) return allowed;
  // What a server sends unasked (a subscriber's message) is not struck alone: if it were lost, its connection would be,
  // too.
  const bool is_answer = message.bounced || (message.message && message.message->is_reply && !message.message->is_push);
  for (std::size_t b = 0; b < rules_.faults.budgets().size(); ++b) {
    const FaultBudget& fault = budget(b);
    if (!strikes_message(fault.kind)) continue;
    const bool is_meant = std::any_of(fault.who.begin(), fault.who.end(), [&](sim::ProcessId client) {
      return client == message.from || (is_answer && client == message.process);
    });
    const bool has_direction = fault.direction == FaultBudget::Direction::either ||
                               (fault.direction == FaultBudget::Direction::reply) == is_answer;
    const bool has_name = fault.message.empty() || message.message->name() == fault.message;
    const bool is_of_that = moment_.world().is_of(*message.message, fault.during);
    if (is_meant && has_direction && has_name && is_of_that && spent(b) < fault.times) allowed.push_back(b);
  }
  return allowed;
}

bool FaultChoices::strikes(sim::Event& message) {
  ++emissions_;  // as the world counts
  const std::vector<std::size_t> allowed = message_faults(message);
  const std::uint64_t answer = questions_.ask(1 + allowed.size());
  if (answer == 0) {
    --emissions_;
    return false;
  }
  const std::size_t b = allowed[answer - 1];
  const FaultKind kind = budget(b).kind;
  if (!trace_.is_replay()) {
    ExploredFault& fault = faults_.emplace_back();
    fault.kind = kind;
    fault.process = message.from;
    fault.event = trace_.position();
    fault.emission = emissions_;
    fault.budget = b;
  }
  if (loses_message(kind)) return true;
  put_off(message);
  --emissions_;
  return false;
}

/// A message that a fault of the present trace delays leaves later.
void FaultChoices::put_off(sim::Event& message) {
  const auto fault = std::find_if(faults_.begin(), faults_.end(), [&](const ExploredFault& f) {
    return delays_message(f.kind) && f.event == trace_.position() && f.emission == emissions_;
  });
  sim::invariant(fault != faults_.end(), "what delays a message is a fault of the trace");
  if (!trace_.is_replay()) {
    fault->from = message.base;
    fault->until = timing_.fresh();
    timing_.between(fault->from, fault->until, budget(fault->budget).range);
    keep_apart(fault->from, fault->until);
  }
  message.base = fault->until;
}

Instant FaultChoices::departure_of(Instant base) const {
  if (!rules_.faults.may_delay()) return base;
  const auto fault = std::find_if(faults_.begin(), faults_.end(), [&](const ExploredFault& f) {
    return delays_message(f.kind) && f.until.identical(base);
  });
  return fault == faults_.end() ? base : fault->from;
}

}  // namespace lockstep::checker::explorer
