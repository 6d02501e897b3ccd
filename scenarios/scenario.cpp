#include "scenarios/scenario.hpp"

#include <algorithm>

namespace lockstep::scenarios {

std::vector<std::string> lock_keys(const Scenario& scenario) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  };
  for (const ClientSpec& client : scenario.clients) {
    if (!client.commands.empty()) continue;
    if (client.locks.empty()) add(scenario.lock.key);
    for (const std::string& key : client.locks) add(key);
  }
  if (keys.empty()) add(scenario.lock.key);
  return keys;
}

}  // namespace lockstep::scenarios
