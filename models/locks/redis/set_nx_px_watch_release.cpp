// SET NX PX with a random value, and a release that deletes only what has not changed since it looked: WATCH, GET,
// MULTI, DEL, EXEC.
// Source: redis-in-action-notes, release of v1.0; client libraries before they used a script.
// Claims: mutual-exclusion within the lease, own-release, recoverable.
// Breaks: f004-1-watch-without-multi (variant: DEL outside the transaction), and as every lock whose lease can run out
//         unnoticed.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/watch_release.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class SetNxPxWatchRelease final : public LockAlgorithm {
 public:
  explicit SetNxPxWatchRelease(const Parameters& p) : ttl_(p.duration("ttl")), transaction_(p.flag("transaction")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: create the key with a value of one's own and its time to live.
    const Value token = client.unique_token();
    const redis::Reply created = co_await redis::server_of(client).set(key(), token, {.nx = true, .px = ttl_});
    if (!created.is_ok()) co_return std::nullopt;
    co_return Hold{token};
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    co_return co_await release_watched(client, key(), hold.token, transaction_);
  }

 private:
  sim::Duration ttl_;
  bool transaction_;
};

}  // namespace

Entry set_nx_px_watch_release() {
  return {.id = "set-nx-px-watch-release",
          .summary = "SET NX PX, release by WATCH, GET, compare and DEL in a transaction",
          .documents = {"redis-in-action-notes"},
          .parameters = {lease_parameter("ttl", 10_s, "time to live of the key"),
                         {"transaction", true, "whether DEL is part of a transaction; WATCH is of no use without"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<SetNxPxWatchRelease>(p); }};
}

}  // namespace lockstep::models::locks
