#include "scenarios/running/random_run.hpp"
#include "scenarios/story/own_lock.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::DurationRange;
using sim::Instant;
using sim::ProcessId;
using sim::Random;

constexpr std::uint64_t kRandomEventsMax = 20'000;  // of one run
constexpr Duration kGrain = Duration::microseconds(1);

constexpr std::uint64_t kWide = 5'000;  // grains: no latency any more

Instant at(Duration since_origin) { return Instant::at(since_origin); }

template <class T>
const T& one_of(const std::vector<T>& values, Random& random) {
  return values[random.below(values.size())];
}

}  // namespace

TellingLengths telling_lengths(const Scenario& scenario, const models::locks::Entry& entry) {
  TellingLengths telling;
  const auto add_range = [](std::vector<Duration>& to, DurationRange range) {
    to.push_back(range.lo);
    to.push_back(range.hi);
  };
  const auto add_parameters = [&](const models::locks::Parameters& parameters) {
    for (const models::locks::ParameterSpec& spec : parameters.specs()) {
      const models::locks::ParameterValue& value = parameters.get(spec.name);
      using models::locks::ParameterRole;
      for (const ParameterRole lease :
           {ParameterRole::lease, ParameterRole::renewed_lease, ParameterRole::newcomers_lease}) {
        if (spec.role == lease) telling.leases.push_back(std::get<Duration>(value));
      }
      if (spec.role == ParameterRole::session_ttl) telling.leases.push_back(std::get<Duration>(value) * 2);
      if (const auto* duration = std::get_if<Duration>(&value)) telling.lengths.push_back(*duration);
      if (const auto* range = std::get_if<DurationRange>(&value)) add_range(telling.lengths, *range);
    }
  };
  add_parameters(parameters_of(entry, scenario.lock));
  for (const ClientSpec& client : scenario.clients) {
    if (!client.parameters.empty()) add_parameters(parameters_of(entry, scenario.lock, client));
    add_range(telling.lengths, client.hold);
    add_range(telling.lengths, client.between);
    add_range(telling.lengths, client.acquire_at);
  }
  if (scenario.network.timeout) telling.lengths.push_back(*scenario.network.timeout);
  for (const MaySpec& may : scenario.may) {
    add_range(telling.lengths, may.length);
    if (may.restart_after) add_range(telling.lengths, *may.restart_after);
  }
  telling.small = {Duration::zero(), kGrain, -kGrain};
  const auto add_latency = [&](DurationRange latency) {
    for (const Duration once : {latency.lo, latency.hi}) {
      for (const std::int64_t times : {-4, -2, -1, 1, 2, 4}) telling.small.push_back(once * times);
    }
  };
  add_latency(scenario.network.latency);
  for (const ServerSpec& server : scenario.servers) {
    if (server.latency) add_latency(*server.latency);
  }
  return telling;
}

// --- Delays.

void MoodyDecisions::begin(Random& random, Duration margin) {
  random_ = &random;
  for (std::uint64_t& weight : weights_) weight = random.one_in(3) ? 0 : 1 + random.below(4);
  weights_[2] += 1;
  meeting_.reset();
  if (random.one_in(3)) return;
  const bool of_lease = !telling_.leases.empty() && !random.one_in(4);
  meeting_ = one_of(of_lease ? telling_.leases : telling_.lengths, random) + one_of(telling_.small, random);
  if (random.one_in(2)) *meeting_ += one_of(telling_.small, random);
  if (random.one_in(6)) *meeting_ += one_of(telling_.lengths, random);
  if (margin > Duration::zero() && random.one_in(2)) *meeting_ += random.one_in(4) ? margin : -margin;
}

std::uint64_t MoodyDecisions::choose(sim::Choice choice, std::uint64_t options, sim::EventId) {
  return choice == sim::Choice::delay ? delay(options) : random_->below(options);
}

