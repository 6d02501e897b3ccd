// SETNX with a random value and no expiry, tried again every millisecond for ten seconds; released under WATCH.
// Source: redis-in-action-notes, v1.0; Redis in Action, chapter 6.
// Claims: mutual-exclusion, own-release.
// Breaks: f004-2-crashed-holder (no expiry: nobody ever gets it again).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/ria_lock.hpp"
#include "models/locks/redis/watch_release.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;
using redis::Reply;

sim::Task<std::optional<Hold>> RiaLock::acquire(Client& client) const {
  // The end is a reading of the wall clock, which may be set while the client waits.
  const Value token = client.unique_token();
  const sim::Instant end = client.clock().now() + acquire_timeout_;
  for (;;) {
    // 1: create the key.
    const Reply created = co_await redis::server_of(client).setnx(lock_key(), token);
    if (created.is_integer(1)) {
      co_await taken(client);
      co_return Hold{token};
    }
    if (created.is_integer()) co_await found_taken(client);

    // Try again in a millisecond, as long as there is time.
    if (client.clock().has_reached(end)) co_return std::nullopt;
    co_await client.doze(poll_);
    if (client.clock().has_reached(end)) co_return std::nullopt;
  }
}

sim::Task<bool> RiaLock::release(Client& client, Hold hold) const {
  // 2: delete it unless it has changed.
  co_return co_await release_watched(client, lock_key(), hold.token);
}

sim::Task<void> RiaLock::taken(Client&) const { co_return; }
sim::Task<void> RiaLock::found_taken(Client&) const { co_return; }

ParameterSpec ria_acquire_timeout(sim::Duration fallback) {
  return {"acquire_timeout", fallback, "how long one attempt goes on asking, by the wall clock; it asks once at least"};
}

ParameterSpec ria_poll() {
  return {"poll", sim::DurationRange::exactly(1_ms), "pause between two questions of one attempt"};
}

Entry ria_lock_v1() {
  return {
      .id = "ria-lock-v1",
      .summary = "SETNX of a random value without expiry, polled; release by WATCH and a transaction",
      .documents = {"redis-in-action-notes"},
      .parameters = {ria_acquire_timeout(10_s), ria_poll(), attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
      .claims = {"mutual-exclusion", "own-release"},
      .repaired_by = "ria-lock-v3-timeout",
      .is_blind_to_names = true,
      .make = [](const Parameters& p) { return std::make_unique<RiaLock>(p); }};
}

}  // namespace lockstep::models::locks
