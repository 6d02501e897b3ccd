#include "models/locks/redis/timestamp_release.hpp"

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

Hold timestamp_hold(sim::Instant until) { return {.token = Value::milliseconds(until), .lease_until = until}; }

sim::Task<bool> release_if_unchanged(Client& client, const Value& key, Hold hold) {
  // 1 and 2: is the value still what I wrote?
  const redis::Reply present = co_await redis::server_of(client).get(key);
  if (!present.is_bulk() || !client.equal(present.value(), hold.token)) co_return false;

  // 3: delete it, though by now it may be somebody else's.
  const redis::Reply deleted = co_await redis::server_of(client).del(key);
  co_return deleted.is_integer();
}

}  // namespace lockstep::models::locks
