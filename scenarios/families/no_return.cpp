#include "scenarios/families/no_return.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <variant>

#include "checker/explorer/explorer.hpp"
#include "checker/properties/properties.hpp"
#include "checker/violations/violations.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/exploring/trace_judge.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/witness/witness.hpp"
#include "scenarios/witness/witness_times.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Constraint;
using checker::DifferenceConstraints;
using checker::ExploredEvent;
using checker::ExploredFault;
using checker::Explorer;
using sim::Duration;
using sim::Instant;

/// A fault of the run, as it happened.
struct PastFault {
  ExploredFault::Kind kind;
  ExploredFault::Place place;
  sim::ProcessId process;
  sim::EventId event;  ///< crash, jump, lose, delay, and a pause that begins after it
  std::uint32_t emission;
  Duration from;
  Duration until;
  Duration least;  ///< a pause: what its budget allows
};

struct Reference {
  Witness witness;
  std::vector<NoReturnEvent> events;  ///< in the order of their times
  std::vector<PastFault> faults;
  Duration violated_at;
  bool is_supported = true;
};

/// x_to - x_from > bound.
Constraint negated(const Constraint& c) { return {c.to, c.from, checker::Bound::of_units(-c.bound.units() - 1)}; }

std::optional<Duration> violation_time(const Scenario& witness, const models::locks::Catalogue& catalogue,
                                       std::string_view property) {
  const auto is_it = [&](std::string_view name) { return name == property; };
  const auto result = run(witness, catalogue, {.brief = true, .asks = is_it});
  const auto* outcome = std::get_if<Outcome>(&result);
  if (outcome == nullptr) return std::nullopt;
  for (const Judgement& judgement : outcome->properties) {
    if (judgement.finding.property == property && judgement.finding.at) return judgement.finding.at->offset();
  }
  return std::nullopt;
}

class NoReturnSearch {
 public:
  NoReturnSearch(const Scenario& scenario, const models::locks::Catalogue& catalogue, std::string_view property,
                 const NoReturnOptions& options, std::vector<checker::FaultBudget> budgets)
      : scenario_(scenario), catalogue_(catalogue), property_(property), options_(options) {
    settings_.faults = std::move(budgets);
    settings_.max_traces = options.max_traces;
  }

  std::optional<NoReturn> operator()() {
    if (!find_reference()) return std::nullopt;
    NoReturn result;
    result.property = property_;
    result.witness = reference_->witness.scenario;
    result.events = reference_->events;
    result.violated_at = reference_->violated_at;
    if (!reference_->is_supported) {
      result.why = "clocks that are off by a range, and partitions, are not known here";
      return result;
    }
    Explorer explorer(settings_);
    ExploredStory story(scenario_, catalogue_, explorer, ExploredStory::Probe::none);
    resources_ = story.deployment().resources();
    // That it could be avoided until the very end no other trace changes.
    const checker::ExplorerCounts counts = explorer.explore(story, [&](Explorer& at_end) {
      look(at_end);
      return !is_avoidable_to_the_end();
    });
    result.traces = counts.traces;
    result.is_exact = counts.complete && is_exact_;
    if (!counts.complete && !is_avoidable_to_the_end()) result.why = "a bound ended the search";
    conclude(result);
    return result;
  }

 private:
  // --- The run.

  bool find_reference() {
    checker::ExplorerOptions settings = settings_;
    settings.alike = alike_processes(scenario_, catalogue_);
    Explorer explorer(settings);
    ExploredStory story(scenario_, catalogue_, explorer, ExploredStory::Probe::none);
    checker::ViolationFinder finder;
    const std::vector<JudgedParameter> parameters = judged_parameters(settings_.faults, "");
    TraceJudge judge(story, finder, settings_.faults, parameters);
    explorer.explore(story, [&](Explorer& at_end) {
      judge.look(at_end);
      return true;
    });
    const auto tally = std::find_if(judge.tallies().begin(), judge.tallies().end(),
                                    [&](const PropertyTally& t) { return t.name == property_; });
    if (tally == judge.tallies().end()) return false;
    for (const BestTrace& best : tally->best) {
      explorer.explore(story, best.branch, {.traces = 1}, [&](Explorer& at_end) {
        constexpr std::size_t kWays = 8;
        for (const TraceJudge::Way& way : judge.ways_to_break(property_, at_end, kWays)) {
          if (!reference_) take_reference(at_end, way);
        }
        return false;
      });
      if (reference_) return true;
    }
    return false;
  }

