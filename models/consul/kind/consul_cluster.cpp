#include "models/consul/kind/consul_cluster.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/consensus/connect_members.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/consul/cluster/member.hpp"
#include "models/consul/kind/held.hpp"
#include "models/servers/client_numbers.hpp"

namespace lockstep::models::consul {
namespace {

ClusterSettings cluster_settings(const ServersSetup& setup, const ServerSpec& server) {
  ClusterSettings settings;
  settings.nodes = setup.servers.size();
  settings.server.datacentre = server.settings.get("datacentre", settings.server.datacentre);
  settings.server.session_ttl_min = server.settings.get("session_ttl_min", sim::Duration());
  // Of no length at all, time would not go on.
  const sim::Duration least = sim::Duration::milliseconds(1);
  settings.heartbeat_timeout = std::max(setup.shared.get("heartbeat_timeout", settings.heartbeat_timeout), least);
  settings.leader_lease_timeout = std::clamp(setup.shared.get("leader_lease_timeout", settings.leader_lease_timeout),
                                             least, settings.heartbeat_timeout);
  settings.commit_timeout = std::max(setup.shared.get("commit_timeout", settings.commit_timeout), least);
  settings.rpc_hold_timeout = std::max(setup.shared.get("rpc_hold_timeout", settings.rpc_hold_timeout), least * 16);
  return settings;
}

class ConsulCluster final : public Servers {
 public:
  explicit ConsulCluster(const ServersSetup& setup) : setup_(setup) {
    for (const ServerSpec& spec : setup.servers) {
      ClusterMember& member = members_.emplace_back(static_cast<consensus::NodeId>(members_.size()),
                                                    cluster_settings(setup, spec), history_);
      ids_.push_back(setup.world.add(member, spec.name, clock_settings(spec.clock)));
    }
    history_.teller = ids_.front();
    consensus::connect_members(setup.world, members_, setup.replication.value_or(setup.latency));
  }

  void connect(Client& client, const ClientLink& how) override {
    auto& endpoint = client.connect<Endpoint>();
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      endpoint.add_server(link(client, ids_[i], setup_.latency_to(i)), members_[i].datacentre(), how.timeout);
    }
    endpoint.begin_with(numbers_.of(client.process().id()) % ids_.size());
  }

  void begin_first() override {
    for (const sim::ProcessId id : ids_) setup_.world.start(id, sim::DurationRange::exactly({}));
  }

  /// That is for whoever has applied the most to say.
  bool is_as_at_first() const override {
    return consul::is_as_at_first(*std::max_element(members_.begin(), members_.end(), has_applied_less));
  }

  std::uint64_t digest(std::size_t server) const override {
    return static_cast<std::uint64_t>(members_[server].engine().last_index());
  }
  std::vector<HeldObject> held(std::size_t server) const override { return held_by(members_[server]); }
  std::vector<std::string> holdings(std::size_t server) const override { return holdings_of(members_[server]); }

 private:
  static bool has_applied_less(const ClusterMember& a, const ClusterMember& b) {
    return a.member().applied() < b.member().applied();
  }

  ServersSetup setup_;
  consensus::Ledger history_;
  std::deque<ClusterMember> members_;  ///< the world refers to them: they must not move
  ClientNumbers numbers_;
};

}  // namespace

std::span<const SettingSpec> cluster_setting_specs() {
  static const std::array specs{
      SettingSpec{"heartbeat_timeout", "duration", sim::Duration::seconds(1), "\"1s\"",
                  "of a cluster of Consul: who has heard no leader for so long, and up to three times as long, stands "
                  "for election; 5s with Consul's usual raft_multiplier; 1ms at least"},
      SettingSpec{"leader_lease_timeout", "duration", sim::Duration::milliseconds(500), "\"500ms\"",
                  "of a cluster of Consul: a leader that no quorum has answered for so long gives up; not longer than "
                  "`heartbeat_timeout`; 2.5s with Consul's usual raft_multiplier"},
      SettingSpec{"commit_timeout", "duration", sim::Duration::milliseconds(50), "\"50ms\"",
                  "of a cluster of Consul: a follower hears so late what is committed, if nothing else is written; 1ms "
                  "at least, and no more than a tenth of `heartbeat_timeout`: what is longer counts as that"},
      SettingSpec{"rpc_hold_timeout", "duration", sim::Duration::seconds(7), "\"7s\"",
                  "of a cluster of Consul: so long a server keeps requests while there is no leader; 16ms at "
                  "least"}};
  return specs;
}

std::unique_ptr<Servers> make_consul_cluster(const ServersSetup& setup) {
  return std::make_unique<ConsulCluster>(setup);
}

}  // namespace lockstep::models::consul
