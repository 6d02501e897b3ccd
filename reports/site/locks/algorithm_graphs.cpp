#include <algorithm>

#include "reports/site/locks/algorithm_page.hpp"
#include "scenarios/exploring/state_graph.hpp"

namespace lockstep::reports::site {
namespace {

using namespace sim::literals;
using models::locks::Entry;

constexpr std::size_t kSizes = 2;  // 1 and 2 clients

/// Clients that start close to each other, try once and do not wait: a world that people can survey.
scenarios::Scenario world_of(const Entry& entry, std::size_t clients) {
  const scenarios::MatrixFault& none = scenarios::matrix_faults().front();
  scenarios::Scenario world =
      scenarios::matrix_world(entry, none, scenarios::matrix_questions().front(), scenarios::MatrixWorld::two);
  world.network.latency = sim::DurationRange::exactly(1_ms);
  world.clients.resize(clients);
  for (scenarios::ClientSpec& client : world.clients) {
    client.acquire_at = {0_ms, 10_ms};
    client.attempts = 1;
  }
  // A background task that renews is a process of its own, and multiplies the states of all others: an explicit lease,
  // and no renewal.
  for (const models::locks::ParameterSpec& spec : entry.parameters) {
    if (spec.role == models::locks::ParameterRole::lease)
      world.lock.parameters.insert_or_assign(std::string(spec.name), models::locks::ParameterValue(1_s));
    if (spec.name == "renew" && std::holds_alternative<bool>(spec.fallback))
      world.lock.parameters.insert_or_assign(std::string(spec.name), models::locks::ParameterValue(false));
  }
  // How long an attempt goes on by itself is every algorithm's own; a millisecond is one question, or one and a half.
  for (const models::locks::ParameterSpec& spec : entry.parameters) {
    const bool is_patience = spec.name == "wait" || spec.name == "acquire_timeout" || spec.name == "budget";
    if (!is_patience || !std::holds_alternative<sim::Duration>(spec.fallback)) continue;
    const models::locks::ParameterValue once = spec.name == "budget" ? 1_ms : 0_ms;
    if (models::locks::accepts(spec, once)) world.lock.parameters.insert_or_assign(std::string(spec.name), once);
  }
  return world;
}

/// It can neither have a lease that is not renewed, nor do without renewal.
bool always_renews(const Entry& entry) {
  using models::locks::ParameterRole;
  return find(entry.parameters, ParameterRole::lease) == nullptr &&
         find(entry.parameters, ParameterRole::renewed_lease) != nullptr;
}

ListedGraph graph_of(const Entry& entry, std::size_t clients, const models::locks::Catalogue& catalogue) {
  ListedGraph listed{.algorithm = std::string(entry.id), .clients = clients, .graph = {}, .why = {}};
  const scenarios::Scenario world = world_of(entry, clients);
  // All orders if that is little enough to be surveyed, else one of each trace.
  constexpr scenarios::StateGraphBounds kSmall{.states_max = 400, .traces_max = 2'000};
  for (const bool reduction : {false, true}) {
    // Several servers have too many orders to be surveyed, or even to be counted; renewals have no end where order
    // alone is asked.
    if (!reduction && (entry.many_nodes || always_renews(entry))) continue;
    auto graph = scenarios::explored_states(world, catalogue, reduction, kSmall);
    if (auto* states = std::get_if<checker::StateGraph>(&graph)) {
      listed.graph = std::move(*states);
      listed.why.clear();
      return listed;
    }
    listed.why = std::get<scenarios::Diagnostic>(graph).message;
  }
  return listed;
}

}  // namespace

std::size_t count_of_graphs(const models::locks::Catalogue& catalogue) { return catalogue.entries().size() * kSizes; }

ListedGraph graph_at(const models::locks::Catalogue& catalogue, std::size_t index) {
  return graph_of(catalogue.entries()[index / kSizes], index % kSizes + 1, catalogue);
}

}  // namespace lockstep::reports::site
