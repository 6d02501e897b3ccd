#include "scenarios/format/other_algorithm.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/servers/server_kind.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::scenarios {
namespace {

void keep_declared(LockParameters& parameters, const models::locks::Entry& entry, bool of_client) {
  std::erase_if(parameters, [&](const auto& set) {
    return std::none_of(entry.parameters.begin(), entry.parameters.end(),
                        [&](const models::locks::ParameterSpec& spec) {
                          return spec.name == set.first && models::locks::accepts(spec, set.second) &&
                                 !(of_client && !spec.one_for_all.empty());
                        });
  });
}

/// Servers of another kind: as many, with nothing that only the first kind knows.
void replace_servers(Scenario& story, const models::ServerKind& kind) {
  const models::ServerKind& before = *story.servers.front().kind;
  if (&before == &kind) return;
  for (std::size_t i = 0; i < story.servers.size(); ++i) {
    story.servers[i].kind = &kind;
    story.servers[i].settings = {};
    const std::string standard = server_name(before, i, story.servers.size());
    if (story.servers[i].name == standard) rename_server(story, standard, server_name(kind, i, story.servers.size()));
  }
  story.shared_settings = {};
  story.sentinels.reset();
  for (ClientSpec& client : story.clients) client.via_sentinel = false;
  std::erase_if(story.clients, [](const ClientSpec& client) { return !client.commands.empty(); });
}

}  // namespace

std::string why_not_under(const Scenario& story, const models::locks::Entry& entry) {
  const models::ServerKind& kind = server_kind_of(entry);
  if (kind.is_redis()) return "";
  const std::string why = fmt::format("{} runs on servers of kind \"{}\", ", entry.id, kind.name());
  if (story.market) return why + "and a [market] is for Redis servers so far";
  const bool has_users = std::any_of(story.clients.begin(), story.clients.end(),
                                     [](const ClientSpec& client) { return client.commands.empty(); });
  return has_users ? "" : why + "and the clients of this story send commands of Redis";
}

Scenario replace_algorithm(const Scenario& story, const models::locks::Entry& entry) {
  Scenario other = story;
  other.lock.algorithm = entry.id;
  other.lock.own = own_lock_of(entry);
  keep_declared(other.lock.parameters, entry, false);
  replace_servers(other, server_kind_of(entry));
  for (ServerSpec& server : other.servers) {
    if (!server_kind_of(entry).has_version(server.settings, entry.server_version))
      server.settings.set("version", std::string(entry.server_version));
  }
  const std::size_t servers = usual_servers(entry);
  if (servers > 1 && other.servers.size() == 1) {
    for (std::size_t i = 1; i < servers; ++i) other.servers.push_back(other.servers.front());
    const models::ServerKind& kind = server_kind_of(entry);
    rename_server(other, other.servers.front().name, server_name(kind, 0, servers));
    for (std::size_t i = 0; i < servers; ++i) other.servers[i].name = server_name(kind, i, servers);
  }
  for (ClientSpec& client : other.clients) {
    keep_declared(client.parameters, entry, true);
    for (ClientSpec& thread : client.threads) keep_declared(thread.parameters, entry, true);
  }
  return other;
}

std::variant<Scenario, std::string> with_algorithm(const Scenario& story, const models::locks::Entry& entry,
                                                   const models::locks::Catalogue& catalogue) {
  if (std::string why = why_not_under(story, entry); !why.empty()) return why;
  Scenario other = replace_algorithm(story, entry);
  other.expect_run.clear();
  other.expect_check.clear();
  other.expect_traces.reset();
  // What strikes or pins commands of the one may mean nothing to the other.
  auto read = parse(to_toml(other), story.file, catalogue);
  if (auto* trouble = std::get_if<Diagnostic>(&read)) return std::move(trouble->message);
  Scenario& result = std::get<Scenario>(read);
  result.id = fmt::format("{}-{}", story.id, entry.id);
  return std::move(result);
}

}  // namespace lockstep::scenarios