/// Option 0 is the shortest, the next a microsecond longer.
std::uint64_t MoodyDecisions::delay(std::uint64_t options) {
  const auto index_of = [&](Duration length) -> std::optional<std::uint64_t> {
    const std::int64_t index = length.count_ns() / kGrain.count_ns();
    if (index < 0 || static_cast<std::uint64_t>(index) >= options) return std::nullopt;
    return static_cast<std::uint64_t>(index);
  };
  if (meeting_ && options > kWide && !random_->one_in(4)) {
    if (random_->one_in(2)) return 0;
    const Duration later = random_->one_in(2) ? Duration::zero() : one_of(telling_.small, *random_);
    return index_of(*meeting_ + later).value_or(0);
  }
  std::uint64_t ticket = random_->below(weights_[0] + weights_[1] + weights_[2] + weights_[3]);
  if (ticket < weights_[0]) return 0;
  ticket -= weights_[0];
  if (ticket < weights_[1]) return options - 1;
  ticket -= weights_[1];
  if (ticket >= weights_[2]) return random_->below(options);
  const Duration telling = one_of(telling_.lengths, *random_) + one_of(telling_.small, *random_);
  return index_of(telling).value_or(random_->one_in(2) ? 0 : options - 1);
}

// --- Priorities.

void PriorityDecisions::begin(Random& random, std::uint32_t depth, std::uint64_t typical) {
  random_ = &random;
  questions_ = 0;
  next_change_ = 0;
  is_slow_.assign(world_.process_count(), 0);
  // Few are slow: where all are, nobody is.
  const std::uint64_t one_in = 2 + random.below(3);
  for (char& slow : is_slow_) slow = random.one_in(one_in) ? 1 : 0;
  changes_.clear();
  for (std::uint32_t i = 1; i < depth; ++i) changes_.push_back(random.below(std::max<std::uint64_t>(typical, 8)));
  std::sort(changes_.begin(), changes_.end());
}

std::uint64_t PriorityDecisions::choose(sim::Choice choice, std::uint64_t options, sim::EventId) {
  for (++questions_; next_change_ < changes_.size() && changes_[next_change_] < questions_; ++next_change_) {
    char& slow = is_slow_[random_->below(is_slow_.size())];
    slow = slow == 0 ? 1 : 0;
  }
  // Where somebody starts, or how long he works, is no matter of priorities.
  if (choice != sim::Choice::delay || options > kWide) return random_->below(options);
  const sim::Event& event = world_.event(recorder_.last_emitted());
  const auto is_slow = [&](ProcessId process) { return process.is_valid() && is_slow_[process.index] != 0; };
  return is_slow(event.process) || is_slow(event.from) ? options - 1 : 0;
}

// --- Faults.

RandomFaults::RandomFaults(const Scenario& scenario, Deployment& deployment, RunRecorder& recorder,
                           const TellingLengths& telling)
    : world_(deployment.world()), recorder_(recorder), telling_(telling), allowed_(scenario, deployment) {}

void RandomFaults::begin(Random& random, const std::optional<FaultLimit>& limit, std::uint64_t typical) {
  random_ = &random;
  allowed_.begin();
  planned_.clear();
  delayed_.clear();
  looked_ = 0;
  last_ = {};
  focus_ = random.below(std::max<std::uint64_t>(typical, 8));
  for (std::size_t i = 0; i < allowed_.budgets().size(); ++i) plan(i, limit, typical);
}

void RandomFaults::plan(std::size_t index, const std::optional<FaultLimit>& limit, std::uint64_t typical) {
  Budget& budget = allowed_.budgets()[index];
  const MaySpec& may = *budget.may;
  const DurationRange* length = length_of(may);
  if (is_nothing(may.kind, length)) return;
  DurationRange range = length == nullptr ? DurationRange{} : *length;
  if (limit && parameter_of(may) == limit->parameter) {
    range = {std::max(range.lo, limit->range.lo), std::min(range.hi, limit->range.hi)};
    if (range.lo > range.hi) return;
  }
  // Mostly all that may happen, and sometimes less.
  std::int64_t times = random_->one_in(4) ? random_->between(0, may.times) : may.times;
  if (is_from_the_start(may.kind)) {
    std::vector<ProcessId> who = budget.who;
    for (; times > 0 && !who.empty(); --times) {
      const auto chosen = who.begin() + static_cast<std::ptrdiff_t>(random_->below(who.size()));
      const Duration by = length_within(range);
      recorder_.is_off(*chosen, by);
      allowed_.strike(budget, allowed_.fault_of(budget, *chosen, by), Instant::origin());
      who.erase(chosen);
    }
    return;
  }
  for (; times > 0; --times) {
    Planned& planned = planned_.emplace_back();
    planned.budget = index;
    planned.length = length_within(range);
    const bool is_for_work = may.during == sim::Activity::work && freezes(may.kind);
    const bool is_for_any = may.during == sim::Activity::anything && freezes(may.kind);
    planned.at_work = is_for_work || (is_for_any && random_->one_in(2));
    planned.from = random_->one_in(2) ? focus_ : random_->below(std::max<std::uint64_t>(typical, 8));
  }
}

