// etcd as a kind of server: one node of etcd 3.4, as models/etcd/engine has it.

#include <array>
#include <deque>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/etcd/client/etcd_endpoint.hpp"
#include "models/etcd/server/etcd_server.hpp"
#include "models/servers/kinds.hpp"
#include "models/servers/server_kind.hpp"
#include "models/value.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models {
namespace etcd {
namespace {

class EtcdServers final : public Servers {
 public:
  explicit EtcdServers(const ServersSetup& setup) : setup_(setup) {
    for (const ServerSpec& spec : setup.servers) {
      Server& server = servers_.emplace_back(
          LeaseTimes{.least = spec.settings.get("min_lease_ttl", sim::Duration()),
                     .check_interval = spec.settings.get("lease_check_interval", sim::Duration())});
      ids_.push_back(setup.world.add(server, spec.name, clock_settings(spec.clock)));
    }
  }

  void connect(Client& client, const ClientLink& how) override {
    for (std::size_t i = 0; i < ids_.size(); ++i)
      client.connect<Endpoint>().add_server(link(client, ids_[i], setup_.latency_to(i)), how.timeout);
  }

  /// Revisions count on, but nobody's getting the lock depends on their number.
  bool is_as_at_first() const override {
    for (const Server& server : servers_) {
      if (!server.engine().present().empty() || !server.engine().leases().empty()) return false;
    }
    return true;
  }

  std::uint64_t digest(std::size_t server) const override {
    auto digest = static_cast<std::uint64_t>(servers_[server].engine().revision());
    for (const LeaseId lease : servers_[server].engine().leases())
      digest = sim::combine64(digest, static_cast<std::uint64_t>(lease));
    return digest;
  }

  std::vector<HeldObject> held(std::size_t server) const override {
    std::vector<HeldObject> objects;
    for (const KeyValue& kv : servers_[server].engine().present()) {
      std::string text = kv.value.empty() ? "" : plain_or_quoted(kv.value) + ", ";
      text += fmt::format("created at revision {}", kv.create_revision);
      if (kv.lease != 0) text += fmt::format(", lease {}", kv.lease);
      objects.push_back({kv.key, "key", std::move(text), servers_[server].end_of(kv.lease)});
    }
    return objects;
  }

  std::vector<std::string> holdings(std::size_t server) const override {
    std::vector<std::string> lines;
    for (const KeyValue& kv : servers_[server].engine().present())
      lines.push_back(kv.key + (kv.lease == 0 ? "" : ", with a lease"));
    return lines;
  }

 private:
  ServersSetup setup_;
  std::deque<Server> servers_;  ///< the world refers to them: they must not move
};

class EtcdKind final : public ServerKind {
 public:
  std::string_view name() const override { return "etcd"; }
  std::string_view request() const override { return "a request of etcd's API"; }
  std::vector<std::string_view> requests() const override {
    return {"RANGE", "PUT", "DELETE_RANGE", "TXN", "LEASE_GRANT", "LEASE_REVOKE", "LEASE_KEEP_ALIVE", "WATCH"};
  }

  std::span<const SettingSpec> settings() const override {
    static const std::array specs{
        SettingSpec{"min_lease_ttl", "duration", sim::Duration(), "\"0ms\"",
                    "a lease that is asked for a shorter time lasts so long; etcd's own is 2s, with its usual election "
                    "timeout"},
        SettingSpec{"lease_check_interval", "duration", sim::Duration(), "\"0ms\"",
                    "leases that are over are looked for so often, so that one ends up to so much late; etcd's own is "
                    "500ms"}};
    return specs;
  }
  bool has_disk(const Settings&) const override { return true; }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
    return std::make_unique<EtcdServers>(setup);
  }
};

}  // namespace
}  // namespace etcd

const ServerKind& etcd_kind() {
  static const etcd::EtcdKind kind;
  return kind;
}

}  // namespace lockstep::models
