#include "scenarios/deployment/partition_sides.hpp"

#include <algorithm>

namespace lockstep::scenarios {

std::vector<std::string> process_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const ClientSpec& client : scenario.clients) names.push_back(client.name);
  for (const ServerSpec& server : scenario.servers) names.push_back(server.name);
  if (scenario.sentinels) {
    for (const SentinelSpec& sentinel : scenario.sentinels->each) names.push_back(sentinel.name);
  }
  if (scenario.resource) names.push_back("resource");
  return names;
}

std::vector<PartitionSides> partition_sides(const Scenario& scenario, const MaySpec& may) {
  if (!cuts_off(may.kind)) return {};
  if (!may.between.empty()) return {{may.between[0], may.between[1]}};
  const std::vector<std::string> names = process_names(scenario);
  const std::size_t clients = scenario.clients.size();
  std::vector<PartitionSides> all;
  for (std::size_t victim = 0; victim < names.size(); ++victim) {
    const bool is_client = victim < clients;
    const bool is_named = std::find(may.who.begin(), may.who.end(), names[victim]) != may.who.end();
    if (may.who.empty() ? !is_client : !is_named) continue;
    PartitionSides& sides = all.emplace_back();
    sides.left.push_back(names[victim]);
    for (std::size_t other = is_client ? clients : 0; other < names.size(); ++other) {
      if (other != victim) sides.right.push_back(names[other]);
    }
  }
  return all;
}

}  // namespace lockstep::scenarios
