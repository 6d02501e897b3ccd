#include "scenarios/format/schema/names.hpp"

#include <algorithm>

#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

constexpr std::size_t kNameBytesMax = 31;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

}  // namespace

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_client(const Scenario& scenario, std::string_view name) {
  return std::any_of(scenario.clients.begin(), scenario.clients.end(),
                     [&](const ClientSpec& client) { return client.name == name.substr(0, name.find('/')); });
}

std::string Names::declare(const Node& node, const std::string& what) {
  const std::string& name = string_of(node, "the name of a " + what);
  if (!is_name(name)) {
    fail(node, in_quotes(name) + " is no name; expected a letter, then up to 30 letters, digits, - or _");
  }
  if (name == "probe" || name == "resource") fail(node, in_quotes(name) + " is a name that Lockstep itself uses");
  const auto same =
      std::find_if(declared_.begin(), declared_.end(), [&](const Declaration& d) { return d.name == name; });
  if (same != declared_.end()) {
    fail(node, in_quotes(name) + " is already the name of another process (line " + std::to_string(same->at.line) +
                   "); every client and server needs its own");
  }
  declared_.push_back({name, node.at});
  return name;
}

std::string Names::declare_client(const Node& node) { return declare(node, "client"); }
std::string Names::declare_server(const Node& node) { return declare(node, "server"); }

void Names::mention(Who who, std::string name, const Node& node, std::optional<std::size_t> inside) {
  mentions_.push_back({who, std::move(name), node.key, node.at, inside});
}

void Names::resolve(const Scenario& scenario, bool has_background) const {
  std::vector<std::string_view> clients, servers, sentinels;
  for (const ClientSpec& client : scenario.clients) clients.push_back(client.name);
  for (const ServerSpec& server : scenario.servers) servers.push_back(server.name);
  std::vector<std::string> threads;
  for (const ClientSpec& client : scenario.clients) {
    for (std::string& name : thread_names(client)) threads.push_back(std::move(name));
    if (has_background) threads.push_back(client.name + "/watchdog");
  }
  if (scenario.sentinels) {
    for (const SentinelSpec& sentinel : scenario.sentinels->each) sentinels.push_back(sentinel.name);
  }
  // Servers that the file does not name have names all the same.
  for (const ClientSpec& client : scenario.clients) {
    if (contains(servers, client.name)) {
      throw Bad{client.at, "name: " + in_quotes(client.name) + " is the name of a server; choose another"};
    }
    if (contains(sentinels, client.name)) {
      throw Bad{client.at, "name: " + in_quotes(client.name) + " is the name of a sentinel; choose another"};
    }
  }
  Mistakes mistakes;
  for (const Mention& mention : mentions_) {
    const auto refuse = [&](const std::string& message) {
      mistakes.add({mention.at, mention.key + ": " + message, mention.inside});
    };
    if (mention.who == Who::resource) {
      if (!scenario.resource)
        refuse("a step " + in_quotes(mention.name) + " needs something to access: add [resource]");
      continue;
    }
    std::vector<std::string_view> valid;
    const bool wants_client = mention.who == Who::client || mention.who == Who::thread;
    const bool wants_service = mention.who == Who::server || mention.who == Who::service;
    if (!wants_service) valid = clients;
    if (!wants_client) valid.insert(valid.end(), servers.begin(), servers.end());
    if (!wants_client && mention.who != Who::server) valid.insert(valid.end(), sentinels.begin(), sentinels.end());
    if (mention.who == Who::thread) valid.insert(valid.end(), threads.begin(), threads.end());
    if (mention.who == Who::anyone && scenario.resource) valid.push_back("resource");
    if (contains(valid, mention.name)) continue;
    if (contains(servers, mention.name)) {
      refuse(in_quotes(mention.name) + " is a server; expected the name of a client");
    } else if (contains(sentinels, mention.name)) {
      refuse(in_quotes(mention.name) + " is a sentinel; expected the name of a " +
             (mention.who == Who::client ? "client" : "server"));
    } else if (contains(clients, mention.name)) {
      refuse(in_quotes(mention.name) + " is a client; expected the name of a server");
    } else {
      const std::string what = wants_client ? "no client" : wants_service ? "no server" : "nobody";
      refuse(what + " is called " + in_quotes(mention.name) + ": " + suggestion(mention.name, valid));
    }
  }
  mistakes.complain();
}

}  // namespace lockstep::scenarios::schema
