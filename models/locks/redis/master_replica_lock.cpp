// SET NX PX on the primary of several replicated servers: whichever of them takes writes.
// Source: lock-summary section 6 and pit 10; redisson-source ("single point of failure" and "primary and replica").
// Claims: own-release, recoverable (with WAIT: while so many replicas are there); mutual-exclusion only while nobody
// fails over to a replica that has not heard of the lock.
// Breaks: f001-10-failover-forgets-lock, f003-4-failover-forgets-lock; with WAIT f001-10-wait-other-replica.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Command;
using redis::Connection;
using redis::Reply;

class MasterReplicaLock final : public LockAlgorithm {
 public:
  explicit MasterReplicaLock(const Parameters& p)
      : ttl_(p.duration("ttl")), wait_(p.number("wait")), wait_timeout_(p.duration("wait_timeout")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    const Value token = client.unique_token();
    for (Connection& server : redis::servers_of(client)) {
      // 1: create the key with a value of one's own and its time to live.
      const Reply created = co_await server.set(key(), token, {.nx = true, .px = ttl_});
      // 2: a replica refuses, and a dead server does not answer: the primary is another one.
      if (is_no_primary(created)) continue;
      if (!created.is_ok()) co_return std::nullopt;
      if (wait_ == 0) co_return Hold{token};
      // 3, with `wait`: the lock counts only when so many replicas have it, too.
      const Reply copies = co_await server.call(Command{"WAIT", wait_, wait_timeout_.floor_ms()});
      if (copies.is_integer() && copies.integer() >= wait_) co_return Hold{token};
      co_await server.eval(scripts::delete_if_mine_lua, {key()}, {token});
      co_return std::nullopt;
    }
    co_return std::nullopt;
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    for (Connection& server : redis::servers_of(client)) {
      // 4: delete the key if it is still mine, in one step of whichever server is the primary now.
      const Reply deleted = co_await server.eval(scripts::delete_if_mine_lua, {key()}, {hold.token});
      if (!is_no_primary(deleted)) co_return deleted.is_integer(1);
    }
    co_return false;
  }

 private:
  static bool is_no_primary(const Reply& reply) {
    return reply.is_unknown() ||
           (reply.is_error() && (reply.text().starts_with("READONLY ") || reply.text().starts_with("LOADING ")));
  }

  sim::Duration ttl_;
  std::int64_t wait_;
  sim::Duration wait_timeout_;
};

}  // namespace

Entry master_replica_lock() {
  return {.id = "master-replica-lock",
          .summary = "SET NX PX on whichever of several servers is the primary, perhaps with WAIT",
          .documents = {"lock-summary", "redisson-source"},
          .parameters = {lease_parameter("ttl", 30_s, "time to live of the key"),
                         {"wait", std::int64_t{0}, "so many replicas must have the lock before it counts"},
                         {.name = "wait_timeout",
                          .fallback = 1_s,
                          .meaning = "how long WAIT waits for them; 0ms: for ever",
                          .role = ParameterRole::replica_patience},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "redlock-seq",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<MasterReplicaLock>(p); }};
}

}  // namespace lockstep::models::locks
