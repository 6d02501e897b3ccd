// SET NX PX with a random value, and a release that compares and deletes in one script.
// Source: lock-summary section 3; redisson-source ("SET … NX PX 30000" and a Lua script); the redis.io distlock page.
// Claims: own-release, recoverable within the lease; mutual-exclusion only while the work fits into what is left of it.
// Breaks: f003-1-work-outlives-lease, f003-2-pause-outlives-lease.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class SetNxPxLua final : public LockAlgorithm {
 public:
  explicit SetNxPxLua(const Parameters& p)
      : ttl_(p.duration("ttl")), fencing_(p.flag("fencing")), undo_unknown_(p.flag("undo_unknown")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    const Value token = client.unique_token();
    if (fencing_) co_return co_await acquire_with_token(client, token);

    // 1: create the key with a value of one's own and its time to live.
    const Reply created = co_await redis::server_of(client).set(key(), token, {.nx = true, .px = ttl_});
    if (created.is_ok()) co_return Hold{token};
    // The documents stop here. A careful client takes back what it may have got without knowing.
    if (created.is_unknown() && undo_unknown_) co_await release(client, Hold{token});
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 2: delete the key if it is still mine, in one step of the server.
    const Reply deleted = co_await redis::server_of(client).eval(scripts::delete_if_mine_lua, {key()}, {hold.token});
    co_return deleted.is_integer(1);
  }

 private:
  sim::Task<std::optional<Hold>> acquire_with_token(Client& client, Value token) const {
    const Value counter = key().text() + ":token";
    const Reply drawn =
        co_await redis::server_of(client).eval(scripts::set_with_token_lua, {key(), counter}, {token, ttl_.floor_ms()});
    if (drawn.is_integer()) {
      Hold hold{token};
      hold.fencing_token = drawn.integer();
      co_return hold;
    }
    if (drawn.is_unknown() && undo_unknown_) co_await release(client, Hold{token});
    co_return std::nullopt;
  }

  sim::Duration ttl_;
  bool fencing_;
  bool undo_unknown_;
};

}  // namespace

Entry set_nx_px_lua() {
  return {.id = "set-nx-px-lua",
          .summary = "SET NX PX, release by a script that compares and deletes",
          .documents = {"lock-summary", "redisson-source"},
          .parameters = {lease_parameter("ttl", 30_s, "time to live of the key"),
                         {"fencing", false, "draw a fencing token in the same step in which the lock is taken"},
                         {"undo_unknown", false, "release after a SET whose answer never came"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<SetNxPxLua>(p); }};
}

}  // namespace lockstep::models::locks