  void take_reference(Explorer& explorer, const TraceJudge::Way& way) {
    Violation violation;
    violation.property = property_;
    violation.constraints = way.constraints;
    violation.parameters = way.parameters;
    violation.pauses = way.pauses;
    const ExploredTrace trace = trace_of(explorer);
    auto made = make_witness(scenario_, catalogue_, trace, violation);
    auto* witness = std::get_if<Witness>(&made);
    const std::optional<WitnessTimes> times = witness_times(trace, violation);
    if (witness == nullptr || !times) return;
    const std::optional<Duration> at = violation_time(witness->scenario, catalogue_, property_);
    if (!at) return;
    reference_ = Reference{*witness, {}, {}, *at, trace.parameters.empty()};
    std::vector<std::pair<Duration, std::uint32_t>> order;
    for (std::uint32_t i = 0; i < trace.events.size(); ++i) order.emplace_back(times->of(trace.events[i].at), i);
    std::sort(order.begin(), order.end());
    for (const auto& [when, i] : order) {
      const ExploredEvent& event = trace.events[i];
      reference_->events.push_back(
          {event.id, event.process, event.kind, std::string(event.name), event.is_reply, when});
    }
    for (const ExploredFault& fault : trace.faults) add_fault(trace, *times, violation, fault);
  }

  void add_fault(const ExploredTrace& trace, const WitnessTimes& times, const Violation& violation,
                 const ExploredFault& fault) {
    const bool is_off = cuts_off(fault.kind) || is_from_the_start(fault.kind);
    reference_->is_supported = reference_->is_supported && !is_off;
    PastFault past{fault.kind,     fault.place,          fault.process,         {},
                   fault.emission, times.of(fault.from), times.of(fault.until), {}};
    const bool is_at_event = fault.place == ExploredFault::Place::itself || fault.place == ExploredFault::Place::after;
    if (is_at_event && fault.event < trace.events.size()) past.event = trace.events[fault.event].id;
    if (loses_message(fault.kind)) past.from = past.until = times.of(trace.events[fault.event].at);
    if (delays_message(fault.kind)) past.from = times.of(trace.events[fault.event].at);
    if (freezes(fault.kind)) past.least = settings_.faults[fault.budget].range.lo;
    for (const checker::WorkPauses& asked : violation.pauses) {
      if (fault.place != ExploredFault::Place::within || asked.event != fault.event) continue;
      const Duration earlier = past.from - times.of(asked.begin);
      past.from -= earlier;
      past.until -= earlier;
    }
    reference_->faults.push_back(past);
  }

  // --- One trace.

  /// Goes on from the longest past that is known to be avoidable, as long as this trace continues longer ones and keeps
  /// the property.
  void look(Explorer& explorer) {
    const std::vector<ExploredEvent> events = explorer.trace();
    position_of_.clear();
    for (std::uint32_t i = 0; i < events.size(); ++i) position_of_[{events[i].id, events[i].process}] = i;
    ways_.clear();
    bool has_ways = false;
    const std::vector<NoReturnEvent>& run = reference_->events;
    for (std::size_t length = avoidable_ ? *avoidable_ + 1 : 0; length <= run.size(); ++length) {
      if (length > 0 && run[length - 1].at >= reference_->violated_at) return;
      if (length > 0 && !position_of_.contains({run[length - 1].id, run[length - 1].process})) return;
      DifferenceConstraints& constraints = explorer.constraints();
      const DifferenceConstraints::Mark mark = constraints.mark();
      bool is_kept = has_past(explorer, events, length);
      if (is_kept && !std::exchange(has_ways, true)) collect_ways(explorer);
      is_kept = is_kept && keeps(constraints);
      constraints.undo(mark);
      if (!is_kept) return;
      avoidable_ = length;
    }
  }

  /// Adds what the first events of the run say of this trace. False: it does not continue them.
  bool has_past(Explorer& explorer, const std::vector<ExploredEvent>& events, std::size_t length) {
    if (length == 0) return true;
    DifferenceConstraints& constraints = explorer.constraints();
    const std::vector<NoReturnEvent>& run = reference_->events;
    const Instant now = Instant::at(run[length - 1].at);
    std::vector<bool> is_past(events.size(), false);
    for (std::size_t i = 0; i < length; ++i) {
      const auto known = position_of_.find({run[i].id, run[i].process});
      if (known == position_of_.end() || !are_equal(constraints, events[known->second].at, run[i].at)) return false;
      // What happened at one moment happened in one order.
      for (std::size_t j = i; j-- > 0 && run[j].at == run[i].at;) {
        if (run[j].process == run[i].process && position_of_.at({run[j].id, run[j].process}) > known->second)
          return false;
      }
      is_past[known->second] = true;
    }
    if (options_.mutant != NoReturnMutant::past_is_open && !is_all_else_to_come(constraints, events, is_past, now))
      return false;
    return options_.mutant == NoReturnMutant::faults_are_free || has_faults(explorer, events, is_past, now);
  }

