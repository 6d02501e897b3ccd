#include "scenarios/exploring/oracles/grid.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "scenarios/deployment/allowed_faults.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/exploring/judging/how_long.hpp"
#include "scenarios/running/execution.hpp"
#include "sim/time/ticks.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Verdict;
using sim::Duration;
using sim::Ticks;

constexpr std::uint64_t kEventsMax = 1'000'000;  // of one run
constexpr std::uint64_t kProgressEvery = 256;    // runs

/// All answers to all questions, one run each: an odometer whose digits appear as they are asked for.
class Odometer final : public sim::Decisions {
 public:
  std::uint64_t choose(sim::Choice, std::uint64_t options, sim::EventId) override {
    if (!is_asked) return 0;
    if (next_ == digits_.size()) digits_.push_back({options, 0});
    return digits_[next_++].index;
  }

  /// To the next run; false: that was the last one.
  bool advance() {
    digits_.resize(next_);
    next_ = 0;
    while (!digits_.empty() && digits_.back().index + 1 == digits_.back().options) digits_.pop_back();
    if (digits_.empty()) return false;
    ++digits_.back().index;
    return true;
  }

  /// Which part of all runs lies behind, were all branches of a digit equally large.
  double part_done() const {
    double part = 0;
    double width = 1;
    for (const Digit& digit : digits_) {
      width /= static_cast<double>(digit.options);
      part += width * static_cast<double>(digit.index);
    }
    return part;
  }

  bool is_asked = true;  ///< false: the answers are defaults, and no digits

 private:
  struct Digit {
    std::uint64_t options;
    std::uint64_t index;
  };
  std::vector<Digit> digits_;
  std::size_t next_ = 0;
};

/// The faults of `[[may]]`, each where the odometer lets it strike.
class FaultsOnGrid final : public sim::Fate {
 public:
  FaultsOnGrid(const Scenario& scenario, Deployment& deployment, Duration tick)
      : world_(deployment.world()), tick_(tick), allowed_(scenario, deployment) {}

  /// A run begins: nothing has struck. Clocks that are off are so before anything happens.
  void begin() {
    allowed_.begin();
    afterwards_.reset();
    is_void_ = false;
    for (Budget& budget : allowed_.budgets()) {
      if (!is_from_the_start(budget.may->kind)) continue;
      const Ticks lengths(budget.may->length, tick_);
      for (const sim::ProcessId process : budget.who) {
        if (budget.left == 0) break;
        const std::uint64_t chosen = world_.choose(sim::Choice::fault, lengths.count() + 1);
        if (chosen != 0) strike(budget, process, lengths[chosen - 1], sim::Instant::origin());
      }
    }
  }

  /// Whether a pause turned out to have struck who was not at what it is for: no run of the story.
  bool is_void() {
    look_afterwards();
    return is_void_;
  }

  Duration late_by(const sim::Event& message) override {
    Duration late;
    for (Budget& budget : allowed_.budgets()) {
      if (!delays_message(budget.may->kind) || budget.left == 0 || late > Duration::zero()) continue;
      if (!allowed_.can_strike(budget, message)) continue;
      const Ticks lengths(budget.may->length, tick_);
      const std::uint64_t chosen = world_.choose(sim::Choice::fault, lengths.count() + 1);
      if (chosen == 0) continue;
      late = lengths[chosen - 1];
      allowed_.delay(budget, late);
      break;
    }
    return late;
  }

  Answer of(std::uint32_t slot, sim::Instant moment) override {
    look_afterwards();
    const sim::Event& event = world_.event(slot);
    std::uint64_t ways = 0;
    for (const Budget& budget : allowed_.budgets()) ways += ways_of(budget, event, moment);
    std::uint64_t chosen = world_.choose(sim::Choice::fault, ways + 1);
    if (chosen == 0) return Answer::happens;
    --chosen;
    for (Budget& budget : allowed_.budgets()) {
      const std::uint64_t own = ways_of(budget, event, moment);
      if (chosen < own) return strike(budget, chosen, event.process, moment);
      chosen -= own;
    }
    return Answer::happens;
  }

  /// The largest value with which a fault of this parameter struck in the present run; zero if none did.
  Duration largest(std::string_view parameter) const { return allowed_.largest(parameter); }

