// "Simplified Redisson": a hash with the fields owner and count, and a background task that renews. Not what Redisson
// stores.
// Source: redisson-reentrant (its Lua scripts, and "a background task renews the lease").
// Claims: mutual-exclusion, own-release, recoverable, reentrancy.
// Breaks: f002-1-no-unlock (the thread dies, the renewal lives), f002-2-work-outlives-lease, f002-4-same-client-id.

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/renewal.hpp"
#include "models/locks/redis/rlock.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class RedissonHashOwner final : public LockAlgorithm {
 public:
  explicit RedissonHashOwner(const Parameters& p)
      : ttl_(p.duration("ttl")),
        renews_(p.flag("renew")),
        renewal_(renewal_policy(p, ttl_, scripts::hash_owner_renew_lua)) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: one script: no owner yet, or mine already, or not.
    const Value me = owner_of(client);
    const Reply taken =
        co_await redis::server_of(client).eval(scripts::hash_owner_lock_lua, {key()}, {me, ttl_.floor_ms()});
    if (!taken.is_integer(1)) co_return std::nullopt;
    if (renews_) client.shared<Renewals>("").start(client, 0, key(), me, renewal_);
    co_return Hold{.token = me, .is_renewed = renews_};
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    // 2: one hold less; the last deletes. Nobody is told, and a release before the last renews nothing.
    const Reply released =
        co_await redis::server_of(client).eval(scripts::hash_owner_unlock_lua, {key()}, {owner_of(client)});
    if (renews_) client.shared<Renewals>("").stop(client, 0, key(), renewal_);
    co_return released.is_integer(1);
  }

  /// The article's demo asks isHeldByCurrentThread; what a question reads is the hash of its scripts.
  sim::Task<Answer> call(Client& client, Call what) const override {
    redis::Command command{"PTTL", key()};
    // A count above zero is the owner's, so who the owner is answers both.
    const bool is_of_caller = what == Call::is_held_by_current_thread || what == Call::get_hold_count;
    if (is_of_caller) command = redis::Command{"HGET", key(), "owner"};
    if (what == Call::force_unlock) command = redis::Command{"DEL", key()};
    const Reply reply = co_await redis::server_of(client).call(command);
    if (reply.is_unknown()) co_return Answer::unknown;
    if (what == Call::remain_time_to_live)
      co_return reply.is_time_left() || !reply.is_integer(-2) ? Answer::yes : Answer::no;
    if (what == Call::force_unlock) co_return reply.is_integer(1) ? Answer::yes : Answer::no;
    co_return reply.is_bulk() && client.equal(reply.value(), owner_of(client)) ? Answer::yes : Answer::no;
  }

 private:
  sim::Duration ttl_;
  bool renews_;
  RenewalPolicy renewal_;
};

}  // namespace

Entry redisson_hash_owner() {
  std::vector<ParameterSpec> parameters{lease_parameter("ttl", 30_s, "lease; renewals are a third of it apart"),
                                        {"renew", true, "a background task renews the lease while the lock is held"}};
  for (const ParameterSpec& parameter : renewal_parameters()) parameters.push_back(parameter);
  parameters.push_back(attempts_parameter(1));
  parameters.push_back(retry_parameter({100_ms, 100_ms}));
  return {.id = "redisson-hash-owner",
          .summary = "a hash of owner and count with a background renewal: Redisson as one article simplifies it",
          .documents = {"redisson-reentrant"},
          .parameters = std::move(parameters),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy", "truthful-reports"},
          .has_background = true,
          .answers_calls = true,
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<RedissonHashOwner>(p); }};
}

}  // namespace lockstep::models::locks