  /// All other events are not before now. One that this trace executes before an event of the past, at the same
  /// process, would at the same moment still be one of the past, if the two depend on each other (if not, their order
  /// is nobody's): so it comes later.
  static bool is_all_else_to_come(DifferenceConstraints& constraints, const std::vector<ExploredEvent>& events,
                                  const std::vector<bool>& is_past, Instant now) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (is_past[i]) continue;
      if (!constraints.add_at_most(now, events[i].at)) return false;
      for (std::size_t j = i + 1; j < events.size(); ++j) {
        const bool is_first = is_past[j] && events[j].process == events[i].process;
        if (is_first && !constraints.add_at_most(events[j].at, events[i].at, true)) return false;
      }
    }
    return true;
  }

  static bool are_equal(DifferenceConstraints& constraints, Instant symbolic, Duration at) {
    return constraints.add_at_most(symbolic, Instant::at(at)) && constraints.add_at_most(Instant::at(at), symbolic);
  }

  /// Each fault of the past is one of this trace, and each other fault of this trace is none of the past.
  bool has_faults(Explorer& explorer, const std::vector<ExploredEvent>& events, const std::vector<bool>& is_past,
                  Instant now) {
    const std::span<const ExploredFault> faults = explorer.faults();
    std::vector<bool> is_used(faults.size(), false);
    for (const PastFault& past : reference_->faults) {
      if (!has_struck(past, events, is_past, now)) continue;
      std::size_t i = 0;
      while (i < faults.size() && (is_used[i] || !is_like(faults[i], events, past))) ++i;
      if (i == faults.size()) {
        if (!may_be_unnoticed(past, explorer, events, is_past, now)) return false;
        continue;
      }
      is_used[i] = true;
      if (!is_as(faults[i], past, explorer.constraints(), now)) return false;
    }
    for (std::size_t i = 0; i < faults.size(); ++i) {
      if (!is_used[i] && !is_to_come(faults[i], explorer.constraints(), is_past, now)) return false;
    }
    return true;
  }

  /// What strikes with an event has struck when that has happened; a pause between events, from its beginning on.
  bool has_struck(const PastFault& past, const std::vector<ExploredEvent>& events, const std::vector<bool>& is_past,
                  Instant now) const {
    if (past.event == sim::EventId{}) return past.from < now.offset();
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (is_past[i] && events[i].id == past.event) return true;
    }
    return false;
  }

  static bool is_like(const ExploredFault& fault, const std::vector<ExploredEvent>& events, const PastFault& past) {
    using Place = ExploredFault::Place;
    if (fault.kind != past.kind || fault.process != past.process) return false;
    const bool is_after = past.place == Place::after || past.place == Place::itself;
    if (!is_after) return fault.place == Place::before || fault.place == Place::within;
    return fault.place == past.place && fault.emission == past.emission && fault.event < events.size() &&
           events[fault.event].id == past.event;
  }

  /// It began when it did; it ended when it did, or if that is to come, it ends when it likes.
  bool is_as(const ExploredFault& fault, const PastFault& past, DifferenceConstraints& constraints, Instant now) const {
    if (loses_message(fault.kind) || is_own_event(fault.kind)) return true;
    const bool is_within = fault.place == ExploredFault::Place::within;
    if (freezes(fault.kind)) {
      // Within work it may have begun at any moment up to `from`, and makes the work end later by its length.
      const bool begins = is_within ? constraints.add_at_most(fault.work_from, Instant::at(past.from)) &&
                                          constraints.add_at_most(Instant::at(past.from), fault.from)
                                    : are_equal(constraints, fault.from, past.from);
      if (!begins) return false;
    }
    if (options_.mutant == NoReturnMutant::lengths_are_fixed) return are_equal(constraints, fault.until, past.until);
    // Of work that is over, its end is an event of the past.
    if (past.until <= now.offset()) return is_within || are_equal(constraints, fault.until, past.until);
    return constraints.add_at_most(now, fault.until);
  }

  /// A pause that has begun may be over before anybody notices it: then no trace has it. But it lasts as long as it
  /// must.
  bool may_be_unnoticed(const PastFault& past, Explorer& explorer, const std::vector<ExploredEvent>& events,
                        const std::vector<bool>& is_past, Instant now) const {
    const bool is_between = freezes(past.kind) && past.place == ExploredFault::Place::before;
    const bool is_open = past.until > now.offset() && options_.mutant != NoReturnMutant::lengths_are_fixed;
    if (!is_between || !is_open) return false;
    const Instant end = Instant::at(past.from + past.least);
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (is_past[i] || events[i].process != past.process) continue;
      // Work would be prolonged by it.
      const bool is_work = events[i].kind == sim::EventKind::timer && events[i].timer_kind == sim::TimerKind::work;
      if (is_work && !explorer.constraints().add_at_most(now, events[i].base)) return false;
      if (!explorer.constraints().add_at_most(end, events[i].at)) return false;
    }
    return true;
  }

  static bool is_to_come(const ExploredFault& fault, DifferenceConstraints& constraints,
                         const std::vector<bool>& is_past, Instant now) {
    using Place = ExploredFault::Place;
    const bool is_of_event = fault.event < is_past.size();
    if (cuts_off(fault.kind) || is_from_the_start(fault.kind)) return false;
    if (fault.place == Place::itself || fault.place == Place::after) return is_of_event && !is_past[fault.event];
    return constraints.add_at_most(now, fault.from);
  }

  // --- Whether the property can be kept.

  void collect_ways(Explorer& explorer) {
    const auto found = finder_.find(explorer.world().history(), explorer.faults(), resources_);
    for (const checker::Violation& way : found) {
      if (way.property != property_) continue;
      if (!ways_.empty() && options_.mutant == NoReturnMutant::one_way) break;
      ways_.push_back(way);
    }
  }

  bool keeps(DifferenceConstraints& constraints) {
    steps_ = 0;
    return keeps_from(0, constraints);
  }

  /// One constraint of each way that is left does not hold. A way that only a replay could tell of, or that needs sums
  /// of times, is avoided by its constraints, or not at all.
  bool keeps_from(std::size_t first, DifferenceConstraints& constraints) {
    constexpr std::uint32_t kMostSteps = 20'000;
    while (first < ways_.size() && !constraints.is_feasible_with(ways_[first].constraints)) ++first;
    if (first == ways_.size()) return true;
    if (++steps_ > kMostSteps) {
      is_exact_ = false;
      return false;
    }
    if (!ways_[first].sums.empty() || ways_[first].is_widened) is_exact_ = false;
    for (const Constraint& condition : ways_[first].constraints) {
      if (!condition.bound.is_finite()) continue;
      const DifferenceConstraints::Mark mark = constraints.mark();
      const bool is_kept = constraints.add(negated(condition)) && keeps_from(first + 1, constraints);
      constraints.undo(mark);
      if (is_kept) return true;
    }
    return false;
  }

  // --- The answer.

  bool is_avoidable_to_the_end() const {
    if (!avoidable_) return false;
    const std::vector<NoReturnEvent>& run = reference_->events;
    return run[std::min(*avoidable_, run.size() - 1)].at >= reference_->violated_at;
  }

  void conclude(NoReturn& result) const {
    using Answer = NoReturn::Answer;
    if (!avoidable_) {
      result.answer = result.is_exact ? Answer::beginning : Answer::unknown;
      if (!result.is_exact && result.why.empty()) result.why = "only a replay could tell whether it is kept";
      return;
    }
    result.step = std::min(*avoidable_, result.events.size() - 1);
    const bool is_end = is_avoidable_to_the_end();
    if (is_end) result.is_exact = true;
    result.answer = is_end ? Answer::at_end : Answer::at_event;
  }

  const Scenario& scenario_;
  const models::locks::Catalogue& catalogue_;
  std::string_view property_;
  const NoReturnOptions& options_;
  checker::ExplorerOptions settings_;
  std::optional<Reference> reference_;
  std::optional<std::size_t> avoidable_;  ///< the longest past that some continuation keeps
  std::map<std::pair<sim::EventId, sim::ProcessId>, std::uint32_t> position_of_;
  checker::ViolationFinder finder_;
  std::vector<checker::Violation> ways_;
  std::vector<sim::ProcessId> resources_;
  std::uint32_t steps_ = 0;
  bool is_exact_ = true;
};

}  // namespace

std::optional<NoReturn> no_return(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                  std::string_view property, const NoReturnOptions& options) {
  const checker::Property* known = checker::find_property(property);
  const bool is_of_order = known != nullptr && known->decided_by == checker::DecidedBy::order;
  if (!is_of_order || !can_be_explored(scenario, catalogue)) return std::nullopt;
  auto budgets = fault_budgets(scenario);
  if (std::holds_alternative<Diagnostic>(budgets)) return std::nullopt;
  return NoReturnSearch(scenario, catalogue, known->name, options,
                        std::get<std::vector<checker::FaultBudget>>(std::move(budgets)))();
}

std::vector<NoReturn> points_of_no_return(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                          const Exploration& exploration, const NoReturnOptions& options) {
  std::vector<NoReturn> points;
  for (const ExploredProperty& property : exploration.properties) {
    const bool is_asked = property.claim != Claim::none || property.expected || !property.thresholds.empty();
    if (property.verdict != checker::Verdict::violated || !is_asked) continue;
    if (std::optional<NoReturn> point = no_return(scenario, catalogue, property.name, options))
      points.push_back(*std::move(point));
  }
  return points;
}

}  // namespace lockstep::scenarios