 private:
  using Budget = AllowedFaults::Budget;

  /// In how many ways this fault can strike before the event happens. A pause can also begin as it happens: what the
  /// process does then leaves only when the pause is over.
  std::uint64_t ways_of(const Budget& budget, const sim::Event& event, sim::Instant moment) const {
    if (budget.left == 0) return 0;
    const MaySpec& may = *budget.may;
    if (is_from_the_start(may.kind) || delays_message(may.kind)) return 0;
    if (loses_message(may.kind)) return allowed_.can_strike(budget, event) ? 1 : 0;
    if (cuts_off(may.kind)) {
      const std::optional<Ticks> moments = moments_of_partition(moment);
      return moments ? budget.sides.size() * moments->count() * Ticks(may.length, tick_).count() : 0;
    }
    if (comes_back(may)) {
      const auto victims = std::count_if(budget.who.begin(), budget.who.end(),
                                         [&](sim::ProcessId victim) { return can_crash(budget, victim); });
      return static_cast<std::uint64_t>(victims) * moments_until(moment).count() *
             Ticks(*may.restart_after, tick_).count();
    }
    if (is_of_work(may)) {
      std::uint64_t ways = 0;
      for (const sim::ProcessId victim : budget.who) {
        if (const auto moments = moments_at_work(victim, moment)) ways += moments->count();
      }
      return ways * Ticks(may.length, tick_).count();
    }
    if (!budget.allows(event.process) || !world_.state(event.process).alive) return 0;
    if (freezes(may.kind)) return 2 * Ticks(may.length, tick_).count();
    if (!allowed_.is_at_it(budget, event.process)) return 0;
    if (moves_clock(may.kind)) return Ticks(may.length, tick_).count();
    return 1;
  }

  static bool is_of_work(const MaySpec& may) { return may.during == sim::Activity::work && freezes(may.kind); }

  /// When a pause can begin, so that the work under way takes longer: at any moment since the event before, but not
  /// before another is over. Nothing: at none.
  std::optional<Ticks> moments_at_work(sim::ProcessId victim, sim::Instant moment) const {
    const sim::ProcessState& state = world_.state(victim);
    const Duration now = world_.now().offset();
    const Duration from = state.was_paused ? std::max(now, state.frozen_until.offset()) : now;
    if (!world_.is_working(victim) || from > moment.offset()) return std::nullopt;
    return Ticks({from, moment.offset()}, tick_);
  }

  Answer pause_work(Budget& budget, std::uint64_t way, sim::Instant moment) {
    const Ticks lengths(budget.may->length, tick_);
    const Duration length = lengths[way % lengths.count()];
    way /= lengths.count();
    for (const sim::ProcessId victim : budget.who) {
      const std::optional<Ticks> moments = moments_at_work(victim, moment);
      if (!moments) continue;
      if (way < moments->count()) {
        strike(budget, victim, length, sim::Instant::at((*moments)[way]));
        break;
      }
      way -= moments->count();
    }
    return Answer::look_again;
  }

  bool can_crash(const Budget& budget, sim::ProcessId victim) const {
    return world_.state(victim).alive && allowed_.is_at_it(budget, victim);
  }

  /// A pause that begins as an event happens: only afterwards it is known what its process is at.
  void look_afterwards() {
    if (afterwards_) is_void_ = is_void_ || !allowed_.is_at_it(*afterwards_->first, afterwards_->second);
    afterwards_.reset();
  }

  Answer begin_partition(Budget& budget, std::uint64_t way, sim::Instant moment) {
    const Ticks lengths(budget.may->length, tick_);
    const Ticks moments = *moments_of_partition(moment);
    const Duration length = lengths[way % lengths.count()];
    way /= lengths.count();
    const Duration when = moments[way % moments.count()];
    way /= moments.count();
    allowed_.separate(budget, way, sim::Instant::at(when), length);
    return Answer::look_again;
  }

  /// After the event before, since that was not kept from sending what it sent. Nothing: there is no time between.
  std::optional<Ticks> moments_of_partition(sim::Instant moment) const {
    const bool is_first = world_.events_executed() == 0;
    const Duration from = world_.now().offset() + (is_first ? Duration::zero() : tick_);
    if (from > moment.offset()) return std::nullopt;
    return Ticks({from, moment.offset()}, tick_);
  }

