// Timestamp lock taken over with GETSET, whose release deletes any timestamp that is not before its own.
// Source: redis-py's Lock before June 2014.
// Claims: mutual-exclusion with equal clocks, recoverable.
// Breaks: getset-redispy-late-owner (a successor's timestamp is always later: an owner that overran deletes it).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class GetsetRedispy final : public LockAlgorithm {
 public:
  explicit GetsetRedispy(sim::Duration expiry) : expiry_(expiry) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1 and 2: one timestamp for SETNX and GETSET.
    const sim::Instant until = client.clock().now() + expiry_;
    Hold hold{Value::milliseconds(until)};
    hold.lease_until = until;
    const Reply created = co_await redis::server_of(client).setnx(key(), hold.token);
    if (created.is_integer(1)) co_return hold;

    // 3 and 4: is what lies there in the past? A missing key counts as long past.
    const Reply present = co_await redis::server_of(client).get(key());
    if (!is_past(client, present)) co_return std::nullopt;

    // 5 and 6: owner if what was replaced is in the past as well.
    const Reply previous = co_await redis::server_of(client).getset(key(), hold.token);
    if (is_past(client, previous)) co_return hold;
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 1: what lies there? A competitor that lost may have written over it.
    const Reply present = co_await redis::server_of(client).get(key());
    const std::optional<sim::Instant> other = present.is_bulk() ? present.value().instant() : std::nullopt;

    // 2 and 3: not before mine, so it is taken to be mine.
    if (!other || !client.world().is_at_or_after(*other, *hold.lease_until)) co_return false;
    const Reply deleted = co_await redis::server_of(client).del(key());
    co_return deleted.is_integer();
  }

 private:
  static bool is_past(Client& client, const Reply& reply) {
    if (reply.is_nil()) return true;
    const std::optional<sim::Instant> until = reply.is_bulk() ? reply.value().instant() : std::nullopt;
    return until && client.clock().has_passed(*until);
  }

  sim::Duration expiry_;
};

}  // namespace

Entry getset_redispy() {
  return {.id = "getset-redispy",
          .summary = "timestamp lock as getset-prose; its release deletes what is not older than its own",
          .documents = {},
          .parameters = {lease_parameter("ttl", 60_s, "how long an owner lets its lock be valid, by its own clock"),
                         attempts_parameter(100), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "recoverable"},
          .repaired_by = "set-nx-px-lua",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<GetsetRedispy>(p.duration("ttl")); }};
}

}  // namespace lockstep::models::locks
