#include "scenarios/running/execution.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/belief/progress.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/lock_objects.hpp"
#include "checker/properties/properties.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "checker/properties/server/order_properties.hpp"
#include "checker/properties/server/recoverable.hpp"
#include "sim/invariant.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::Instant;

/// Whether anything was begun after everything had come to rest in that step.
bool goes_on_after(const sim::History& history, sim::Step rest) {
  return (!history.operations.empty() && history.operations.back().invoked_in > rest) ||
         (!history.effects.empty() && history.effects.back().step > rest);
}

/// The history up to the step in which everything came to rest. What the probe does afterwards is no part of the story;
/// nor are the ticks that come before the probe asks for the first time, at the same moment or much later: an
/// exploration, whose story ends with that step, too, does not judge them.
sim::History story_of(const sim::History& history, sim::Step rest) {
  sim::History story = history;
  std::erase_if(story.operations, [&](const sim::Operation& operation) { return operation.invoked_in > rest; });
  std::erase_if(story.effects, [&](const sim::Effect& effect) { return effect.step > rest; });
  // What was under way (a renewal: a story does not wait for it) had not ended, and what came of it is no longer told.
  for (sim::Operation& operation : story.operations) {
    if (operation.phase == sim::Phase::invoke || operation.completed_in <= rest) continue;
    operation.phase = sim::Phase::invoke;
    operation.completed = {};
    operation.completed_in = sim::no_step;
  }
  return story;
}

/// A server that is paused is not at rest: what reaches it waits there, and is handled when it goes on.
Instant end_of_pauses(const sim::World& world, const std::vector<Lane>& lanes) {
  Instant end = world.now();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const sim::ProcessState& state = world.state(sim::ProcessId{static_cast<std::uint16_t>(i)});
    const bool is_paused = state.alive && state.was_paused && state.frozen_until.offset() > end.offset();
    if (lanes[i].role == Lane::Role::server && is_paused) end = state.frozen_until;
  }
  return end;
}

Diagnostic trouble(const Scenario& scenario, Position at, std::string message) {
  return {.file = scenario.file, .at = at, .message = std::move(message)};
}

}  // namespace

std::optional<Diagnostic> Execution::play() {
  if (const std::optional<std::string>& name = deployment_.missing_process()) {
    return Diagnostic{.file = scenario_.file, .at = {}, .message = fmt::format("nobody is called \"{}\"", *name)};
  }
  deployment_.begin();
  std::optional<Diagnostic> problem = execute();
  rest_ = deployment_.world().step();
  quiescent_ = end_of_pauses(deployment_.world(), deployment_.lanes());
  if (!has_ended_) look_for_endless();
  return problem;
}

void Execution::play_until(Instant moment, Instant end) {
  deployment_.begin();
  deployment_.simulation().run(moment, max_events_);
  rest_ = deployment_.world().step();
  quiescent_ = moment;
  sessions_ = end.offset() - moment.offset();
}

std::vector<Instant> Execution::other_visits() const {
  const sim::History& history = deployment_.world().history();
  const auto is_client = [&](sim::ProcessId process) {
    return history.host_of(process).index < scenario_.clients.size();
  };
  Duration done;
  for (const sim::Operation& operation : history.operations) {
    if (is_client(operation.process) && operation.phase != sim::Phase::invoke)
      done = std::max(done, operation.completed.offset());
  }
  for (const sim::Interruption& interruption : history.interruptions) {
    if (is_client(interruption.process)) done = std::max(done, interruption.from.offset());
  }
  done = std::min(done, quiescent_.offset());
  std::vector<Instant> moments;
  if (done < quiescent_.offset()) moments.push_back(Instant::at(done));
  constexpr std::int64_t kParts = 4;
  const Duration part = deployment_.lease().value_or(Duration::zero()) / kParts;
  for (std::int64_t i = 1; i < kParts && part > Duration::zero(); ++i) moments.push_back(Instant::at(done + part * i));
  return moments;
}

