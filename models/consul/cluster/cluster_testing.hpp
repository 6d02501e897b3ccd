#pragma once

// A cluster of Consul among clients, for tests.

#include <deque>
#include <optional>

#include "models/consensus/testing/cluster_bench.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/consul/cluster/member.hpp"

namespace lockstep::models::consul {

struct ClusterOfConsul {
  using Member = ClusterMember;
  using MemberSettings = ClusterSettings;
  using Endpoint = consul::Endpoint;
  struct Own {};
  static constexpr const char* name = "consul";

  static ClusterMember& add_member(std::deque<ClusterMember>& members, const ClusterSettings& settings, const Own&,
                                   consensus::Ledger& history) {
    return members.emplace_back(static_cast<consensus::NodeId>(members.size()), settings, history);
  }
  static void add_server(Endpoint& endpoint, const ClusterMember& member, sim::ConnectionId connection,
                         std::optional<sim::Duration> timeout) {
    endpoint.add_server(connection, member.datacentre(), timeout);
  }
};

using ClusterBench = consensus::testing::ClusterBench<ClusterOfConsul>;

}  // namespace lockstep::models::consul
