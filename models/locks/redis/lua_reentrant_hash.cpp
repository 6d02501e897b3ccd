// A reentrant lock by two scripts: a hash of thread id and count.
// Source: lock-summary section 3 (lock.lua, unlock.lua).
// Claims: mutual-exclusion within the lease, own-release, reentrancy; the document says that the thread id replaces the
//         random value.
// Breaks: f001-9b-same-thread-id (thread ids are unique in one process only), f001-9c-release-says-nothing (three
//         outcomes, one answer).

#include <array>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/rlock.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

constexpr std::array<std::string_view, 2> kIdentities{"thread", "process-and-thread"};

class LuaReentrantHash final : public LockAlgorithm {
 public:
  explicit LuaReentrantHash(const Parameters& p)
      : ttl_(p.duration("ttl")), by_thread_alone_(p.choice("identity") == "thread"), says_(p.flag("release_says")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: one script: absent, or mine already, or not.
    const Value me = identity_of(client);
    const Reply taken =
        co_await redis::server_of(client).eval(scripts::reentrant_lock_lua, {key()}, {me, ttl_.floor_ms()});
    if (!taken.is_integer(1)) co_return std::nullopt;
    co_return Hold{me};
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 2: the document's script answers nothing, whatever it did; so its caller can only believe that all is well.
    const Value me = identity_of(client);
    if (!says_)
      co_return !(co_await redis::server_of(client).eval(scripts::reentrant_unlock_lua, {key()}, {me})).is_unknown();
    const Value channel = "unlocked:" + key().text();
    const Reply reply = co_await redis::server_of(client).eval(scripts::redisson_unlock_lua, {key(), channel},
                                                               {"", ttl_.floor_ms(), me});
    co_return reply.is_integer();
  }

 private:
  Value identity_of(const Client& client) const {
    return by_thread_alone_ ? Value(std::to_string(client.thread_id())) : owner_of(client);
  }

  sim::Duration ttl_;
  bool by_thread_alone_;
  bool says_;
};

}  // namespace

Entry lua_reentrant_hash() {
  return {.id = "lua-reentrant-hash",
          .summary = "a hash of thread id and count, by two scripts; release tells nothing",
          .documents = {"lock-summary"},
          .parameters = {lease_parameter("ttl", 30_s, "time to live of the key"),
                         {"identity", std::string("thread"), "what the hash has as its field", kIdentities},
                         {"release_says", false, "the release answers whether the lock was the caller's"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy"},
          .repaired_by = "redisson-lock",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<LuaReentrantHash>(p); }};
}

}  // namespace lockstep::models::locks