std::optional<Diagnostic> Execution::probe(Patience patience, Instant first) {
  within_ = deployment_.recovery_bound();
  if (deployment_.is_visited()) {
    visit_from_ = Instant::at(std::max(first.offset(), quiescent_.offset()));
    deployment_.begin_visit(visit_from_, sessions_);
    within_ = deployment_.visit_bound();
    return execute();
  }
  const Duration long_enough =
      patience == Patience::just_beyond_the_bound ? within_ * 2 : std::max(within_ * 4, Duration::seconds(120));
  const Duration poll = Duration::milliseconds(std::clamp<std::int64_t>((within_ / 64).floor_ms(), 1, 1000));
  // What ends just before the bound must be noticed before it: as often as its slack demands, but only there.
  const Duration lease = deployment_.lease().value_or(Duration::zero());
  const Duration slack = std::min(deployment_.probe_slack(), within_ > lease ? within_ - lease : within_);
  deployment_.begin_probing({.first = first,
                             .poll = poll,
                             .often = std::min(poll, slack / 8),
                             .often_from = quiescent_ + (within_ - std::min(within_, slack * 2)),
                             .often_until = quiescent_ + within_,
                             .give_up = quiescent_ + long_enough});
  return execute();
}

std::optional<Diagnostic> Execution::execute() {
  const sim::Simulation::End end = run_in_slices();
  if (const auto script = deployment_.script_trouble()) {
    const bool is_of_lock = deployment_.world().given_up() != nullptr;
    return trouble(scenario_, script->at,
                   script->message + (is_of_lock ? "" : "; scripts of a story must end and stay small"));
  }
  if (const auto program = deployment_.program_trouble()) return trouble(scenario_, program->at, program->message);
  if (const auto pin = deployment_.simulation().pin_failure()) {
    const PinEntry& entry = scenario_.pin[pin->entry];
    Diagnostic disorder =
        trouble(scenario_, entry.at,
                fmt::format("this order cannot happen: {}; widen [network] latency, change the order, or add a fault "
                            "that delays",
                            pin->reason));
    disorder.kind = Diagnostic::Kind::out_of_order;
    return disorder;
  }
  if (const auto failure = deployment_.simulation().schedule_failure()) {
    return trouble(scenario_, scenario_.schedule[failure->entry].at, "this schedule cannot happen: " + failure->reason);
  }
  if (end == sim::Simulation::End::too_many_events) {
    has_ended_ = false;
    if (stuck_since_) {
      return trouble(scenario_, {},
                     fmt::format("the story does not go on at {}: a client never waits; give it a retry or a latency",
                                 sim::to_string(deployment_.world().now().offset())));
    }
    Diagnostic too_long =
        trouble(scenario_, busiest_client(),
                fmt::format("the story has not ended after {} events, at {}; give its clients fewer attempts or rounds",
                            max_events_, sim::to_string(deployment_.world().now().offset())));
    too_long.kind = Diagnostic::Kind::bound;
    return too_long;
  }
  return std::nullopt;
}

checker::RecoverableQuestion Execution::recoverable_question() const {
  if (deployment_.is_visited()) {
    const std::vector<sim::Operation>& operations = deployment_.world().history().operations;
    const Instant bound = visit_from_ + within_;
    // Only of who is late it matters how long an attempt takes.
    const bool is_late = std::any_of(operations.begin(), operations.end(), [&](const sim::Operation& operation) {
      return operation.process == deployment_.probe() && checker::is_successful(operation, "acquire") &&
             operation.completed.offset() > bound.offset();
    });
    return {.probe = deployment_.probe(),
            .quiescent = visit_from_,
            .within = within_,
            .probed_until = checker::probed_until(operations, deployment_.probe(), bound),
            .visitor_attempt = is_late ? visitor_attempt(scenario_, deployment_.catalogue()) : Duration::zero()};
  }
  return {.probe = deployment_.probe(),
          .quiescent = quiescent_,
          .within = within_,
          .probed_until = deployment_.world().now()};
}

std::optional<Instant> Execution::decisive_probe() const {
  return checker::decisive_attempt(deployment_.world().history(), recoverable_question());
}

