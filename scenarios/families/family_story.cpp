#include "scenarios/families/family_story.hpp"

#include <algorithm>
#include <utility>

#include "scenarios/running/runner.hpp"
#include "scenarios/story/step_name.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::DurationRange;
using sim::FaultKind;
using sim::Slope;

/// The clocks are numbered as clients, then servers.
ClockSpec& clock_of_process(Scenario& story, std::size_t index) {
  return index < story.clients.size() ? story.clients[index].clock : story.servers[index - story.clients.size()].clock;
}

const ClockSpec& clock_of_process(const Scenario& story, std::size_t index) {
  return clock_of_process(const_cast<Scenario&>(story), index);
}

/// What [[may]] allows of such a fault; nothing if it says nothing, or one length alone.
std::optional<DurationRange> allowed(const Scenario& story, FaultKind kind) {
  std::optional<DurationRange> all;
  for (const MaySpec& may : story.may) {
    const DurationRange* range = may.kind == kind ? length_of(may) : nullptr;
    if (range == nullptr || range->is_exact()) continue;
    all = all ? DurationRange{std::min(all->lo, range->lo), std::max(all->hi, range->hi)} : *range;
  }
  return all;
}

/// Far enough to see what comes of it: the longest lease beyond what the story has, or what it allows.
DurationRange range_of(const Scenario& story, std::optional<FaultKind> kind, Duration value, Duration lease) {
  const bool has_sign = kind && moves_clock(*kind);
  const Duration size = std::max(value, -value);
  const Duration far = std::max(size * 2, size + lease * 2);
  DurationRange range{has_sign ? -far : Duration::zero(), far};
  if (const auto may = kind ? allowed(story, *kind) : std::nullopt) {
    range = {std::min(may->lo, value), std::max(may->hi, value)};
  }
  return range;
}

bool is_client(const Scenario& story, const std::string& name) {
  return std::any_of(story.clients.begin(), story.clients.end(),
                     [&](const ClientSpec& c) { return name == c.name || name.starts_with(c.name + "/"); });
}

bool has_drift(const Scenario& story) {
  const auto drifts = [](const auto& process) { return process.clock.drift_ppm != 0; };
  return std::any_of(story.clients.begin(), story.clients.end(), drifts) ||
         std::any_of(story.servers.begin(), story.servers.end(), drifts) ||
         (story.sentinels && std::any_of(story.sentinels->each.begin(), story.sentinels->each.end(), drifts));
}

Slope along(std::int32_t amount, bool is_y) { return is_y ? Slope{0, amount} : Slope{amount, 0}; }

/// Which connections are as slow as this parameter says: those that a story with one nanosecond more makes slower.
void add_latencies(const Scenario& valued, const models::locks::Catalogue& catalogue, const Deployment& deployment,
                   const FamilyParameter& parameter, bool is_y, sim::LinearSimulation::Settings& settings) {
  const sim::World& world = deployment.world();
  settings.latencies.resize(world.connection_count());
  const Duration value =
      parameter.index == 0 ? valued.network.latency.lo : valued.servers[parameter.index - 1].latency->lo;
  const Scenario slower = with_value(valued, parameter, value + Duration::nanoseconds(1));
  sim::DefaultDecisions decisions;
  const Deployment other(slower, catalogue, decisions);
  for (std::uint32_t i = 0; i < world.connection_count(); ++i) {
    const sim::ConnectionId connection{i};
    const Duration more = other.world().latency_of(connection).lo - world.latency_of(connection).lo;
    settings.latencies[i] = settings.latencies[i] + along(static_cast<std::int32_t>(more.count_ns()), is_y);
  }
}

std::vector<sim::Pin> pins_of(const Scenario& story, const Deployment& deployment) {
  std::vector<sim::Pin> order;
  for (const PinEntry& entry : story.pin) {
    order.push_back({.client = deployment.process_named(entry.client),
                     .step = message_named(entry.command),
                     .occurrence = entry.occurrence,
                     .server = entry.server.empty() ? sim::ProcessId{} : deployment.process_named(entry.server)});
  }
  return order;
}

}  // namespace

std::string_view kind_of(const FamilyParameter& parameter) {
  return parameter.fault ? entry_of(*parameter.fault).parameter : "latency";
}

std::string name_of(const FamilyParameter& parameter) {
  const std::string kind(kind_of(parameter));
  return parameter.who.empty() ? kind : kind + " " + parameter.who;
}