/// Its ends are where things break.
Duration RandomFaults::length_within(DurationRange range) {
  const bool has_both_sides = range.lo < Duration::zero() && range.hi > Duration::zero();
  if (range.is_exact() || random_->one_in(has_both_sides ? 2 : 10)) return range.lo;
  if (!random_->one_in(3)) return range.hi;
  if (random_->one_in(2)) {
    const Duration telling = one_of(telling_.lengths, *random_) + one_of(telling_.small, *random_);
    const Duration length = random_->one_in(2) ? telling : -telling;
    if (length >= range.lo && length <= range.hi) return length;
  }
  const std::int64_t grains = (range.hi - range.lo).count_ns() / kGrain.count_ns();
  return range.lo + kGrain * random_->between(0, grains);
}

sim::Fate::Answer RandomFaults::of(std::uint32_t slot, Instant moment) {
  ++looked_;
  for (Planned& planned : planned_) {
    if (planned.is_done || planned.from >= looked_) continue;
    if (const std::optional<Answer> answer = attempt(planned, slot, moment)) {
      if (*answer == Answer::happens) recorder_.happens(slot, moment);
      return *answer;
    }
  }
  recorder_.happens(slot, moment);
  return Answer::happens;
}

sim::Duration RandomFaults::late_by(const sim::Event& message) {
  for (Planned& planned : planned_) {
    Budget& budget = allowed_.budgets()[planned.budget];
    if (planned.is_done || !delays_message(budget.may->kind) || planned.from > looked_) continue;
    if (!allowed_.can_strike(budget, message) || random_->one_in(3)) continue;
    planned.is_done = true;
    delayed_.push_back(message.id);
    allowed_.delay(budget, planned.length);
    recorder_.delays_last(planned.length);
    return planned.length;
  }
  return Duration::zero();
}

/// Nothing: it cannot strike here.
std::optional<sim::Fate::Answer> RandomFaults::attempt(Planned& planned, std::uint32_t slot, Instant moment) {
  Budget& budget = allowed_.budgets()[planned.budget];
  const MaySpec& may = *budget.may;
  const sim::Event& event = world_.event(slot);
  if (delays_message(may.kind)) return std::nullopt;
  if (cuts_off(may.kind)) {
    // What was sent at this very moment was not kept back.
    const Instant first = world_.now() + Duration::nanoseconds(1);
    if (first.offset() > moment.offset()) return std::nullopt;
    planned.is_done = true;
    const std::size_t side = random_->below(budget.sides.size());
    const Instant when = some_moment({}, first, moment);
    recorder_.separates(budget.sides[side], when, planned.length);
    allowed_.separate(budget, side, when, planned.length);
    return Answer::look_again;
  }
  if (loses_message(may.kind)) {
    // What is sent behind a delayed message waits for it; behind a lost one nothing waits.
    const bool is_delayed = std::find(delayed_.begin(), delayed_.end(), event.id) != delayed_.end();
    if (is_delayed || !allowed_.can_strike(budget, event) || random_->one_in(3)) return std::nullopt;
    planned.is_done = true;
    AllowedFaults::spend(budget);
    recorder_.loses_message(slot);
    return Answer::lost;
  }
  const ProcessId victim = some_victim(budget, planned.at_work, event.process, moment);
  if (!victim.is_valid()) return std::nullopt;
  const sim::ProcessState& state = world_.state(victim);
  // Who is paused is not paused once more: a pause begins at the end of the last one at the earliest.
  const bool is_pause = freezes(may.kind);
  if (is_pause && state.was_paused && state.frozen_until.offset() > moment.offset()) return std::nullopt;
  planned.is_done = true;
  last_ = victim;
  const sim::PlannedFault fault = allowed_.fault_of(budget, victim, planned.length);
  // What its process is at when the event has happened is not known yet.
  const bool is_for_any = may.during == sim::Activity::anything;
  if (is_pause && is_for_any && !planned.at_work && victim == event.process && random_->one_in(2)) {
    recorder_.struck_with_next(fault);
    allowed_.strike(budget, fault, moment);
    return Answer::happens;
  }
  Instant from = world_.now();
  if (planned.at_work) from = recorder_.later_of(from, *recorder_.at_work_since(victim));
  if (is_pause && state.was_paused) from = recorder_.later_of(from, state.frozen_until);
  const Instant when = some_moment(victim, from, moment);
  recorder_.struck(fault, planned.length, when);
  allowed_.strike(budget, fault, when);
  return Answer::look_again;
}