  /// From the event before to this moment.
  Ticks moments_until(sim::Instant moment) const {
    return Ticks({world_.now().offset(), std::max(world_.now().offset(), moment.offset())}, tick_);
  }

  Answer crash_and_restart(Budget& budget, std::uint64_t way, sim::Instant moment) {
    const Ticks lengths(*budget.may->restart_after, tick_);
    const Ticks moments = moments_until(moment);
    const Duration after = lengths[way % lengths.count()];
    way /= lengths.count();
    const Duration when = moments[way % moments.count()];
    way /= moments.count();
    sim::ProcessId chosen;
    for (const sim::ProcessId victim : budget.who) {
      if (can_crash(budget, victim) && way-- == 0) chosen = victim;
    }
    strike(budget, chosen, after, sim::Instant::at(when));
    return Answer::look_again;
  }

  Answer strike(Budget& budget, std::uint64_t way, sim::ProcessId process, sim::Instant moment) {
    const MaySpec& may = *budget.may;
    if (comes_back(may)) return crash_and_restart(budget, way, moment);
    if (cuts_off(may.kind)) return begin_partition(budget, way, moment);
    if (loses_message(may.kind)) {
      AllowedFaults::spend(budget);
      return Answer::lost;
    }
    if (is_of_work(may)) return pause_work(budget, way, moment);
    if (freezes(may.kind)) {
      const bool is_before = way % 2 == 0;
      if (is_before && !allowed_.is_at_it(budget, process)) is_void_ = true;
      if (!is_before) afterwards_ = {&budget, process};
      strike(budget, process, Ticks(may.length, tick_)[way / 2], moment);
      return is_before ? Answer::look_again : Answer::happens;
    }
    strike(budget, process, moves_clock(may.kind) ? Ticks(may.length, tick_)[way] : Duration::zero(), moment);
    return Answer::look_again;
  }

  void strike(Budget& budget, sim::ProcessId victim, Duration length, sim::Instant moment) {
    allowed_.strike(budget, allowed_.fault_of(budget, victim, length), moment);
  }

  sim::World& world_;
  Duration tick_;
  AllowedFaults allowed_;
  std::optional<std::pair<Budget*, sim::ProcessId>> afterwards_;
  bool is_void_ = false;
};

class Enumeration {
 public:
  Enumeration(const Scenario& scenario, const models::locks::Catalogue& catalogue, Duration tick,
              const ExplorationOptions& options)
      : scenario_(scenario),
        tick_(tick),
        options_(options),
        deployment_(scenario, catalogue, odometer_, Deployment::Faults::none),
        faults_(scenario, deployment_, tick) {
    deployment_.simulation().set_tick(tick);
    for (const checker::Property& property : checker::properties())
      result_.properties.emplace_back().name = property.name;
    unknown_.resize(result_.properties.size());
    is_tried_.resize(result_.properties.size());
    for (const MaySpec& may : scenario.may) {
      const std::string name(parameter_of(may));
      if (name.empty() || (!options.parameter.empty() && name != options.parameter)) continue;
      if (std::find(parameters_.begin(), parameters_.end(), name) == parameters_.end()) parameters_.push_back(name);
    }
  }

  std::variant<Exploration, Diagnostic> operator()() {
    const double begin = now();
    const auto elapsed = [&] { return now() - begin; };
    while (result_.bound.empty()) {
      if (std::optional<Diagnostic> problem = run_once()) return std::move(*problem);
      if (!odometer_.advance()) {
        result_.counts.complete = true;
        break;
      }
      const std::uint64_t runs = result_.counts.traces;
      if (options_.max_traces != 0 && runs >= options_.max_traces) result_.bound = "max-traces";
      if (options_.max_events != 0 && result_.counts.events >= options_.max_events) result_.bound = "max-events";
      if (runs % kProgressEvery != 0) continue;
      if (options_.max_seconds > 0 && elapsed() >= options_.max_seconds) result_.bound = "max-seconds";
      if (options_.interrupted && options_.interrupted()) result_.bound = "interrupted";
      if (options_.progress) report(elapsed());
    }
    result_.seconds = elapsed();
    conclude();
    return std::move(result_);
  }

