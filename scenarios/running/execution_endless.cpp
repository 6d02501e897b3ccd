// Stories that do not end: whether that is because somebody tries in vain, and who.

#include <algorithm>

#include <fmt/format.h>

#include "checker/properties/belief/progress.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/properties.hpp"
#include "scenarios/running/execution.hpp"

namespace lockstep::scenarios {

namespace {

/// So much does not happen at one moment unless somebody goes round in a circle.
constexpr std::uint64_t kEventsAtOnce = 20'000;

}  // namespace

sim::Simulation::End Execution::run_slice(std::uint64_t events) {
  const auto for_ever = sim::Instant::at(sim::Duration::forever());
  if (!after_event_) return deployment_.simulation().run(for_ever, events);
  auto end = sim::Simulation::End::too_many_events;
  for (std::uint64_t i = 0; i < events && end == sim::Simulation::End::too_many_events; ++i) {
    end = deployment_.simulation().run(for_ever, 1);
    after_event_();
  }
  return end;
}

/// Ends early when no time goes on.
sim::Simulation::End Execution::run_in_slices() {
  sim::World& world = deployment_.world();
  auto end = sim::Simulation::End::too_many_events;
  for (std::uint64_t left = max_events_; left > 0 && end == sim::Simulation::End::too_many_events && !stuck_since_;) {
    const std::uint64_t slice = std::min(left, kEventsAtOnce);
    const sim::Instant before = world.now();
    const std::size_t operations = world.history().operations.size();
    end = run_slice(slice);
    left -= slice;
    const bool is_whole = slice == kEventsAtOnce && end == sim::Simulation::End::too_many_events;
    if (is_whole && checker::compare(before, world.now()) == 0) stuck_since_ = operations;
  }
  return end;
}

/// Where the file has who did most so far: of a story that is too long, it is the client with too many rounds or
/// attempts.
Position Execution::busiest_client() const {
  std::vector<std::size_t> operations(scenario_.clients.size(), 0);
  const sim::History& history = deployment_.world().history();
  for (const sim::Operation& operation : history.operations) {
    const sim::ProcessId host = history.host_of(operation.process);
    if (host.index < operations.size()) ++operations[host.index];
  }
  const auto most = std::max_element(operations.begin(), operations.end());
  if (most == operations.end() || *most == 0) return {};
  return scenario_.clients[static_cast<std::size_t>(most - operations.begin())].at;
}

/// "A (line 12)", so that one finds whose loop it is.
std::string Execution::line_of(sim::ProcessId process) const {
  const sim::ProcessId host = deployment_.world().history().host_of(process);
  const std::string name = deployment_.world().name(process);
  if (host.index >= scenario_.clients.size() || scenario_.clients[host.index].at.line == 0) return name;
  return fmt::format("{} (line {})", name, scenario_.clients[host.index].at.line);
}

void Execution::look_for_endless() {
  sim::History history = deployment_.world().history();
  const sim::Instant now = deployment_.world().now();
  if (stuck_since_) {
    const auto since = history.operations.begin() + static_cast<std::ptrdiff_t>(*stuck_since_);
    // Whoever gets the lock makes progress, even if it is the same again and again.
    const auto is_got = [](const sim::Operation& o) { return checker::is_successful(o, "acquire"); };
    if (std::any_of(since, history.operations.end(), is_got)) return;
    // Who asks most often; or, if all of it is within one attempt, whose that is.
    std::vector<std::size_t> asked(deployment_.world().process_count(), 0);
    for (auto o = since; o != history.operations.end(); ++o) ++asked[o->process.index];
    for (const sim::Operation& o : history.operations) {
      if (o.function == "acquire" && o.phase == sim::Phase::invoke && asked[o.process.index] == 0)
        asked[o.process.index] = 1;
    }
    const auto most = std::max_element(asked.begin(), asked.end());
    if (most == asked.end() || *most == 0) return;
    const sim::ProcessId by{static_cast<std::uint16_t>(most - asked.begin())};
    endless_ = checker::Finding{.property = "progress",
                                .view = checker::View::belief,
                                .verdict = checker::Verdict::violated,
                                .by = {by},
                                .at = now,
                                .why = fmt::format("{} never waits: {} events at {}, and no time goes on", line_of(by),
                                                   kEventsAtOnce, checker::time_text(now))};
    return;
  }
  // What goes on is known until now.
  for (sim::Operation& o : history.operations) {
    if (o.function != "acquire" || o.phase != sim::Phase::invoke) continue;
    o.phase = sim::Phase::fail;
    o.completed = now;
    o.completed_in = sim::no_step - 1;
  }
  checker::Finding finding = checker::progress(history, deployment_.names(), deployment_.progress_question());
  if (finding.verdict != checker::Verdict::violated) return;
  finding.why += fmt::format("; {} goes on for ever", line_of(finding.by.back()));
  endless_ = std::move(finding);
}

std::vector<checker::Finding> Execution::endless_findings() const {
  std::vector<checker::Finding> findings;
  for (const checker::Property& property : checker::properties()) {
    findings.push_back({.property = property.name, .view = property.view, .why = "the story does not end"});
    if (property.name == endless_->property) findings.back() = *endless_;
  }
  return findings;
}

}  // namespace lockstep::scenarios