/// Invalid: nobody.
ProcessId RandomFaults::some_victim(const Budget& budget, bool at_work, ProcessId present, Instant moment) {
  const auto is_possible = [&](ProcessId process) {
    if (!process.is_valid() || !budget.allows(process) || !world_.state(process).alive) return false;
    if (!at_work) return allowed_.is_at_it(budget, process);
    const std::optional<Instant> since = recorder_.at_work_since(process);
    return since && since->offset() <= moment.offset();
  };
  if (is_possible(last_) && !random_->one_in(4)) return last_;
  if (is_possible(present) && !random_->one_in(4)) return present;
  std::vector<ProcessId> possible;
  std::copy_if(budget.who.begin(), budget.who.end(), std::back_inserter(possible), is_possible);
  return possible.empty() ? ProcessId{} : one_of(possible, *random_);
}

/// Where one pause ends another can begin, and around a deadline it matters when.
Instant RandomFaults::some_moment(ProcessId victim, Instant from, Instant until) {
  const Duration lo = from.offset();
  const Duration hi = std::max(lo, until.offset());
  std::vector<Duration> moments{lo, hi, hi};
  const auto add = [&](Duration moment) {
    if (moment >= lo && moment <= hi) moments.push_back(moment);
  };
  if (!victim.is_valid()) {
    if (hi > lo) moments.push_back(lo + kGrain * random_->between(0, (hi - lo).count_ns() / kGrain.count_ns()));
    return at(one_of(moments, *random_));
  }
  if (world_.state(victim).was_paused) {
    add(world_.state(victim).frozen_until.offset());
    add(world_.state(victim).frozen_until.offset());
  }
  for (const sim::Operation& operation : world_.history().operations) {
    if (operation.process != victim || !operation.valid_until) continue;
    for (const Duration by : {Duration::zero(), kGrain, -kGrain}) add(operation.valid_until->offset() + by);
  }
  if (hi > lo) moments.push_back(lo + kGrain * random_->between(0, (hi - lo).count_ns() / kGrain.count_ns()));
  return at(one_of(moments, *random_));
}

// --- Runs.

void DrawnDecisions::begin(const RunDraw& draw, Random& random) {
  draw_ = &draw;
  random_ = &random;
  next_reseed_ = 0;
  questions_ = 0;
  if (draw.strategy == Strategy::boundary) moody_.begin(random, draw.limit ? draw.limit->range.hi : Duration::zero());
  if (draw.strategy == Strategy::priority) priority_.begin(random, draw.depth, draw.typical);
}

std::uint64_t DrawnDecisions::choose(sim::Choice choice, std::uint64_t options, sim::EventId event) {
  if (draw_ == nullptr) return 0;
  const std::vector<Reseed>& reseeds = draw_->reseeds;
  for (; next_reseed_ < reseeds.size() && reseeds[next_reseed_].question <= questions_; ++next_reseed_)
    *random_ = Random(reseeds[next_reseed_].seed);
  ++questions_;
  switch (draw_->strategy) {
    case Strategy::boundary: return moody_.choose(choice, options, event);
    case Strategy::priority: return priority_.choose(choice, options, event);
    case Strategy::uniform: break;
  }
  return random_->below(options);
}

