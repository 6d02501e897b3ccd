#include "scenarios/exploring/endless.hpp"

#include <utility>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "scenarios/running/runner.hpp"

namespace lockstep::scenarios {

std::optional<Exploration> endless_exploration(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  Scenario witness = scenario;
  witness.faults.clear();
  witness.may.clear();
  witness.pin.clear();
  witness.schedule.clear();
  witness.expect_check.clear();
  witness.expect_traces.reset();
  witness.expect_run = {Expectation{.property = "progress", .verdict = checker::Verdict::violated}};
  // What has not shown by then is left open.
  auto result = run(witness, catalogue, {.max_events = 200'000});
  const Outcome* outcome = std::get_if<Outcome>(&result);
  if (outcome == nullptr) return std::nullopt;
  Exploration exploration;
  exploration.bound = "max-steps";
  bool is_broken = false;
  for (const Judgement& judgement : outcome->properties) {
    const checker::Finding& finding = judgement.finding;
    ExploredProperty& explored = exploration.properties.emplace_back();
    explored.name = finding.property;
    explored.why = "it has an execution that is too long to explore";
    if (finding.property != "progress" || finding.verdict != checker::Verdict::violated) continue;
    is_broken = true;
    explored.verdict = finding.verdict;
    explored.why = finding.why;
    explored.violating_traces = 1;
    for (const sim::ProcessId process : finding.by) {
      explored.by.push_back(outcome->lanes[process.index].name);
      witness.expect_run.front().violated_by.push_back(explored.by.back());
    }
    witness.expect_run.front().at = finding.at->offset();
    explored.witness = witness;
  }
  if (!is_broken) return std::nullopt;
  exploration.counts.complete = false;
  return exploration;
}

std::variant<Exploration, Diagnostic> without_probe(std::variant<Exploration, Diagnostic> others,
                                                    std::uint64_t events) {
  if (auto* exploration = std::get_if<Exploration>(&others)) {
    ExploredProperty& recovery = exploration->properties[checker::position_of_property("recoverable")];
    recovery.verdict = checker::Verdict::unknown;
    recovery.applies = true;
    recovery.why = fmt::format(
        "whether a new client gets the lock when all others are done or dead was not looked at: an execution of that "
        "has more than {} events",
        events);
  }
  return others;
}

Diagnostic too_long_to_explore(const Scenario& scenario, std::uint64_t events) {
  return {scenario.file,
          {},
          fmt::format("it has an execution of more than {} events, too long to explore all of them; what makes it long "
                      "is what comes again and again: attempts and rounds, renewals in a long hold, heartbeats during "
                      "a long wait",
                      events)};
}

}  // namespace lockstep::scenarios
