// The kind of server that is called Redis.

#include <algorithm>
#include <array>

#include "models/redis/database/commands.hpp"
#include "models/redis/kind/redis_servers.hpp"
#include "models/redis/kind/server_settings.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models {
namespace redis {
namespace {

std::string in_quotes(const std::string& name) { return "\"" + name + "\""; }

class RedisKind final : public ServerKind {
 public:
  std::string_view name() const override { return "redis"; }
  std::string_view request() const override { return "a Redis command"; }
  std::span<const sim::FaultKind> implements() const override {
    using enum sim::FaultKind;
    static constexpr std::array kFaults{pause, crash, lose, jump, skew, delay, partition};
    return kFaults;
  }
  /// Keys live until a moment of it; TIME.
  bool reads_wall_clock() const override { return true; }
  bool tells_of_others(std::string_view request) const override {
    static constexpr std::string_view kOfReplicas[] = {"WAIT", "WAITAOF", "FAILOVER", "ROLE", "INFO"};
    return std::find(std::begin(kOfReplicas), std::end(kOfReplicas), request) != std::end(kOfReplicas);
  }
  bool depends_on_others(std::span<const ServerSpec> servers) const override {
    return std::any_of(servers.begin(), servers.end(),
                       [](const ServerSpec& server) { return server_settings(server.settings).min_replicas > 0; });
  }

  /// Commands that a server executes (SCRIPT alone is none, SCRIPT LOAD is), and what sentinels are asked.
  std::vector<std::string_view> requests() const override {
    std::vector<std::string_view> names;
    for (const CommandSpec& command : command_table()) {
      if (command.handler != nullptr) names.push_back(command.name);
    }
    names.insert(names.end(), {"SENTINEL GET-MASTER-ADDR-BY-NAME", "SENTINEL IS-MASTER-DOWN-BY-ADDR"});
    return names;
  }

  /// What servers say to each other, and a server to a subscriber; and a command that no server knows.
  std::vector<std::string_view> other_messages() const override {
    return {"PSYNC",  "REPLCONF ACK", "CLOSED",  "REFUSED", "FULLRESYNC", "CONTINUE",
            "STREAM", "REACHABLE",    "MESSAGE", "CLOSE",   "(unknown)"};
  }

  std::span<const SettingSpec> settings() const override { return server_setting_specs(); }
  std::span<const SettingSpec> shared_settings() const override { return deployment_setting_specs(); }

  /// A primary is nobody's replica itself: who follows whom is one level deep when a story begins.
  std::optional<Contradiction> contradiction(std::span<const ServerSpec> servers) const override {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const std::string primary = replica_of(servers[i].settings);
      if (primary.empty()) continue;
      if (primary == servers[i].name)
        return Contradiction{i, "replica_of", in_quotes(primary) + " cannot be its own replica; name another server"};
      for (const ServerSpec& other : servers) {
        const std::string next = replica_of(other.settings);
        if (other.name != primary || next.empty()) continue;
        return Contradiction{i, "replica_of",
                             in_quotes(primary) + " is a replica itself, of " + in_quotes(next) + "; name that one"};
      }
    }
    return std::nullopt;
  }

  bool has_version(const Settings& settings, std::string_view version) const override {
    return version.empty() || includes(version_of(settings, version), version_of(version));
  }

  bool has_disk(const Settings& settings) const override { return !persistence_of(settings).keeps_nothing(); }

  bool are_independent(std::span<const ServerSpec> servers) const override {
    return std::all_of(servers.begin(), servers.end(),
                       [](const ServerSpec& server) { return replica_of(server.settings).empty(); });
  }

  bool is_redis() const override { return true; }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
    return std::make_unique<RedisServers>(setup);
  }
};

}  // namespace
}  // namespace redis

const ServerKind& redis_kind() {
  static const redis::RedisKind kind;
  return kind;
}

}  // namespace lockstep::models