std::vector<checker::Finding> Execution::findings(const std::function<bool(std::string_view)>& is_wanted) {
  sim::World& world = deployment_.world();
  const checker::Names names = deployment_.names();
  const std::vector<sim::ProcessId> resources = deployment_.resources();
  std::optional<sim::History> until_rest;
  if (goes_on_after(world.history(), rest_)) until_rest = story_of(world.history(), rest_);
  const sim::History& story = until_rest ? *until_rest : world.history();
  // Several properties are judged by them.
  std::optional<checker::LockObjects> locks;
  std::optional<std::vector<checker::Breach>> breaches;
  auto ordered = checker::OrderedHistory::all_of(story, resources);
  const auto locks_of_story = [&]() -> const checker::LockObjects& {
    if (!locks) locks.emplace(story.operations, story.effects, story);
    return *locks;
  };
  checker::ProgressQuestion progress = deployment_.progress_question();
  checker::WakeupQuestion wakeup = deployment_.wakeup_question();
  progress.end = quiescent_;
  wakeup.end = quiescent_;
  const checker::RecoverableQuestion recoverable = recoverable_question();
  const checker::JudgedRun run{.story = story,
                               .all = world.history(),
                               .names = names,
                               .resources = resources,
                               .lock = scenario_.lock.key,
                               .places = deployment_.places(),
                               .overtakings = deployment_.overtakings().value_or(0),
                               .deadlock_lasting = deployment_.deadlock_bound().value_or(Duration::zero()),
                               .progress = progress,
                               .recoverable = recoverable,
                               .wakeup = wakeup,
                               .breaches = [&]() -> std::span<const checker::Breach> {
                                 if (breaches) return *breaches;
                                 ordered.locks = &locks_of_story();
                                 breaches = checker::order_breaches(ordered);
                                 return *breaches;
                               },
                               .locks = locks_of_story};
  const std::optional<std::string> mistake = deployment_.mistake();
  std::vector<checker::Finding> findings;
  for (const checker::Property& property : checker::properties()) {
    const auto without = [&](checker::Verdict verdict, std::string_view why) {
      findings.push_back(
          {.property = property.name, .view = property.view, .verdict = verdict, .why = std::string(why)});
    };
    const std::string_view why = deployment_.why_not_judged(property.name);
    if (!why.empty() || !is_wanted(property.name)) {
      without(checker::Verdict::not_judged, why.empty() ? "not asked" : why);
    } else if (mistake) {
      without(checker::Verdict::unknown, *mistake);
    } else {
      findings.push_back(property.judge(run));
      sim::invariant(findings.back().property == property.name, "a checker tells of its own property");
      sim::invariant(findings.back().verdict == checker::Verdict::holds || !findings.back().why.empty(),
                     "whatever does not hold has a reason");
      if (findings.back().verdict != checker::Verdict::holds || checker::is_seen(property, ordered)) continue;
      findings.pop_back();
      without(checker::Verdict::not_judged, property.unseen);
    }
  }
  return findings;
}

namespace {

/// A world of the story with nobody in it but the probe, which has come. `look`: if that went well.
void let_first_comer_try(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                         const std::function<void(Execution&, const Deployment&)>& look) {
  Scenario alone = scenario;
  alone.faults.clear();
  alone.pin.clear();
  alone.schedule.clear();
  sim::DefaultDecisions decisions;
  Deployment deployment(alone, catalogue, decisions, Deployment::Faults::none);
  constexpr std::uint64_t most_events = 100'000;
  Execution execution(alone, deployment, most_events);
  deployment.begin_servers();
  if (!execution.probe(Execution::Patience::just_beyond_the_bound)) look(execution, deployment);
}

}  // namespace

bool first_comer_gets_lock(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  bool gets_it = false;
  let_first_comer_try(scenario, catalogue, [&](Execution& execution, const Deployment&) {
    const std::vector<checker::Finding> findings = execution.findings();
    gets_it = std::any_of(findings.begin(), findings.end(), [](const checker::Finding& finding) {
      return finding.property == "recoverable" && finding.verdict == checker::Verdict::holds;
    });
  });
  return gets_it;
}

Duration visitor_attempt(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  Duration longest;
  let_first_comer_try(scenario, catalogue, [&](Execution&, const Deployment& deployment) {
    longest = deployment.probe_slack() + deployment.patience();
    for (const sim::Operation& operation : deployment.world().history().operations) {
      if (operation.process != deployment.probe() || !checker::is_successful(operation, "acquire")) continue;
      longest += operation.completed.offset() - operation.invoked.offset();
      break;
    }
  });
  return longest;
}

}  // namespace lockstep::scenarios
