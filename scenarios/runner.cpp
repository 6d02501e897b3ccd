#include "scenarios/runner.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "checker/fencing.hpp"
#include "checker/linearizable.hpp"
#include "checker/mutual_exclusion.hpp"
#include "checker/no_lost_update.hpp"
#include "checker/own_release.hpp"
#include "checker/properties.hpp"
#include "checker/recoverable.hpp"
#include "scenarios/deployment.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::Instant;

/// No story is longer than this, in virtual time.
constexpr Instant kEndOfTime = Instant::at(Duration::forever());

/// A fresh client must have the lock this long after everybody is done or dead, if the file says nothing: when the
/// longest lease has run out, and it has had time for a few attempts.
Duration default_recovery(const Scenario& scenario, const Deployment& deployment) {
  const Duration round_trip = scenario.network.latency.hi * 2;
  const auto servers = static_cast<std::int64_t>(scenario.servers.size());
  return deployment.lease().value_or(Duration::seconds(1)) + round_trip * 8 * servers;
}

Judgement judge(checker::Finding finding, const Scenario& scenario, const checker::Names& names) {
  Judgement judgement;
  const auto expected = std::find_if(scenario.expect_run.begin(), scenario.expect_run.end(),
                                     [&](const Expectation& e) { return e.property == finding.property; });
  if (expected != scenario.expect_run.end()) {
    judgement.expected = *expected;
    std::vector<std::string> observed;
    for (const sim::ProcessId process : finding.by) observed.push_back(names[process.index]);
    std::vector<std::string> wanted = expected->violated_by;
    std::sort(observed.begin(), observed.end());
    std::sort(wanted.begin(), wanted.end());
    const bool same_moment = !expected->at || (finding.at && finding.at->offset() == *expected->at);
    judgement.as_expected =
        finding.verdict == expected->verdict && (wanted.empty() || wanted == observed) && same_moment;
  }
  judgement.finding = std::move(finding);
  return judgement;
}

/// The history up to the moment at which the probe came: its own holds are no part of the story.
sim::History story_of(const sim::History& history, sim::ProcessId probe) {
  sim::History story = history;
  const auto first = std::find_if(story.operations.begin(), story.operations.end(),
                                  [&](const sim::Operation& operation) { return operation.process == probe; });
  if (first == story.operations.end()) return story;
  const sim::Step begin = first->invoked_in;
  story.operations.erase(first, story.operations.end());
  std::erase_if(story.effects, [&](const sim::Effect& effect) { return effect.step >= begin; });
  return story;
}

Diagnostic trouble(const Scenario& scenario, Position at, std::string message) {
  return {.file = scenario.file, .at = at, .message = std::move(message)};
}

class Run {
 public:
  Run(const Scenario& scenario, const models::locks::Catalogue& catalogue, sim::Decisions& decisions,
      const RunOptions& options)
      : scenario_(scenario), options_(options), deployment_(scenario, catalogue, decisions) {
    if (options.trace) deployment_.world().enable_trace();
  }

  std::variant<Outcome, Diagnostic> operator()() {
    deployment_.begin();
    if (std::optional<Diagnostic> problem = execute()) return std::move(*problem);
    const Instant quiescent = deployment_.world().now();
    const Duration within = scenario_.recover_within.value_or(default_recovery(scenario_, deployment_));
    const Duration long_enough = std::max(within * 4, Duration::seconds(120));
    const Duration poll = Duration::milliseconds(std::clamp<std::int64_t>((within / 64).floor_ms(), 1, 1000));
    deployment_.begin_probing(poll, quiescent + long_enough);
    if (std::optional<Diagnostic> problem = execute()) return std::move(*problem);
    return outcome(quiescent, within);
  }

 private:
  std::optional<Diagnostic> execute() {
    const sim::Simulation::End end = deployment_.simulation().run(kEndOfTime, options_.max_events);
    if (const auto script = deployment_.script_trouble()) {
      return trouble(scenario_, script->at, script->message + "; scripts of a story must end and stay small");
    }
    if (const auto pin = deployment_.simulation().pin_failure()) {
      const PinEntry& entry = scenario_.pin[pin->entry];
      return trouble(
          scenario_, entry.at,
          fmt::format("this order cannot happen: {}; widen [network] latency, change the order, or add a fault "
                      "that delays",
                      pin->reason));
    }
    if (end == sim::Simulation::End::too_many_events) {
      return trouble(
          scenario_, {},
          fmt::format("the story has not ended after {} events, at {}; give its clients fewer attempts or rounds",
                      options_.max_events, sim::to_string(deployment_.world().now().offset())));
    }
    return std::nullopt;
  }

  Outcome outcome(Instant quiescent, Duration within) {
    sim::World& world = deployment_.world();
    const checker::Names names = deployment_.names();
    const std::vector<sim::ProcessId> resources = deployment_.resources();
    const sim::History story = story_of(world.history(), deployment_.probe());

    Outcome outcome;
    const auto add = [&](checker::Finding finding) {
      outcome.properties.push_back(judge(std::move(finding), scenario_, names));
      outcome.as_expected = outcome.as_expected && outcome.properties.back().as_expected;
    };
    add(checker::mutual_exclusion(story, names));
    add(checker::linearizable(story, names));
    add(checker::own_release(story, names));
    add(checker::recoverable(
        world.history(), names,
        {.probe = deployment_.probe(), .quiescent = quiescent, .within = within, .probed_until = world.now()}));
    add(checker::no_lost_update(story, names, resources));
    add(checker::fencing(story, names, resources));

    outcome.digest = world.digest();
    outcome.events = world.events_executed();
    outcome.quiescent = quiescent;
    outcome.lanes = deployment_.lanes();
    outcome.notes = deployment_.missed_faults();
    outcome.history = world.history();
    outcome.trace = world.trace();
    return outcome;
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  Deployment deployment_;
};

}  // namespace

std::variant<Outcome, Diagnostic> run(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                      const RunOptions& options) {
  sim::DefaultDecisions defaults;
  sim::RandomDecisions random(options.seed.value_or(0));
  sim::Decisions& own = options.seed ? static_cast<sim::Decisions&>(random) : defaults;
  return Run(scenario, catalogue, options.decisions != nullptr ? *options.decisions : own, options)();
}

}  // namespace lockstep::scenarios
