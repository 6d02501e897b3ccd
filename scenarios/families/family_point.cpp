#include "scenarios/families/family_point.hpp"

#include <algorithm>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/families/family_story.hpp"
#include "scenarios/running/runner.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::Instant;
using sim::Slope;

constexpr std::uint64_t kMostEvents =
    20'000;  // of one run: a story that has not ended by then does not, or is too long to be run hundreds of times

/// All moments of what a client believes, and of whatever may end it.
std::vector<Instant> moments_of_beliefs(const sim::History& history) {
  std::vector<Instant> moments;
  for (const sim::Operation& operation : history.operations) {
    const bool begins = operation.function == "acquire" && operation.phase == sim::Phase::ok;
    const bool ends = operation.function == "release" || operation.function == "lost";
    if (begins) moments.push_back(operation.completed);
    if (begins && operation.valid_until) moments.push_back(*operation.valid_until);
    if (ends) moments.push_back(operation.invoked);
  }
  for (const sim::Interruption& interruption : history.interruptions) {
    moments.push_back(interruption.from);
    if (interruption.until) moments.push_back(*interruption.until);
  }
  return moments;
}

std::vector<Instant> moments_of_history(const sim::History& history) {
  std::vector<Instant> moments = moments_of_beliefs(history);
  for (const sim::Operation& operation : history.operations) {
    moments.push_back(operation.invoked);
    if (operation.phase != sim::Phase::invoke) moments.push_back(operation.completed);
    if (operation.lease_until) moments.push_back(*operation.lease_until);
  }
  // Where nobody renews, an end that matters is one that somebody met.
  const bool has_renewals = std::any_of(history.operations.begin(), history.operations.end(),
                                        [](const sim::Operation& operation) { return operation.function == "renew"; });
  for (const sim::Effect& effect : history.effects) {
    moments.push_back(effect.at);
    if (effect.lives_until && has_renewals) moments.push_back(*effect.lives_until);
  }
  return moments;
}

void note_orders(std::vector<Instant> moments, sim::LinearSimulation& simulation) {
  // One of each: whoever compares it with another compares all that are identical.
  const auto key = [&](Instant i) { return std::pair(simulation.slope(i), i.offset()); };
  std::sort(moments.begin(), moments.end(), [&](Instant a, Instant b) { return key(a) < key(b); });
  const auto same = [&](Instant a, Instant b) { return key(a) == key(b); };
  moments.erase(std::unique(moments.begin(), moments.end(), same), moments.end());
  for (std::size_t i = 0; i < moments.size(); ++i) {
    for (std::size_t j = i + 1; j < moments.size(); ++j) simulation.note_order(moments[i], moments[j]);
  }
}

void break_on_purpose(FamilyMutant mutant, FamilyPoint& point) {
  if (mutant == FamilyMutant::forget_bound && !point.bounds.empty()) {
    const auto is_closer = [](const sim::LinearBound& a, const sim::LinearBound& b) { return a.value < b.value; };
    point.bounds.erase(std::min_element(point.bounds.begin(), point.bounds.end(), is_closer));
  }
  if (mutant != FamilyMutant::late_border) return;
  for (sim::LinearBound& bound : point.bounds) ++bound.value;
}

}  // namespace

Scenario FamilyPoints::scenario(Duration x, Duration y) const {
  Scenario valued = with_value(story_.scenario, x_, x);
  return y_ == nullptr ? valued : with_value(std::move(valued), *y_, y);
}

FamilyPoint FamilyPoints::at(Duration x, Duration y, SameOrder order, bool explores) {
  const Scenario valued = scenario(x, y);
  sim::DefaultDecisions decisions;
  Deployment deployment(valued, catalogue_, decisions);
  sim::World& world = deployment.world();
  world.enable_brief_trace({});
  world.trace_without_texts();
  sim::LinearSimulation::Settings settings = linear_settings(story_, valued, catalogue_, deployment, x_, y_);
  settings.explores = explores;
  if (mutant_ == FamilyMutant::stiff_pauses) std::fill(settings.faults.begin(), settings.faults.end(), Slope{});
  sim::LinearSimulation simulation(world, std::move(settings));
  plan_partitions(valued, deployment, simulation, x_, y_);
  deployment.begin();
  const sim::LinearSimulation::End end = simulation.run(kMostEvents);
  events_ += world.events_executed();
  FamilyPoint point;
  point.is_impossible = end == sim::LinearSimulation::End::pin_impossible;
  point.is_unknown = simulation.is_approximate() || world.given_up() != nullptr || world.mistake() != nullptr ||
                     end == sim::LinearSimulation::End::too_many_events;
  if (!point.is_impossible) {
    note_orders(
        order == SameOrder::of_beliefs ? moments_of_beliefs(world.history()) : moments_of_history(world.history()),
        simulation);
    for (const sim::TraceRecord& record : world.trace().records) {
      point.events.push_back({record.id, record.sent.offset(), record.at.offset(), simulation.slope(record.sent),
                              simulation.slope(record.at)});
    }
  }
  if (!point.is_impossible && y_ != nullptr) {
    const auto moment = [&](Instant instant) { return PointMoment{instant.offset(), simulation.slope(instant)}; };
    const auto perhaps = [&](const std::optional<Instant>& instant) {
      return instant ? std::optional(moment(*instant)) : std::nullopt;
    };
    for (const sim::Operation& o : world.history().operations)
      point.operations.push_back({moment(o.invoked), moment(o.completed), perhaps(o.valid_until)});
    for (const sim::Interruption& i : world.history().interruptions)
      point.interruptions.push_back({moment(i.from), perhaps(i.until)});
  }
  point.bounds.assign(simulation.bounds().begin(), simulation.bounds().end());
  break_on_purpose(mutant_, point);
  return point;
}

