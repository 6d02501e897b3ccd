#pragma once

// A cluster of etcd among clients, for tests.

#include <deque>
#include <optional>

#include "models/consensus/testing/cluster_bench.hpp"
#include "models/etcd/client/etcd_endpoint.hpp"
#include "models/etcd/cluster/member.hpp"

namespace lockstep::models::etcd {

struct ClusterOfEtcd {
  using Member = ClusterMember;
  using MemberSettings = ClusterSettings;
  using Endpoint = etcd::Endpoint;
  struct Own {
    DiskStall stall_of_first = {};
  };
  static constexpr const char* name = "etcd";

  static ClusterMember& add_member(std::deque<ClusterMember>& members, const ClusterSettings& settings, const Own& own,
                                   consensus::Ledger& history) {
    const DiskStall stall = members.empty() ? own.stall_of_first : DiskStall{};
    return members.emplace_back(static_cast<consensus::NodeId>(members.size()), settings, stall, history);
  }
  static void add_server(Endpoint& endpoint, const ClusterMember&, sim::ConnectionId connection,
                         std::optional<sim::Duration> timeout) {
    endpoint.add_server(connection, timeout);
  }
};

using ClusterBench = consensus::testing::ClusterBench<ClusterOfEtcd>;

}  // namespace lockstep::models::etcd
