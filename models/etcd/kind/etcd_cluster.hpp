#pragma once

// Several [[server]]s of kind etcd: one cluster.

#include <memory>
#include <span>

#include "models/servers/server_kind.hpp"

namespace lockstep::models::etcd {

/// The keys of [servers] that a cluster reads.
std::span<const SettingSpec> cluster_setting_specs();

/// Each server is a member; the first leads at the beginning. Client number n (in the order of the file) begins with
/// member n, and goes round. Requires: several servers.
std::unique_ptr<Servers> make_etcd_cluster(const ServersSetup& setup);

}  // namespace lockstep::models::etcd
