#include "scenarios/exploring/state_graph.hpp"

#include <algorithm>
#include <optional>

#include "checker/explorer/explorer.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/exploring/explored_story.hpp"

namespace lockstep::scenarios {
std::variant<checker::StateGraph, Diagnostic> explored_states(const Scenario& scenario,
                                                              const models::locks::Catalogue& catalogue, bool reduction,
                                                              const StateGraphBounds& bounds) {
  checker::ExplorerOptions settings;
  settings.reduction = reduction;
  auto budgets = fault_budgets(scenario);
  if (auto* problem = std::get_if<Diagnostic>(&budgets)) return std::move(*problem);
  settings.faults = std::get<std::vector<checker::FaultBudget>>(std::move(budgets));

  std::optional<checker::Explorer> explorer;  // outlives what it explores, which tells it what it takes back
  std::optional<ExploredStory> subject;
  checker::StateGraphOptions options;
  for (std::uint16_t i = 0; i < scenario.clients.size(); ++i) options.clients.push_back(sim::ProcessId{i});
  options.servers = [&] { return subject->deployment().holdings(); };
  options.reduced = reduction;
  options.states_max = bounds.states_max;
  options.traces_max = bounds.traces_max;
  sim::DefaultDecisions nobody;
  options.names = Deployment(scenario, catalogue, nobody, Deployment::Faults::none).names();

  checker::StateGraphCollector collector(std::move(options));
  settings.observer = &collector;
  explorer.emplace(settings);
  subject.emplace(scenario, catalogue, *explorer, ExploredStory::Probe::none);
  const checker::ExplorerCounts counts =
      explorer->explore(*subject, [&](checker::Explorer& at_end) { return collector.visit(at_end); });
  if (!collector.graph().bound.empty()) {
    return Diagnostic{scenario.file,
                      {},
                      "its state graph has " + collector.graph().bound +
                          ", too many to look at; let fewer clients take "
                          "part, with fewer rounds and attempts, no [[may]]" +
                          (reduction ? std::string() : ", or leave out --no-reduction")};
  }
  if (!counts.complete) {
    return Diagnostic{scenario.file,
                      {},
                      "it has a trace of more than " + std::to_string(settings.max_steps) +
                          " events, too long for a state graph; let its clients have fewer rounds and attempts"};
  }
  return collector.graph();
}

std::variant<std::string, Diagnostic> state_graph(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                                  checker::GraphFormat format, bool reduction) {
  auto graph = explored_states(scenario, catalogue, reduction);
  if (auto* problem = std::get_if<Diagnostic>(&graph)) return std::move(*problem);
  return checker::to_text(std::get<checker::StateGraph>(graph), format);
}

}  // namespace lockstep::scenarios
