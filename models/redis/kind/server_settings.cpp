#include "models/redis/kind/server_settings.hpp"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::models::redis {
namespace {

constexpr std::array<std::string_view, 4> kAppendOnly{"off", "always", "everysec", "no"};
constexpr std::int64_t kServersMax = 64;
constexpr std::int64_t kChangesMax = 1'000'000'000;
constexpr std::int64_t kPriorityMax = 1'000'000;

PersistenceSettings::AppendOnly append_only_of(std::string_view choice) {
  std::size_t i = 0;
  while (kAppendOnly[i] != choice) ++i;
  return static_cast<PersistenceSettings::AppendOnly>(i);
}

}  // namespace

namespace {
constexpr std::array<std::string_view, 2> kFailovers = {"none", "sentinel"};
}

std::span<const SettingSpec> server_setting_specs() {
  static const ServerSettings standard;
  static const std::array<SettingSpec, 2> save{
      SettingSpec{"after", "duration", sim::Duration(), "required", "so long after the last snapshot"},
      SettingSpec{"changes", "whole number, 1 or more", std::int64_t{1}, "1", "if so many keys have been changed since",
                  1, kChangesMax}};
  static const std::array specs{
      SettingSpec{.name = "replica_of",
                  .type = "name of a server",
                  .fallback = std::string(),
                  .told = "none",
                  .meaning = "it begins, and starts again, as a replica of that server",
                  .names_server = true},
      SettingSpec{.name = "append_only",
                  .type = "\"off\", \"always\", \"everysec\" or \"no\"",
                  .fallback = std::string("off"),
                  .told = "\"off\"",
                  .meaning = "its append-only file, and how often that is written to the disk",
                  .choices = kAppendOnly},
      SettingSpec{.name = "save",
                  .type = "table",
                  .fallback = std::vector<Settings>(),
                  .told = "never",
                  .meaning = "when it makes a snapshot of its keys",
                  .inside = save},
      SettingSpec{"loading", "duration", standard.loading, "\"0ms\"",
                  "how long a restart reads the disk; until then it answers LOADING"},
      SettingSpec{"snapshot_delay", "duration", standard.snapshot_delay, "\"0ms\"",
                  "how long it takes a primary to send a replica all of its keys"},
      SettingSpec{"min_replicas", "whole number, 0 to 64", standard.min_replicas, "0",
                  "a primary refuses to write with fewer replicas (min-replicas-to-write)", 0, kServersMax},
      SettingSpec{.name = "min_replicas_max_lag",
                  .type = "duration",
                  .fallback = standard.min_replicas_max_lag,
                  .told = "\"10s\"",
                  .meaning = "a replica that has been silent for longer does not count",
                  .is_constant = true},
      SettingSpec{"priority", "whole number, 0 to 1000000", standard.priority, "100",
                  "replica-priority: the smallest is promoted first, 0 never", 0, kPriorityMax},
      SettingSpec{.name = "version",
                  .type = "\"7.0\", \"8.4\", \"valkey-8.1\" or \"valkey-9.0\"",
                  .fallback = std::string(),
                  .told = "what the lock needs, else \"7.0\"",
                  .meaning = "which Redis or Valkey it is: later ones have SET with IFEQ, DELEX, DIGEST, DELIFEQ",
                  .choices = kVersions}};
  return specs;
}

std::span<const SettingSpec> deployment_setting_specs() {
  constexpr std::int64_t kReplicasMax = 8;
  static const std::array specs{
      SettingSpec{"replicas", "whole number, 1 to 8", std::int64_t{0}, "none",
                  "instead of `count`: a primary, redis1, with so many replicas, redis2, …", 1, kReplicasMax},
      SettingSpec{.name = "failover",
                  .type = "\"none\" or \"sentinel\"",
                  .fallback = std::string("none"),
                  .told = "\"none\"",
                  .meaning =
                      "\"sentinel\": when the primary is dead, a replica is promoted and all clients follow it; one "
                      "process stands for all sentinels, and [sentinels] says how fast it is",
                  .choices = kFailovers}};
  return specs;
}

std::string replica_of(const Settings& settings) { return settings.get<std::string>("replica_of", ""); }

PersistenceSettings persistence_of(const Settings& settings) {
  PersistenceSettings persistence;
  persistence.append_only = append_only_of(settings.get<std::string>("append_only", "off"));
  for (const Settings& point : settings.get<std::vector<Settings>>("save", {})) {
    persistence.save.push_back(
        {point.get<sim::Duration>("after", sim::Duration()), point.get<std::int64_t>("changes", 1)});
  }
  return persistence;
}

ServerSettings server_settings(const Settings& settings) {
  const ServerSettings standard;
  return {.replica_of = replica_of(settings),
          .persistence = persistence_of(settings),
          .loading = settings.get("loading", standard.loading),
          .snapshot_delay = settings.get("snapshot_delay", standard.snapshot_delay),
          .min_replicas = settings.get("min_replicas", standard.min_replicas),
          .min_replicas_max_lag = settings.get("min_replicas_max_lag", standard.min_replicas_max_lag),
          .priority = settings.get("priority", standard.priority)};
}

Version version_of(const Settings& settings, std::string_view needed) {
  const auto told = settings.get<std::string>("version", std::string(needed));
  return told.empty() ? Version::redis_7_0 : version_of(told);
}

}  // namespace lockstep::models::redis
