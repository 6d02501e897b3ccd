#include "scenarios/story/scenario.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep::scenarios {

std::string client_name(std::size_t i) {
  return i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("C{}", i + 1);
}

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

std::vector<std::string> thread_names(const ClientSpec& client) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < client.threads.size(); ++i) names.push_back(fmt::format("{}/{}", client.name, i + 1));
  return names;
}

const ClientSpec* first_program(const Scenario& scenario) {
  const auto found = std::find_if(scenario.clients.begin(), scenario.clients.end(),
                                  [](const ClientSpec& client) { return client.is_program(); });
  return found == scenario.clients.end() ? nullptr : &*found;
}

void rename_server(Scenario& story, std::string from, std::string_view to) {
  const auto say = [&](std::string& name) {
    if (name == from) name = to;
  };
  const auto say_all = [&](std::vector<std::string>& names) { std::for_each(names.begin(), names.end(), say); };
  for (ServerSpec& server : story.servers) say(server.name);
  for (ClientSpec& client : story.clients) say(client.server);
  for (FaultSpec& fault : story.faults) {
    say(fault.who);
    for (std::vector<std::string>& side : fault.between) say_all(side);
  }
  for (MaySpec& may : story.may) {
    say_all(may.who);
    for (std::vector<std::string>& side : may.between) say_all(side);
  }
  for (PinEntry& entry : story.pin) say(entry.server);
  for (ScheduleEntry& entry : story.schedule) say(entry.server);
}

}  // namespace lockstep::scenarios
