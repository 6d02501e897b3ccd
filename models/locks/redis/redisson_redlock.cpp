// Redisson's red lock: a multi-lock that is content with a majority, and never looks at what is left of the lease.
// Source: redisson-source (RedissonRedLock, full source), lock-summary section 7; Redisson 3.16.2.
// Claims: mutual-exclusion, which it keeps only while taking the parts is quicker than the lease.
// Breaks: f003-5-redisson-slow-servers (the parts' leases run out on the way), f003-7-unlock-in-finally (a release
//         without a hold says nothing of it), f003-7-wait-much-longer-than-lease (who dies on the way leaves parts that
//         live for twice the wait).

#include "models/locks/entries.hpp"
#include "models/locks/redis/multilock.hpp"

namespace lockstep::models::locks {

Entry redisson_redlock() {
  return {.id = "redisson-redlock",
          .summary = "Redisson's red lock: a majority of its locks at independent servers, without a look at the lease",
          .documents = {"redisson-source", "lock-summary"},
          .parameters = multilock_parameters(),
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "redlock-seq",
          .many_nodes = true,
          .has_background = true,
          .subscribes = true,
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<MultiLock>(p, MultiLock::Quorum::majority); }};
}

}  // namespace lockstep::models::locks
