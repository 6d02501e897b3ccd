// Timestamp lock taken over with GETSET: owner is who got back the very text that it had read before.
// Source: redis-lock-java, Java code of lock() and unlock().
// Claims: mutual-exclusion with equal clocks, own-release, recoverable.
// Breaks: f000-3b-loser-overwrites-java, f000-3c-getset-creates-orphan-java, f000-4b-delay-between-get-and-del,
//         f000-5-fast-clock-steals-java.

#include "models/locks/redis/getset_java.hpp"

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/timestamp_release.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;
using redis::Reply;

sim::Task<std::optional<Hold>> GetsetJava::acquire(Client& client) const {
  // 1 and 2: the value is computed once per attempt, and serves SETNX and GETSET. (The code adds a millisecond.)
  co_return co_await take(client, client.clock().now() + expiry_ + 1_ms);
}

sim::Task<std::optional<Hold>> GetsetJava::take(Client& client, sim::Instant until) const {
  const Value mine = Value::milliseconds(until);
  const Reply created = co_await redis::server_of(client).setnx(key(), mine);
  if (created.is_integer(1)) co_return timestamp_hold(until);

  // 3 and 4: is there a timestamp, and is it in the past?
  const Reply present = co_await redis::server_of(client).get(key());
  if (!present.is_bulk()) co_return std::nullopt;
  const std::optional<sim::Instant> other = present.value().instant();
  if (!other || !client.clock().has_passed(*other)) co_return std::nullopt;

  // 5 and 6: take its place; owner if nobody was faster, that is, if the text is still the one that I read.
  const Reply previous = co_await redis::server_of(client).getset(key(), mine);
  if (previous.is_bulk() && client.equal(previous.value(), present.value())) co_return timestamp_hold(until);
  co_return std::nullopt;
}

sim::Task<bool> GetsetJava::release(Client& client, Hold hold) const {
  return release_if_unchanged(client, key(), std::move(hold));
}

Entry getset_java() {
  return {.id = "getset-java",
          .summary = "timestamp lock; an expired one is taken over by GETSET if that returns the value read before",
          .documents = {"redis-lock-java"},
          .parameters = {lease_parameter("ttl", 60_s, "how long an owner lets its lock be valid, by its own clock"),
                         attempts_parameter(100), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "set-nx-px-lua",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<GetsetJava>(p.duration("ttl")); }};
}

}  // namespace lockstep::models::locks
