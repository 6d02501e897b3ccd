// Several of Redisson's locks as one: all of them, taken in order, or none.
// Source: redisson-source (RedissonMultiLock.tryLock, full source); Redisson 3.16.2.
// Claims: all or nothing, own-release, mutual-exclusion while the renewals get through.
// Breaks: nothing of this file's own; opposite orders make two clients wait out each other (multilock-opposite-orders).

#include "models/locks/entries.hpp"
#include "models/locks/redis/multilock.hpp"

namespace lockstep::models::locks {

Entry redisson_multilock() {
  return {.id = "redisson-multilock",
          .summary = "several of Redisson's locks as one: all of them, or none",
          .documents = {"redisson-source"},
          .parameters = multilock_parameters(),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "truthful-reports"},
          .many_nodes = true,
          .has_background = true,
          .subscribes = true,
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<MultiLock>(p, MultiLock::Quorum::all); }};
}

}  // namespace lockstep::models::locks
