// Consul as a kind of server: each one is all servers of a datacentre, as models/consul/engine has them.

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/consul/server/consul_server.hpp"
#include "models/servers/kinds.hpp"
#include "models/servers/server_kind.hpp"
#include "models/value.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models {
namespace consul {
namespace {

constexpr std::array<std::string_view, 3> kDatacentres{"dc1", "dc2", "dc3"};

std::string datacentre_of(const Settings& settings) {
  return settings.get("datacentre", std::string(kDatacentres.front()));
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

  /// A key that was released stays, and whoever comes acquires it as if it were not there. Indices count on, but
  /// nobody's getting the lock depends on their number.
  bool is_as_at_first() const override {
    return std::all_of(servers_.begin(), servers_.end(), [](const Server& server) {
      const Engine& engine = server.engine();
      return engine.sessions().empty() && !engine.has_lock_delays() &&
             std::all_of(engine.kvs().begin(), engine.kvs().end(),
                         [](const auto& entry) { return entry.second.value.empty(); });
    });
  }

  std::uint64_t digest(std::size_t server) const override {
    return static_cast<std::uint64_t>(servers_[server].engine().last_index());
  }

  std::vector<HeldObject> held(std::size_t server) const override {
    std::vector<HeldObject> objects;
    for (const auto& [key, kv] : servers_[server].engine().kvs()) {
      std::string text = kv.value.empty() ? "" : plain_or_quoted(kv.value) + ", ";
      text += kv.session == 0 ? "no session" : fmt::format("session {}", kv.session);
      text += fmt::format(", LockIndex {}", kv.lock_index);
      objects.push_back({key, "key", std::move(text), servers_[server].end_of(kv.session)});
    }
    return objects;
  }

  std::vector<std::string> holdings(std::size_t server) const override {
    std::vector<std::string> lines;
    for (const auto& [key, kv] : servers_[server].engine().kvs()) {
      std::string line = key + (kv.session == 0 ? ", without a session" : ", acquired by a session");
      if (servers_[server].engine().is_delayed(key)) line += ", in its lock-delay";
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  ServersSetup setup_;
  std::deque<Server> servers_;  ///< the world refers to them: they must not move
};

class ConsulKind final : public ServerKind {
 public:
  std::string_view name() const override { return "consul"; }
  std::string_view request() const override { return "a request of Consul's HTTP API"; }
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

  std::optional<Contradiction> contradiction(std::span<const ServerSpec> servers) const override {
    for (std::size_t i = 1; i < servers.size(); ++i) {
      for (std::size_t other = 0; other < i; ++other) {
        if (datacentre_of(servers[i].settings) != datacentre_of(servers[other].settings)) continue;
        return Contradiction{i, "datacentre",
                             fmt::format("\"{}\" and \"{}\" are both of datacentre \"{}\"; one server is all servers "
                                         "of a datacentre",
                                         servers[other].name, servers[i].name, datacentre_of(servers[i].settings))};
      }
    }
    return std::nullopt;
  }

  bool has_disk(const Settings&) const override { return true; }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
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