RandomRuns::RandomRuns(const Scenario& scenario, const models::locks::Catalogue& catalogue)
    : scenario_(scenario),
      telling_(telling_lengths(scenario, *find_entry(scenario.lock, catalogue))),
      deployment_(scenario, catalogue, door_, Deployment::Faults::none),
      recorder_(scenario, deployment_),
      decisions_(telling_, deployment_.world(), recorder_),
      faults_(scenario, deployment_, recorder_, telling_) {
  door_.to = &decisions_;
}

bool RandomRuns::play(const RunDraw& draw, bool writes, std::optional<std::pair<Instant, Instant>> visit) {
  sim::Simulation& simulation = deployment_.simulation();
  simulation.restart();
  simulation.set_fate(&faults_);
  recorder_.begin(writes);
  Random random(draw.seed);
  Random own(draw.fault_seed.value_or(0));
  decisions_.begin(draw, random);
  faults_.begin(draw.fault_seed ? own : random, draw.limit, draw.typical);
  execution_.emplace(scenario_, deployment_, kRandomEventsMax);
  std::optional<Diagnostic> problem;
  if (visit) {
    execution_->play_until(visit->first, visit->second);
  } else {
    problem = execution_->play();
  }
  simulation.set_fate(nullptr);
  decisions_.calm_down();
  return take(problem);
}

/// Whether a run can be judged that ended so; `why_not_judged_` says why not. One text for all runs of which it is so.
bool RandomRuns::take(const std::optional<Diagnostic>& problem) {
  why_not_judged_ = deployment_.mistake().value_or("");
  if (problem && problem->kind == Diagnostic::Kind::bound) {
    why_not_judged_ = fmt::format("not over after {} events", kRandomEventsMax);
  } else if (problem) {
    why_not_judged_ = problem->message.starts_with("the story does not go on")
                          ? "a client never waits: give it a retry or a latency"
                          : problem->message;
  }
  return why_not_judged_.empty();
}

std::optional<std::vector<checker::Finding>> RandomRuns::run(const RunDraw& draw) {
  last_ = draw;
  if (!play(last_, false)) return std::nullopt;
  const std::span<const std::string> wanted = draw.properties;
  const auto is_wanted = [wanted](std::string_view property) {
    return wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), property);
  };
  if (!draw.asks_whether_it_recovers) return execution_->findings(is_wanted);
  std::optional<Instant> visit;
  if (deployment_.is_visited()) {
    // One run, one visit: which, chance says.
    const std::vector<Instant> visits = execution_->other_visits();
    const std::uint64_t which = sim::mix64(draw.seed) % (visits.size() + 1);
    if (which > 0) visit = visits[which - 1];
  }
  std::optional<std::vector<checker::Finding>> known;
  if (visit && visit->offset() < execution_->quiescent().offset()) {
    known = execution_->findings(is_wanted);
    play(draw, false, std::pair(*visit, execution_->quiescent()));
  }
  const auto troubled = execution_->probe(Execution::Patience::just_beyond_the_bound, visit.value_or(Instant()));
  if (!take(troubled)) return std::nullopt;
  std::vector<checker::Finding> findings = execution_->findings(is_wanted);
  for (std::size_t i = 0; known && i < findings.size(); ++i) {
    if (findings[i].property != "recoverable") findings[i] = std::move((*known)[i]);
  }
  return findings;
}

std::optional<std::vector<checker::Finding>> RandomRuns::run(std::uint64_t seed, const std::optional<FaultLimit>& limit,
                                                             bool asks_whether_it_recovers) {
  auto findings = run({.seed = seed,
                       .typical = typical_,
                       .limit = limit,
                       .asks_whether_it_recovers = asks_whether_it_recovers,
                       .properties = asked_});
  typical_ = std::max(typical_, faults_.looked());
  return findings;
}

void RandomRuns::ask(std::string_view property) {
  asked_.insert(std::upper_bound(asked_.begin(), asked_.end(), property), std::string(property));
}

Scenario RandomRuns::story() {
  play(last_, true);
  return recorder_.story();
}

}  // namespace lockstep::scenarios
