// A key that holds the instant of its expiry; a contender that finds it in the past deletes the key and tries again.
// Source: redis-lock-java, second scheme and scenario two; lock-summary, pit 2.
// Claims: mutual-exclusion within the lease, recoverable.
// Breaks: f000-2-both-delete-expired (two contenders saw the same expired value).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/setnx_ts.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class SetnxTs final : public LockAlgorithm {
 public:
  SetnxTs(sim::Duration expiry, ExpiryTest test) : expiry_(expiry), test_(test) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1 and 2: the value is the instant, by my clock, until which the lock is mine.
    sim::Instant until = client.clock().now() + expiry_;
    const Reply created = co_await redis::server_of(client).setnx(key(), Value::milliseconds(until));
    if (created.is_integer(1)) co_return hold(until);

    // 3 and 4: until when is it the other's? A key that has gone meanwhile is worth another attempt, not a deletion.
    const Reply present = co_await redis::server_of(client).get(key());
    if (!present.is_bulk() || !looks_expired(client, present.value())) co_return std::nullopt;

    // 5: delete the key that was expired when I read it, whosever it is by now.
    co_await redis::server_of(client).del(key());

    // 6: compete again.
    until = client.clock().now() + expiry_;
    const Reply recreated = co_await redis::server_of(client).setnx(key(), Value::milliseconds(until));
    if (recreated.is_integer(1)) co_return hold(until);
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 7: delete the key, whosever it is by now.
    const Reply deleted = co_await redis::server_of(client).del(key());
    co_return deleted.is_integer();
  }

 private:
  static Hold hold(sim::Instant until) { return {.token = Value::milliseconds(until), .lease_until = until}; }

  bool looks_expired(const Client& client, const Value& stored) const {
    const std::optional<sim::Instant> until = stored.instant();
    if (!until) return false;
    return test_ == ExpiryTest::past ? client.clock().has_passed(*until) : !client.clock().has_reached(*until);
  }

  sim::Duration expiry_;
  ExpiryTest test_;
};

}  // namespace

std::unique_ptr<LockAlgorithm> make_setnx_ts(sim::Duration expiry, ExpiryTest test) {
  return std::make_unique<SetnxTs>(expiry, test);
}

Entry setnx_ts_del_setnx() {
  return {.id = "setnx-ts-del-setnx",
          .summary = "SETNX with the expiry instant as value; contenders delete an expired key and compete again",
          .documents = {"redis-lock-java", "lock-summary"},
          .parameters = {lease_parameter("ttl", 60_s, "how long an owner lets its lock be valid, by its own clock"),
                         attempts_parameter(1), retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "recoverable"},
          .repaired_by = "getset-java",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return make_setnx_ts(p.duration("ttl"), ExpiryTest::past); }};
}

}  // namespace lockstep::models::locks