std::vector<FamilyParameter> family_parameters(const Scenario& story, const models::locks::Catalogue& catalogue) {
  sim::DefaultDecisions decisions;
  const Deployment deployment(story, catalogue, decisions, Deployment::Faults::none);
  const Duration lease = deployment.lease().value_or(Duration::seconds(1));
  std::vector<FamilyParameter> all;
  const auto add = [&](std::optional<FaultKind> kind, std::size_t index, std::string who, Duration value) {
    all.push_back({kind, index, std::move(who), value, range_of(story, kind, value, lease)});
  };
  for (std::size_t i = 0; i < story.faults.size(); ++i) {
    const FaultSpec& fault = story.faults[i];
    const DurationRange* length = length_of(fault);
    if (length == nullptr || !length->is_exact()) continue;
    if (moves_clock(fault.kind) && is_client(story, fault.who)) continue;
    add(fault.kind, i, fault.who, length->lo);
  }
  const std::size_t clocks = story.clients.size() + story.servers.size();
  for (std::size_t i = 0; i < clocks; ++i) {
    const ClockSpec& clock = clock_of_process(story, i);
    if (clock.offset == Duration::zero()) continue;
    const bool is_of_client = i < story.clients.size();
    add(FaultKind::skew, i, is_of_client ? story.clients[i].name : story.servers[i - story.clients.size()].name,
        clock.offset);
  }
  add(std::nullopt, 0, "", story.network.latency.lo);
  all.back().range.hi = std::max(all.back().range.hi, story.network.latency.hi);
  for (std::size_t i = 0; i < story.servers.size(); ++i) {
    if (story.servers[i].latency) add(std::nullopt, i + 1, story.servers[i].name, story.servers[i].latency->lo);
  }
  return all;
}

Scenario with_value(Scenario story, const FamilyParameter& parameter, Duration value) {
  const auto set = [&](DurationRange& range) { range = {value, std::max(value, range.hi)}; };
  if (!parameter.fault) {
    set(parameter.index == 0 ? story.network.latency : *story.servers[parameter.index - 1].latency);
  } else if (is_from_the_start(*parameter.fault)) {
    clock_of_process(story, parameter.index).offset = value;
  } else {
    *length_of(story.faults[parameter.index]) = DurationRange::exactly(value);
  }
  return story;
}

std::optional<FamilyStory> as_told(const Scenario& story) {
  if (!story.schedule.empty() || has_drift(story)) return std::nullopt;
  return FamilyStory{story, {}, {}};
}

std::uint64_t FixedDelays::choose(sim::Choice choice, std::uint64_t options, sim::EventId event) {
  if (choice != sim::Choice::delay) return 0;
  const auto known = story_.beyond.find(event);
  if (known == story_.beyond.end()) return 0;
  return std::min(static_cast<std::uint64_t>(known->second.count_ns()), options - 1);
}

sim::LinearSimulation::Settings linear_settings(const FamilyStory& story, const Scenario& valued,
                                                const models::locks::Catalogue& catalogue, const Deployment& deployment,
                                                const FamilyParameter& x, const FamilyParameter* y) {
  sim::LinearSimulation::Settings settings;
  settings.faults.resize(valued.faults.size());
  settings.clocks.resize(deployment.world().process_count());
  for (const FamilyParameter* parameter : {&x, y}) {
    if (parameter == nullptr) continue;
    const bool is_y = parameter == y;
    if (!parameter->fault) {
      add_latencies(valued, catalogue, deployment, *parameter, is_y, settings);
    } else if (!cuts_off(*parameter->fault)) {
      std::vector<Slope>& slopes = is_from_the_start(*parameter->fault) ? settings.clocks : settings.faults;
      slopes[parameter->index] = slopes[parameter->index] + along(1, is_y);
    }
  }
  settings.pins = pins_of(valued, deployment);
  if (!story.beyond.empty()) {
    settings.delay = [&story](const sim::Event& event) {
      const auto known = story.beyond.find(event.id);
      const Duration beyond = known == story.beyond.end() ? Duration::zero() : known->second;
      return std::min(event.delay.lo + beyond, event.delay.hi);
    };
  }
  return settings;
}