 private:
  double now() const { return options_.stopwatch ? options_.stopwatch() : 0; }

  std::optional<Diagnostic> run_once() {
    sim::Simulation& simulation = deployment_.simulation();
    simulation.restart();
    odometer_.is_asked = true;
    faults_.begin();
    simulation.set_fate(&faults_);
    Execution execution(scenario_, deployment_, kEventsMax);
    if (std::optional<Diagnostic> problem = execution.play()) return problem;
    odometer_.is_asked = false;
    if (faults_.is_void()) return std::nullopt;
    simulation.set_fate(nullptr);
    if (options_.worst) note_how_long();
    if (std::optional<Diagnostic> problem = execution.probe()) return problem;

    ++result_.counts.traces;
    result_.counts.events += deployment_.world().events_executed();
    const std::vector<checker::Finding> findings = execution.findings();
    for (std::size_t i = 0; i < findings.size(); ++i) note(findings[i], i);
    if (result_.mistake.empty()) result_.mistake = deployment_.mistake().value_or("");
    return std::nullopt;
  }

  void note(const checker::Finding& finding, std::size_t index) {
    ExploredProperty& property = result_.properties[index];
    if (finding.verdict == Verdict::not_judged) {
      property.why = finding.why;
      return;
    }
    is_tried_[index] = true;
    if (finding.verdict == Verdict::unknown && unknown_[index].empty()) unknown_[index] = finding.why;
    if (finding.verdict != Verdict::violated) return;
    if (++property.violating_traces == 1) {
      property.verdict = Verdict::violated;
      const std::vector<std::string> names = deployment_.names();
      for (const sim::ProcessId process : finding.by) property.by.push_back(names[process.index]);
      property.why = finding.why;
      for (const std::string& parameter : parameters_)
        property.thresholds.push_back({parameter, {faults_.largest(parameter), true}, false});
    }
    for (Threshold& threshold : property.thresholds)
      threshold.infimum.value = std::min(threshold.infimum.value, faults_.largest(threshold.parameter));
  }

  void note_how_long() {
    const std::optional<std::int64_t> places = deployment_.places();
    ExploredProperty& property =
        result_.properties[checker::position_of_property(places ? "capacity" : "mutual-exclusion")];
    const Duration longest = longest_together(deployment_.world().history(), too_many(places), deployment_.probe());
    if (longest > Duration::zero() && (!property.worst || longest > property.worst->longest))
      property.worst = WorstCase{longest, false, longest, {}};
  }

  void conclude() {
    for (std::size_t i = 0; i < result_.properties.size(); ++i) {
      ExploredProperty& property = result_.properties[i];
      property.applies = deployment_.can_be_claimed(property.name);
      if (property.verdict == Verdict::violated) continue;
      if (!unknown_[i].empty()) {
        property.why = unknown_[i];
      } else if (!is_tried_[i] && result_.counts.complete) {
        property.verdict = Verdict::not_judged;
      } else if (result_.counts.complete) {
        property.verdict = Verdict::holds;
        property.why = fmt::format("in each of {} runs on a grid of {}", result_.counts.traces, sim::to_string(tick_));
      } else {
        property.why = fmt::format("not broken in {} runs on a grid of {}, and there are more", result_.counts.traces,
                                   sim::to_string(tick_));
      }
    }
  }

  void report(double seconds) const {
    ExplorationProgress progress{.counts = result_.counts, .seconds = seconds, .estimated_traces = {}};
    if (const double part = odometer_.part_done(); part > 0)
      progress.estimated_traces = static_cast<double>(result_.counts.traces) / part;
    options_.progress(progress);
  }

  const Scenario& scenario_;
  Duration tick_;
  const ExplorationOptions& options_;
  Odometer odometer_;
  Deployment deployment_;
  FaultsOnGrid faults_;
  std::vector<std::string> parameters_;
  std::vector<bool> is_tried_;        ///< by property: whether it was judged in some run
  std::vector<std::string> unknown_;  ///< by property: why some run could not be judged
  Exploration result_;
};

}  // namespace

std::variant<Exploration, Diagnostic> explore_grid(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                                   Duration tick, const ExplorationOptions& options) {
  return Enumeration(scenario, catalogue, tick, options)();
}

}  // namespace lockstep::scenarios
