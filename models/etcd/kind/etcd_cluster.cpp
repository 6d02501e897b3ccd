#include "models/etcd/kind/etcd_cluster.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/consensus/connect_members.hpp"
#include "models/etcd/client/etcd_endpoint.hpp"
#include "models/etcd/cluster/member.hpp"
#include "models/etcd/kind/held.hpp"
#include "models/servers/client_numbers.hpp"

namespace lockstep::models::etcd {
namespace {

ClusterSettings cluster_settings(const ServersSetup& setup, const ServerSpec& server) {
  ClusterSettings settings;
  settings.nodes = setup.servers.size();
  settings.leases.least = server.settings.get("min_lease_ttl", sim::Duration());
  settings.leases.check_interval = server.settings.get("lease_check_interval", sim::Duration());
  // Of no length at all, time would not go on.
  const sim::Duration least = sim::Duration::milliseconds(1);
  settings.election_timeout = std::max(setup.shared.get("election_timeout", settings.election_timeout), least);
  settings.heartbeat_interval = std::max(setup.shared.get("heartbeat_interval", settings.heartbeat_interval), least);
  settings.pre_vote = setup.shared.get("pre_vote", false);
  settings.ensures_leadership = setup.shared.get("ensure_leadership", true);
  return settings;
}

class EtcdCluster final : public Servers {
 public:
  explicit EtcdCluster(const ServersSetup& setup) : setup_(setup) {
    for (const ServerSpec& spec : setup.servers) {
      const DiskStall stall{.at = spec.settings.get("disk_stall_at", sim::Duration()),
                            .length = spec.settings.get("disk_stall", sim::Duration())};
      ClusterMember& member = members_.emplace_back(static_cast<consensus::NodeId>(members_.size()),
                                                    cluster_settings(setup, spec), stall, history_);
      ids_.push_back(setup.world.add(member, spec.name, clock_settings(spec.clock)));
    }
    history_.teller = ids_.front();
    consensus::connect_members(setup.world, members_, setup.replication.value_or(setup.latency));
  }

  void connect(Client& client, const ClientLink& how) override {
    auto& endpoint = client.connect<Endpoint>();
    for (std::size_t i = 0; i < ids_.size(); ++i)
      endpoint.add_server(link(client, ids_[i], setup_.latency_to(i)), how.timeout);
    endpoint.begin_with(numbers_.of(client.process().id()) % ids_.size());
  }

  void begin_first() override {
    for (const sim::ProcessId id : ids_) setup_.world.start(id, sim::DurationRange::exactly({}));
  }

  /// That is for whoever has applied the most to say.
  bool is_as_at_first() const override {
    const auto latest = std::max_element(members_.begin(), members_.end(), [](const auto& a, const auto& b) {
      return a.member().applied() < b.member().applied();
    });
    return latest->engine().present().empty() && latest->engine().leases().empty();
  }

  std::uint64_t digest(std::size_t server) const override { return digest_of(members_[server].engine()); }
  std::vector<HeldObject> held(std::size_t server) const override { return held_by(members_[server]); }
  std::vector<std::string> holdings(std::size_t server) const override {
    return holdings_of(members_[server].engine());
  }

 private:
  ServersSetup setup_;
  consensus::Ledger history_;
  std::deque<ClusterMember> members_;  ///< the world refers to them: they must not move
  ClientNumbers numbers_;
};

}  // namespace

std::span<const SettingSpec> cluster_setting_specs() {
  static const std::array specs{
      SettingSpec{"election_timeout", "duration", sim::Duration::seconds(1), "\"1s\"",
                  "of a cluster of etcd: who has heard no leader for so long, and up to as long again, stands for "
                  "election; a leader that no quorum has answered for so long gives up; 1ms at least"},
      SettingSpec{"heartbeat_interval", "duration", sim::Duration::milliseconds(100), "\"100ms\"",
                  "of a cluster of etcd: a leader is heard so often; 1ms at least"},
      SettingSpec{"pre_vote", "true or false", false, "false",
                  "of a cluster of etcd: who comes back from behind a partition asks before it stands for election; "
                  "etcd's own is false, and true since 3.5"},
      SettingSpec{"ensure_leadership", "true or false", true, "true",
                  "of a cluster of etcd: before a leader ends a lease or keeps it alive it asks a quorum whether it "
                  "still leads, as etcd does since 3.5.13"}};
  return specs;
}

std::unique_ptr<Servers> make_etcd_cluster(const ServersSetup& setup) { return std::make_unique<EtcdCluster>(setup); }

}  // namespace lockstep::models::etcd
