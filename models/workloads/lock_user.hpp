#pragma once

// What clients do with a lock: get it, use what it protects, give it back. An attempt, the work inside and the release
// are coroutines of their own, so that a client's state at their borders is small and known.

#include <cstdint>
#include <optional>
#include <string>

#include "models/client.hpp"
#include "models/locks/lock.hpp"
#include "sim/time.hpp"

namespace lockstep::models::workloads {

/// How a holder uses the resource, if there is one.
enum class Use : std::uint8_t {
  none,       ///< it only works
  increment,  ///< reads, works, writes one more than it read
  overwrite   ///< works, writes its own number
};

struct LockUser {
  std::string lock = "lock";  ///< name of the lock, for the history
  std::int64_t rounds = 1;
  sim::DurationRange between;  ///< from the end of a round to the next
  std::int64_t attempts = 1;   ///< per round
  sim::DurationRange retry;    ///< from a failed attempt to the next, by the client's own clock
  sim::DurationRange hold;     ///< processor time inside
  bool release = true;
  Use use = Use::none;
  sim::ConnectionId resource;
  std::optional<sim::Duration> timeout;  ///< of accesses to the resource
};

/// All rounds of one client. Requires: `lock` and `settings` outlive the world.
sim::Task<void> run(Client& client, const locks::LockAlgorithm& lock, const LockUser& settings);

}  // namespace lockstep::models::workloads
