#pragma once

// What a script may use up, and whom it calls.

#include <cstddef>
#include <cstdint>

#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

struct ScriptLimits {
  /// Virtual machine instructions, and steps of library functions that cost as much. An instruction counts more while
  /// the script handles strings or tables of many kilobytes, because it may walk over all of one.
  std::uint64_t instructions = 1'000'000;
  /// Bytes of Lua memory that one script may add.
  std::size_t memory_bytes = 16 << 20;
  bool operator==(const ScriptLimits&) const = default;
};

/// Whom a script's redis.call reaches.
class ScriptHost {
 public:
  /// `may_write` is false for a script that declared flags=no-writes.
  virtual Reply call_from_script(const Command& command, bool may_write) = 0;
  virtual bool knows_command(const Command& command) const = 0;
  /// Whom scripts ask when they compare symbolic timestamps.
  virtual sim::World* world() const { return nullptr; }
  /// By which clock keys live, at the present moment. Requires: there is a world.
  virtual sim::Instant now() const { return {}; }

 protected:
  ~ScriptHost() = default;
};

}  // namespace lockstep::models::redis
