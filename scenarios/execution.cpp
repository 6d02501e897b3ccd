#include "scenarios/execution.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "checker/capacity.hpp"
#include "checker/fair.hpp"
#include "checker/faithful_renewal.hpp"
#include "checker/fencing.hpp"
#include "checker/linearizable.hpp"
#include "checker/mutual_exclusion.hpp"
#include "checker/no_deadlock.hpp"
#include "checker/no_lost_update.hpp"
#include "checker/no_lost_wakeup.hpp"
#include "checker/no_oversell.hpp"
#include "checker/order_properties.hpp"
#include "checker/own_release.hpp"
#include "checker/progress.hpp"
#include "checker/recoverable.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::Instant;

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

}  // namespace

std::optional<Diagnostic> Execution::play() {
  deployment_.begin();
  std::optional<Diagnostic> problem = execute();
  quiescent_ = deployment_.world().now();
  if (!has_ended_) look_for_endless();
  return problem;
}

std::optional<Diagnostic> Execution::probe() {
  within_ = deployment_.recovery_bound();
  const Duration long_enough = std::max(within_ * 4, Duration::seconds(120));
  const Duration poll = Duration::milliseconds(std::clamp<std::int64_t>((within_ / 64).floor_ms(), 1, 1000));
  deployment_.begin_probing(poll, quiescent_ + long_enough);
  return execute();
}

std::optional<Diagnostic> Execution::execute() {
  const sim::Simulation::End end = run_in_slices();
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
    return trouble(
        scenario_, {},
        fmt::format("the story has not ended after {} events, at {}; give its clients fewer attempts or rounds",
                    max_events_, sim::to_string(deployment_.world().now().offset())));
  }
  return std::nullopt;
}

std::vector<checker::Finding> Execution::findings() {
  sim::World& world = deployment_.world();
  const checker::Names names = deployment_.names();
  const std::vector<sim::ProcessId> resources = deployment_.resources();
  const sim::History story = story_of(world.history(), deployment_.probe());
  const std::int64_t places = deployment_.places().value_or(1);
  std::vector<checker::Finding> findings;
  findings.push_back(checker::mutual_exclusion(story, names));
  findings.push_back(deployment_.places() ? checker::linearizable_semaphore(story, names, scenario_.lock.key, places)
                                          : checker::linearizable(story, names));
  findings.push_back(checker::no_deadlock(story, names, deployment_.deadlock_bound().value_or(Duration::zero())));
  checker::ProgressQuestion progress = deployment_.progress_question();
  progress.end = quiescent_;
  findings.push_back(checker::progress(story, names, progress));
  findings.push_back(checker::own_release(story, names));
  findings.push_back(checker::recoverable(
      world.history(), names,
      {.probe = deployment_.probe(), .quiescent = quiescent_, .within = within_, .probed_until = world.now()}));
  findings.push_back(checker::reentrancy(story, names));
  findings.push_back(checker::truthful_reports(story, names));
  findings.push_back(checker::faithful_renewal(story, names));
  checker::WakeupQuestion wakeup = deployment_.wakeup_question();
  wakeup.end = quiescent_;
  findings.push_back(checker::no_lost_wakeup(story, names, wakeup));
  findings.push_back(checker::capacity(story, names, places));
  findings.push_back(checker::fair(story, names, deployment_.overtakings().value_or(0)));
  findings.push_back(checker::no_lost_update(story, names, resources));
  findings.push_back(checker::no_oversell(story, names));
  findings.push_back(checker::fencing(story, names, resources));
  for (checker::Finding& finding : findings) {
    if (const std::string_view why = deployment_.why_not_judged(finding.property); !why.empty()) {
      finding = {.property = finding.property, .view = finding.view, .why = std::string(why)};
    }
  }
  return findings;
}

}  // namespace lockstep::scenarios
