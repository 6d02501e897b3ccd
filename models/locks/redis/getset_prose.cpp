// Timestamp lock taken over with GETSET: owner is who got an expired timestamp back.
// Source: redis-lock-java, scenario three (the text); the SETNX page of the old Redis manual has the same idea.
// Claims: mutual-exclusion with equal clocks, own-release, recoverable.
// Breaks: f000-3b-loser-overwrites, f000-3c-getset-creates-orphan, f000-5-fast-clock-steals.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/timestamp_release.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class GetsetProse final : public LockAlgorithm {
 public:
  explicit GetsetProse(sim::Duration expiry) : expiry_(expiry) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1 and 2: the value is the instant, by my clock, until which the lock is mine.
    sim::Instant until = client.clock().now() + expiry_;
    const Reply created = co_await redis::server_of(client).setnx(key(), Value::milliseconds(until));
    if (created.is_integer(1)) co_return timestamp_hold(until);

    // 3 and 4: is the other's lease over?
    const Reply present = co_await redis::server_of(client).get(key());
    if (!is_expired(client, present)) co_return std::nullopt;

    // 5: put mine in its place, and see what was there. This overwrites even where it loses.
    until = client.clock().now() + expiry_;
    const Reply previous = co_await redis::server_of(client).getset(key(), Value::milliseconds(until));

    // 6: owner if that was still an expired one. Nothing at all is not "less than now".
    if (is_expired(client, previous)) co_return timestamp_hold(until);
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    return release_if_unchanged(client, key(), std::move(hold));
  }

 private:
  static bool is_expired(const Client& client, const Reply& reply) {
    if (!reply.is_bulk()) return false;
    const std::optional<sim::Instant> until = reply.value().instant();
    return until && client.clock().has_passed(*until);
  }

  sim::Duration expiry_;
};

}  // namespace

Entry getset_prose() {
  return {.id = "getset-prose",
          .summary = "timestamp lock; an expired one is taken over by GETSET if that returns an expired value",
          .documents = {"redis-lock-java"},
          .parameters = {lease_parameter("ttl", 60_s, "how long an owner lets its lock be valid, by its own clock"),
                         attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "set-nx-px-lua",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<GetsetProse>(p.duration("ttl")); }};
}

}  // namespace lockstep::models::locks
