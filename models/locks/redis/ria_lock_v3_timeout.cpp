// The lock of v1.0 with a time to live: SETNX, then EXPIRE; and whoever finds a lock without one gives it one.
// Source: redis-in-action-notes, v3.0; Redis in Action, chapter 6.
// Claims: mutual-exclusion within the lease, own-release, recoverable.
// Breaks: f004-5b-pause-between-setnx-and-expire (the owner's late EXPIRE meets a successor's lock),
//         f004-5-crash-between (variant).

#include <array>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/ria_lock.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Command;
using redis::Reply;

constexpr std::array<std::string_view, 2> kRepair{"no-expiry", "never"};

class RiaLockV3Timeout final : public RiaLock {
 public:
  explicit RiaLockV3Timeout(const Parameters& p)
      : RiaLock(p), ttl_(p.duration("ttl")), repairs_(p.choice("repair") == "no-expiry") {}

 private:
  /// 2: mine; let it end.
  sim::Task<void> taken(Client& client) const override { co_await redis::server_of(client).expire(key(), ttl_); }

  sim::Task<void> found_taken(Client& client) const override {
    if (!repairs_) co_return;
    // 3 and 4: has whoever took it come to the EXPIRE? (-1: no; -2: the key is gone by now.)
    const Reply left = co_await redis::server_of(client).call(Command{"TTL", key()});
    if (!left.is_integer() || left.is_time_left() || left.integer() >= 0) co_return;

    // 5: do it in its place.
    co_await redis::server_of(client).expire(key(), ttl_);
  }

  sim::Duration ttl_;
  bool repairs_;
};

}  // namespace

Entry ria_lock_v3_timeout() {
  return {.id = "ria-lock-v3-timeout",
          .summary = "SETNX, then EXPIRE; contenders give a lock without expiry one",
          .documents = {"redis-in-action-notes"},
          .parameters = {lease_parameter("ttl", 10_s, "time to live that the second command sets"),
                         {"repair", std::string("no-expiry"),
                          "when a contender sets the time to live; never: as the book's first code in effect", kRepair},
                         ria_acquire_timeout(10_s),
                         ria_poll(),
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "set-nx-px-watch-release",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<RiaLockV3Timeout>(p); }};
}

}  // namespace lockstep::models::locks
