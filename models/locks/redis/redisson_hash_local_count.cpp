// The same hash, but a thread that has the lock takes it again without asking: the process counts.
// Source: redisson-reentrant (prose: on re-entry "no further command is sent to Redis"; its own scripts say otherwise).
// Claims: mutual-exclusion, own-release, recoverable, reentrancy.
// Breaks: f002-5-local-count (the lease ran out meanwhile, and nobody asked).

#include <map>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/rlock.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

/// How often each thread of the process holds the lock, as far as the process knows.
class LocalCounts final : public ProcessObject {
 public:
  std::map<std::int64_t, std::int64_t> holds;
};

class RedissonHashLocalCount final : public LockAlgorithm {
 public:
  explicit RedissonHashLocalCount(const Parameters& p) : ttl_(p.duration("ttl")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    const Value me = owner_of(client);
    // 1: again: only the process counts.
    std::int64_t& holds = client.shared<LocalCounts>(key().text()).holds[client.thread_id()];
    if (holds > 0) {
      ++holds;
      co_return Hold{me};
    }
    // 2: for the first time: one script.
    const Reply taken =
        co_await redis::server_of(client).eval(scripts::hash_owner_lock_lua, {key()}, {me, ttl_.floor_ms()});
    if (!taken.is_integer(1)) co_return std::nullopt;
    client.shared<LocalCounts>(key().text()).holds[client.thread_id()] = 1;
    co_return Hold{me};
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    std::int64_t& holds = client.shared<LocalCounts>(key().text()).holds[client.thread_id()];
    if (holds > 1) {
      --holds;
      co_return true;
    }
    holds = 0;
    const Reply released =
        co_await redis::server_of(client).eval(scripts::hash_owner_unlock_lua, {key()}, {owner_of(client)});
    co_return released.is_integer(1);
  }

 private:
  sim::Duration ttl_;
};

}  // namespace

Entry redisson_hash_local_count() {
  return {.id = "redisson-hash-local-count",
          .summary = "a hash of owner and count; taking it again is counted in the process, without a command",
          .documents = {"redisson-reentrant"},
          .parameters = {lease_parameter("ttl", 30_s, "time to live of the key"), attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy"},
          .repaired_by = "redisson-hash-owner",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<RedissonHashLocalCount>(p); }};
}

}  // namespace lockstep::models::locks
