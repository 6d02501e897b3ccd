#include "scenarios/story/alike.hpp"
#include "scenarios/story/own_lock.hpp"

#include <algorithm>

namespace lockstep::scenarios {
namespace {

/// The settings without the name. What a lock library takes for unique is the name, unless the file says something
/// else.
ClientSpec nameless(ClientSpec client) {
  client.name.clear();
  client.at = {};
  return client;
}

bool can_be_alike(const ClientSpec& client) {
  return client.threads.empty() && client.commands.empty() && client.role == ClientSpec::Role::none;
}

bool strike_alike(const Scenario& scenario, const std::string& a, const std::string& b) {
  return std::all_of(scenario.may.begin(), scenario.may.end(), [&](const MaySpec& may) {
    const auto is_among = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (is_nothing(may.kind, length_of(may))) return true;
    if (is_among(may.who, a) != is_among(may.who, b)) return false;
    return std::all_of(may.between.begin(), may.between.end(),
                       [&](const std::vector<std::string>& side) { return is_among(side, a) == is_among(side, b); });
  });
}

}  // namespace

std::vector<std::vector<std::size_t>> alike_clients(const Scenario& scenario,
                                                    const models::locks::Catalogue& catalogue) {
  std::vector<std::vector<std::size_t>> lists;
  const models::locks::Entry* entry = find_entry(scenario.lock, catalogue);
  if (!entry->is_blind_to_names || scenario.market || scenario.sentinels) return lists;
  for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
    const ClientSpec& client = scenario.clients[i];
    if (!can_be_alike(client)) continue;
    const auto list = std::find_if(lists.begin(), lists.end(), [&](const std::vector<std::size_t>& known) {
      const ClientSpec& other = scenario.clients[known.front()];
      return nameless(client) == nameless(other) && strike_alike(scenario, client.name, other.name);
    });
    if (list != lists.end()) {
      list->push_back(i);
    } else {
      lists.push_back({i});
    }
  }
  std::erase_if(lists, [](const std::vector<std::size_t>& list) { return list.size() < 2; });
  return lists;
}

std::vector<std::vector<std::string>> alike_names(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  std::vector<std::vector<std::string>> names;
  for (const std::vector<std::size_t>& list : alike_clients(scenario, catalogue)) {
    std::vector<std::string>& group = names.emplace_back();
    for (const std::size_t client : list) group.push_back(scenario.clients[client].name);
  }
  return names;
}

bool are_same_but_for_names(std::vector<std::string> a, std::vector<std::string> b,
                            std::span<const std::vector<std::string>> alike) {
  // Each is called as the first of those who are like it; nobody is named twice, so only how many are counts.
  for (std::vector<std::string>* names : {&a, &b}) {
    for (std::string& name : *names) {
      for (const std::vector<std::string>& group : alike) {
        if (std::find(group.begin(), group.end(), name) == group.end()) continue;
        name = group.front();
        break;
      }
    }
    std::sort(names->begin(), names->end());
  }
  return a == b;
}

}  // namespace lockstep::scenarios
