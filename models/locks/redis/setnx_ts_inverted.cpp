// The timestamp lock as the prose of its document says it: expired when the stored instant is *later* than now.
// Source: redis-lock-java, the paragraph below scenario one (its Java code compares the other way round).
// Claims: mutual-exclusion within the lease, recoverable.
// Breaks: f000-2i-inverted-live (the first contender deletes a live lock), f000-2i-inverted-dead (nobody a dead one).

#include "models/locks/entries.hpp"
#include "models/locks/redis/setnx_ts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

Entry setnx_ts_inverted() {
  return {.id = "setnx-ts-inverted",
          .summary = "setnx-ts-del-setnx with the expiry test the wrong way round, as the prose has it",
          .documents = {"redis-lock-java"},
          .parameters = {lease_parameter("ttl", 60_s, "how long an owner lets its lock be valid, by its own clock"),
                         attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "recoverable"},
          .repaired_by = "setnx-ts-del-setnx",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return make_setnx_ts(p.duration("ttl"), ExpiryTest::future); }};
}

}  // namespace lockstep::models::locks
