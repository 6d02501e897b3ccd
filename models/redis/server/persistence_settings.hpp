#pragma once

// What a server is told to keep on its disk.

#include <cstdint>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::models::redis {

/// As a server's configuration file says it.
struct PersistenceSettings {
  /// appendonly and appendfsync.
  enum class AppendOnly : std::uint8_t { off, always, everysec, no };
  /// "save 60 1000": when so much time has passed since the last snapshot, and so many changes have been made.
  struct SavePoint {
    sim::Duration after;
    std::int64_t changes = 1;
    bool operator==(const SavePoint&) const = default;
  };
  AppendOnly append_only = AppendOnly::off;
  std::vector<SavePoint> save;
  bool operator==(const PersistenceSettings&) const = default;

  bool keeps_nothing() const { return append_only == AppendOnly::off && save.empty(); }
};

}  // namespace lockstep::models::redis
