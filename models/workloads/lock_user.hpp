#pragma once

// What clients do with a lock: get it, use what it protects, give it back. An attempt, the work inside and the release
// are coroutines of their own, so that a client's state at their borders is small and known.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/locks/lock.hpp"
#include "sim/coroutines/task.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::models::workloads {

/// How a holder uses the resource, if there is one.
enum class Use : std::uint8_t {
  none,       ///< it only works
  increment,  ///< reads, works, writes one more than it read
  overwrite,  ///< works, writes its own number
  row         ///< as increment; the lock's own server keeps it, and the lock reads and writes it
};

/// One lock, and what it is called in the history.
struct UsedLock {
  const locks::LockAlgorithm* algorithm = nullptr;
  std::string name = "lock";
};

struct LockUser {
  std::vector<UsedLock> locks;  ///< taken one after the other, given back in reverse; at least one
  std::int64_t rounds = 1;
  sim::DurationRange between;     ///< from the end of a round to the next
  std::int64_t attempts = 1;      ///< per round and lock
  sim::DurationRange retry;       ///< from a failed attempt to the next, by the client's own clock
  sim::DurationRange hold;        ///< processor time inside
  std::int64_t reenter = 0;       ///< after that it takes the lock again, this often, and gives back as often
  sim::DurationRange inner_hold;  ///< processor time with all of these
  bool release = true;
  bool in_finally = false;  ///< gives back as often as it tried to take, whether it got the lock or not
  /// Instead of all that: what it calls in the end, whether it got the lock or not. A question that is answered with no
  /// ends it, as an `if` around the rest would, and so does what throws: an unlock of whom the lock is not, a call
  /// without an answer.
  std::vector<locks::Call> finally;
  sim::DurationRange after;  ///< from the start of its process to its first attempt
  Use use = Use::none;
  sim::ConnectionId resource;
  std::optional<sim::Duration> timeout;  ///< of accesses to the resource
};

/// All rounds of one client. A round in which it does not get one of its locks ends by giving back those that it has.
/// Requires: `settings` and the locks in it outlive the world.
sim::Task<void> run(Client& client, const LockUser& settings);

/// The client's operation is over, and the next one begins with nothing missed. One during which a reply was missing
/// may have succeeded without anybody knowing: it has not failed, its outcome is unknown.
void complete(Client& client, sim::OperationId id, bool succeeded);

}  // namespace lockstep::models::workloads
