// Consul as a kind of server: each one is all servers of a datacentre, as models/consul/engine has them; or several of
// one datacentre are a cluster.

#include <array>
#include <deque>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/consensus/types.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/consul/kind/consul_cluster.hpp"
#include "models/consul/kind/held.hpp"
#include "models/consul/server/consul_server.hpp"
#include "models/servers/kinds.hpp"
#include "models/servers/server_kind.hpp"

namespace lockstep::models {
namespace consul {
namespace {

constexpr std::array<std::string_view, 3> kDatacentres{"dc1", "dc2", "dc3"};

std::string datacentre_of(const Settings& settings) {
  return settings.get("datacentre", std::string(kDatacentres.front()));
}

bool is_cluster(std::span<const ServerSpec> servers) {
  if (servers.size() < 2) return false;
  for (const ServerSpec& server : servers) {
    if (datacentre_of(server.settings) != datacentre_of(servers.front().settings)) return false;
  }
  return true;
}

class ConsulServers final : public Servers {
 public:
  explicit ConsulServers(const ServersSetup& setup) : setup_(setup) {
    for (const ServerSpec& spec : setup.servers) {
      Server& server = servers_.emplace_back(
          ServerSettings{.datacentre = datacentre_of(spec.settings),
                         .session_ttl_min = spec.settings.get("session_ttl_min", sim::Duration())});
      ids_.push_back(setup.world.add(server, spec.name, clock_settings(spec.clock)));
    }
  }

  void connect(Client& client, const ClientLink& how) override {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      client.connect<Endpoint>().add_server(link(client, ids_[i], setup_.latency_to(i)), servers_[i].datacentre(),
                                            how.timeout);
    }
  }

  bool is_as_at_first() const override {
    for (const Server& server : servers_) {
      if (!consul::is_as_at_first(server)) return false;
    }
    return true;
  }

  std::uint64_t digest(std::size_t server) const override {
    return static_cast<std::uint64_t>(servers_[server].engine().last_index());
  }

  std::vector<HeldObject> held(std::size_t server) const override { return held_by(servers_[server]); }
  std::vector<std::string> holdings(std::size_t server) const override { return holdings_of(servers_[server]); }

 private:
  ServersSetup setup_;
  std::deque<Server> servers_;  ///< the world refers to them: they must not move
};

class ConsulKind final : public ServerKind {
 public:
  std::string_view name() const override { return "consul"; }
  std::string_view request() const override { return "a request of Consul's HTTP API"; }
  std::span<const sim::FaultKind> implements() const override {
    using enum sim::FaultKind;
    static constexpr std::array kFaults{pause, crash, lose, jump, skew, delay, partition};
    return kFaults;
  }
  /// Sessions end by Go's timers, which are monotonic.
  bool reads_wall_clock() const override { return false; }
  std::vector<std::string_view> requests() const override {
    return {"PUT",
            "PUT_CAS",
            "PUT_ACQUIRE",
            "PUT_RELEASE",
            "DELETE",
            "DELETE_CAS",
            "DELETE_RECURSE",
            "GET",
            "GET_WAIT",
            "GET_RECURSE",
            "GET_RECURSE_WAIT",
            "GET_KEYS",
            "GET_KEYS_WAIT",
            "SESSION_INFO",
            "SESSION_INFO_WAIT",
            "SESSION_LIST",
            "SESSION_LIST_WAIT",
            "SESSION_CREATE",
            "SESSION_DESTROY",
            "SESSION_RENEW",
            "CHECK"};
  }

  std::span<const SettingSpec> settings() const override {
    static const std::array specs{
        SettingSpec{.name = "datacentre",
                    .type = "\"dc1\", \"dc2\" or \"dc3\"",
                    .fallback = std::string(kDatacentres.front()),
                    .told = "\"dc1\"",
                    .meaning = "whose servers these are: each datacentre has its own keys and sessions",
                    .choices = kDatacentres},
        SettingSpec{"session_ttl_min", "duration", sim::Duration(), "\"0ms\"",
                    "a session with a shorter TTL is refused; Consul's own is 10s"}};
    return specs;
  }

  std::span<const SettingSpec> shared_settings() const override { return cluster_setting_specs(); }
  std::vector<std::string_view> other_messages() const override {
    return {"REQUESTVOTE", "VOTE", "APPENDENTRIES", "APPENDED", "CONNECT", "FORWARD", "FORWARDED"};
  }

  /// All of one datacentre, or each of another one.
  std::optional<Contradiction> contradiction(std::span<const ServerSpec> servers) const override {
    if (is_cluster(servers)) {
      if (servers.size() <= consensus::kNodesMax) return std::nullopt;
      return Contradiction{consensus::kNodesMax, "name", "a cluster has nine servers at most"};
    }
    for (std::size_t i = 1; i < servers.size(); ++i) {
      for (std::size_t other = 0; other < i; ++other) {
        if (datacentre_of(servers[i].settings) != datacentre_of(servers[other].settings)) continue;
        return Contradiction{i, "datacentre",
                             fmt::format("\"{}\" and \"{}\" are both of datacentre \"{}\"; where there are several "
                                         "datacentres, one server is all servers of one",
                                         servers[other].name, servers[i].name, datacentre_of(servers[i].settings))};
      }
    }
    return std::nullopt;
  }

  bool are_independent(std::span<const ServerSpec> servers) const override { return !is_cluster(servers); }
  bool keep_one_state(std::span<const ServerSpec> servers) const override {
    return servers.size() == 1 || is_cluster(servers);
  }
  std::string_view not_explored(std::span<const ServerSpec> servers, const Settings&) const override {
    return is_cluster(servers) ? "the servers of a cluster hear of each other for ever" : "";
  }

  bool has_disk(const Settings&) const override { return true; }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
    if (is_cluster(setup.servers)) return make_consul_cluster(setup);
    return std::make_unique<ConsulServers>(setup);
  }
};

}  // namespace
}  // namespace consul

const ServerKind& consul_kind() {
  static const consul::ConsulKind kind;
  return kind;
}

}  // namespace lockstep::models
