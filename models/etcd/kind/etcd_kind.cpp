// etcd as a kind of server: one node of etcd 3.4, as models/etcd/engine has it, or a cluster of several.

#include <array>
#include <deque>
#include <string>
#include <utility>

#include "models/client/client.hpp"
#include "models/consensus/types.hpp"
#include "models/etcd/client/etcd_endpoint.hpp"
#include "models/etcd/kind/etcd_cluster.hpp"
#include "models/etcd/kind/held.hpp"
#include "models/etcd/server/etcd_server.hpp"
#include "models/servers/kinds.hpp"
#include "models/servers/server_kind.hpp"

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

  std::uint64_t digest(std::size_t server) const override { return digest_of(servers_[server].engine()); }

  std::vector<HeldObject> held(std::size_t server) const override { return held_by(servers_[server]); }

  std::vector<std::string> holdings(std::size_t server) const override {
    return holdings_of(servers_[server].engine());
  }

 private:
  ServersSetup setup_;
  std::deque<Server> servers_;  ///< the world refers to them: they must not move
};

class EtcdKind final : public ServerKind {
 public:
  std::string_view name() const override { return "etcd"; }
  std::string_view request() const override { return "a request of etcd's API"; }
  std::span<const sim::FaultKind> implements() const override {
    using enum sim::FaultKind;
    static constexpr std::array kFaults{pause, crash, lose, jump, skew, delay, partition};
    return kFaults;
  }
  /// Leases end by Go's monotonic clock.
  bool reads_wall_clock() const override { return false; }
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
                    "500ms"},
        SettingSpec{"disk_stall_at", "duration", sim::Duration(), "\"0ms\"",
                    "of a cluster's member: when a write to its disk begins that takes `disk_stall`"},
        SettingSpec{"disk_stall", "duration", sim::Duration(), "\"0ms\"",
                    "for so long its Raft waits for the disk, and its lessor and its clients' connections do not"}};
    return specs;
  }
  std::span<const SettingSpec> shared_settings() const override { return cluster_setting_specs(); }
  bool has_disk(const Settings&) const override { return true; }
  std::vector<std::string_view> other_messages() const override {
    return {"REQUESTVOTE", "VOTE",          "APPENDENTRIES", "APPENDED", "PROPOSE",
            "READINDEX",   "READINDEXRESP", "RENEW",         "RENEWED"};
  }

  bool are_independent(std::span<const ServerSpec> servers) const override { return servers.size() == 1; }
  bool keep_one_state(std::span<const ServerSpec>) const override { return true; }
  std::optional<Contradiction> contradiction(std::span<const ServerSpec> servers) const override {
    if (servers.size() <= consensus::kNodesMax) return std::nullopt;
    return Contradiction{consensus::kNodesMax, "name", "a cluster has nine members at most"};
  }
  std::string_view not_explored(std::span<const ServerSpec> servers, const Settings&) const override {
    return servers.size() == 1 ? "" : "the members of a cluster hear of each other for ever";
  }

  std::unique_ptr<Servers> make(const ServersSetup& setup) const override {
    if (setup.servers.size() > 1) return make_etcd_cluster(setup);
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