std::vector<bool> FamilyPoints::worlds() const {
  const bool may_be_symbolic = !story_.scenario.sentinels && can_be_explored(story_.scenario, catalogue_);
  return may_be_symbolic ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

const FamilyPoints::Kept& FamilyPoints::kept_run(Duration x, Duration y, bool with_texts) {
  std::unique_ptr<Kept>& known = runs_[{x.count_ns(), y.count_ns()}];
  if (known && (known->has_texts || !with_texts)) return *known;
  const bool is_new = known == nullptr;
  const Scenario valued = scenario(x, y);
  RunOptions options{.trace = true, .texts = with_texts, .brief = true, .max_events = kMostEvents};
  FixedDelays decisions(story_);
  if (!story_.beyond.empty() || !story_.property.empty()) {
    options.decisions = &decisions;
    options.tick = Duration::nanoseconds(1);
  }
  known = std::make_unique<Kept>(Kept{run(valued, catalogue_, options), with_texts});
  const auto* outcome = std::get_if<Outcome>(&known->ran);
  // How far a family gets within its bound does not depend on which of its runs are told.
  if (is_new) events_ += outcome != nullptr ? outcome->events : kMostEvents;
  return *known;
}

bool FamilyPoints::shows(const FamilyPoint& point, Duration point_x, Duration point_y, Duration x, Duration y) {
  if (mutant_ == FamilyMutant::no_confirmation) return true;
  const Ran& ran = run_at(x, y);
  const auto* outcome = std::get_if<Outcome>(&ran);
  if (outcome == nullptr || point.is_impossible) return outcome == nullptr && point.is_impossible;
  const auto moved = [&](Duration at, Slope slope) { return at + (x - point_x) * slope.x + (y - point_y) * slope.y; };
  const std::size_t length = story_length(*outcome);
  if (length != point.events.size()) return false;
  return std::equal(point.events.begin(), point.events.end(), outcome->trace.records.begin(),
                    [&](const PointEvent& event, const sim::TraceRecord& record) {
                      // What never arrives has no moment at which it does.
                      return event.id == record.id && moved(event.sent, event.sent_slope) == record.sent.offset() &&
                             (record.lost || moved(event.at, event.at_slope) == record.at.offset());
                    });
}

std::vector<checker::OwnershipInterval> beliefs_of(const Outcome& outcome) {
  std::vector<checker::OwnershipInterval> beliefs = checker::ownership_intervals(outcome.history);
  std::erase_if(beliefs, [&](const checker::OwnershipInterval& belief) {
    return outcome.lanes[belief.process.index].role == Lane::Role::probe;
  });
  return beliefs;
}

bool do_overlap(const checker::OwnershipInterval& a, const checker::OwnershipInterval& b) {
  return a.object == b.object && a.process != b.process && !(a.is_shared && b.is_shared) && !a.is_empty() &&
         !b.is_empty() && (a.contains(b.from) || b.contains(a.from));
}

std::vector<FamilyVerdict> verdicts_of(const Outcome& outcome) {
  std::vector<FamilyVerdict> verdicts;
  for (const Judgement& judgement : outcome.properties)
    verdicts.push_back({judgement.finding.property, judgement.finding.verdict});
  return verdicts;
}

/// The probe is the first to act when the story is over; what others do by themselves after that is nobody's.
std::size_t story_length(const Outcome& outcome) {
  const auto is_of_probe = [&](sim::ProcessId process) {
    return process.is_valid() && outcome.lanes[process.index].role == Lane::Role::probe;
  };
  const auto is_probe = [&](const sim::TraceRecord& record) {
    return is_of_probe(record.process) || is_of_probe(record.from);
  };
  return static_cast<std::size_t>(std::find_if(outcome.trace.records.begin(), outcome.trace.records.end(), is_probe) -
                                  outcome.trace.records.begin());
}

}  // namespace lockstep::scenarios