void plan_partitions(const Scenario& valued, Deployment& deployment, sim::LinearSimulation& simulation,
                     const FamilyParameter& x, const FamilyParameter* y) {
  const auto is_cut = [](const FamilyParameter* p) { return p != nullptr && p->fault && cuts_off(*p->fault); };
  const auto is_it = [&](const FamilyParameter* p, std::size_t i) { return is_cut(p) && p->index == i; };
  if (!is_cut(&x) && !is_cut(y)) return;
  sim::World& world = deployment.world();
  world.reunite();
  for (std::size_t i = 0; i < valued.faults.size(); ++i) {
    const FaultSpec& fault = valued.faults[i];
    if (!cuts_off(fault.kind)) continue;
    const sim::Instant from = sim::Instant::at(fault.trigger.time);
    const Slope slope{is_it(&x, i) ? 1 : 0, is_it(y, i) ? 1 : 0};
    world.plan(sim::Partition{deployment.sides_named(fault.between[0], fault.between[1]), from,
                              simulation.tilted(from + fault.length.lo, slope)});
  }
}

namespace {

/// How long each event of a run took, but for what pauses of its process added.
std::map<sim::EventId, Duration> delays_of(const Outcome& outcome) {
  std::map<sim::EventId, Duration> delays;
  for (const sim::TraceRecord& record : outcome.trace.records) {
    if (record.lost || record.kind == sim::EventKind::fault) continue;
    Duration delay = record.at.offset() - record.sent.offset();
    for (const sim::Interruption& pause : outcome.history.interruptions) {
      if (!freezes(pause.kind) || pause.process != record.process || !pause.until) continue;
      const bool is_work = record.kind == sim::EventKind::timer && record.name == "work";
      const bool is_within = pause.from.offset() >= record.sent.offset() && pause.from.offset() < record.at.offset();
      if (is_work && is_within) delay -= pause.until->offset() - pause.from.offset();
      // It waited for the end of the pause, so it did not come before its beginning.
      if (!is_work && pause.until->offset() == record.at.offset())
        delay = std::max(Duration::zero(), pause.from.offset() - record.sent.offset());
    }
    delays[record.id] = delay;
  }
  return delays;
}

bool breaks(const Scenario& story, const models::locks::Catalogue& catalogue, const FamilyStory& delays,
            std::string_view property) {
  FixedDelays decisions(delays);
  const auto is_it = [&](std::string_view name) { return name == property; };
  const auto result =
      run(story, catalogue, {.decisions = &decisions, .tick = Duration::nanoseconds(1), .brief = true, .asks = is_it});
  const auto* outcome = std::get_if<Outcome>(&result);
  return outcome != nullptr &&
         std::any_of(outcome->properties.begin(), outcome->properties.end(), [&](const Judgement& judgement) {
           return judgement.finding.property == property && judgement.finding.verdict == checker::Verdict::violated;
         });
}

}  // namespace

std::optional<FamilyStory> as_witnessed(const Scenario& witness, const Scenario& original, std::string_view property,
                                        const models::locks::Catalogue& catalogue) {
  if (has_drift(witness)) return std::nullopt;
  const auto result = run(witness, catalogue, {.trace = true, .places_in_programs = false, .texts = false});
  const auto* outcome = std::get_if<Outcome>(&result);
  if (outcome == nullptr) return std::nullopt;
  const std::map<sim::EventId, Duration> delays = delays_of(*outcome);
  FamilyStory story{witness, std::string(property), {}};
  story.scenario.schedule.clear();
  story.scenario.may = original.may;
  sim::DefaultDecisions decisions;
  Deployment deployment(story.scenario, catalogue, decisions);
  sim::LinearSimulation::Settings settings;
  settings.pins = pins_of(story.scenario, deployment);
  settings.delay = [&](const sim::Event& event) {
    const auto known = delays.find(event.id);
    // What was called off had not come by then.
    const Duration wanted = known == delays.end() ? event.delay.hi : known->second;
    const Duration delay = std::clamp(wanted, event.delay.lo, event.delay.hi);
    if (delay > event.delay.lo) story.beyond[event.id] = delay - event.delay.lo;
    return delay;
  };
  sim::LinearSimulation simulation(deployment.world(), std::move(settings));
  deployment.begin();
  constexpr std::uint64_t kMost = 100'000;  // events
  simulation.run(kMost);
  if (!breaks(story.scenario, catalogue, story, property)) return std::nullopt;
  return story;
}

}  // namespace lockstep::scenarios
