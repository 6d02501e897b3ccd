#pragma once

// Several servers of Consul of one datacentre as a cluster.

#include <memory>
#include <span>

#include "models/servers/server_kind.hpp"

namespace lockstep::models::consul {

/// `[servers]`: what the servers of a cluster have in common.
std::span<const SettingSpec> cluster_setting_specs();

/// Requires: two servers at least, all of one datacentre.
std::unique_ptr<Servers> make_consul_cluster(const ServersSetup& setup);

}  // namespace lockstep::models::consul
