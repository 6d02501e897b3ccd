#pragma once

// What a Redis server of a story is told, as the keys of its [[server]].

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/redis/database/version.hpp"
#include "models/redis/server/persistence_settings.hpp"
#include "models/servers/settings.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::redis {

struct ServerSettings {
  std::string replica_of;  ///< whose replica it begins as; empty: nobody's
  PersistenceSettings persistence;
  sim::Duration loading;         ///< how long a restart reads the disk
  sim::Duration snapshot_delay;  ///< of a full resync
  std::int64_t min_replicas = 0;
  sim::Duration min_replicas_max_lag = sim::Duration::seconds(10);
  std::int64_t priority = 100;
};

/// Which server that is where the lock needs that version; empty: it needs none.
Version version_of(const Settings& settings, std::string_view needed);

/// Requires: the settings came out of a file, or are as consistent.
ServerSettings server_settings(const Settings& settings);
/// Of these settings; empty: nobody's.
std::string replica_of(const Settings& settings);
PersistenceSettings persistence_of(const Settings& settings);

/// The table of their keys.
std::span<const SettingSpec> server_setting_specs();
/// Of all of them: what is short for a primary with replicas, and for who watches them. Files alone have it.
std::span<const SettingSpec> deployment_setting_specs();

}  // namespace lockstep::models::redis
