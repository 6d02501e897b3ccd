// SET NX PX with the owner's uptime in nanoseconds as identity, released by GET, compare, DEL.
// Source: redis-lock-java announces it as the plan that solves everything; JedLock.java of the same author.
// Claims: mutual-exclusion within the lease, own-release, recoverable.
// Breaks: f000-6-nanotime-solves-nothing (GET and DEL are two steps), f000-6-same-uptime (two hosts, one identity).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/timestamp_release.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class SetnxNanotime final : public LockAlgorithm {
 public:
  explicit SetnxNanotime(sim::Duration ttl) : ttl_(ttl) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1 and 2: the virtual machine's nanosecond counter, whose origin is arbitrary, is the only identity.
    const Value identity = Timestamp{client.monotonic().now(), 1_ns};
    const redis::Reply created = co_await redis::server_of(client).set(key(), identity, {.nx = true, .px = ttl_});
    if (created.is_ok()) co_return Hold{identity};
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    return release_if_unchanged(client, key(), std::move(hold));
  }

 private:
  sim::Duration ttl_;
};

}  // namespace

Entry setnx_nanotime() {
  return {.id = "setnx-nanotime",
          .summary = "SET NX PX with System.nanoTime() as value, release by GET, compare, DEL",
          .documents = {"redis-lock-java"},
          .parameters = {lease_parameter("ttl", 60_s, "time to live of the key"), attempts_parameter(100),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "set-nx-px-lua",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<SetnxNanotime>(p.duration("ttl")); }};
}

}  // namespace lockstep::models::locks
