// Redisson's fair lock: whoever waits stands in a queue, and a release tells the first of it.
// Source: redisson-reentrant and redisson-source by name; Redisson 3.16.2.
// Claims: fair, no-lost-wakeup, mutual-exclusion while the renewals get through, own-release, reentrancy.
// Breaks: f003-fair-dead-waiter (a dead client at the head blocks a free lock).

#include <fmt/format.h>

#include "models/locks/entries.hpp"
#include "models/locks/redis/rlock.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class RedissonFair final : public LockAlgorithm {
 public:
  explicit RedissonFair(const Parameters& p)
      : renewal_(renewal_policy(p, p.duration("watchdog_timeout"), scripts::redisson_renew_lua)),
        lease_(explicit_lease(p)),
        wait_(p.duration("wait")),
        thread_wait_(p.duration("thread_wait")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    // 1: take it, or stand in the queue.
    Reply reply = co_await try_once(client);
    if (reply.is_nil()) co_return hold(client);
    // 2: each waiter has a channel of its own.
    Subscriptions& subscriptions = client.shared<Subscriptions>("");
    Subscriptions::Channel* channel = nullptr;
    if (!reply.is_unknown() && !patience.is_over()) {
      channel = co_await subscriptions.join(client, 0, channels() + owner_of(client).text(), patience);
    }
    while (channel != nullptr && !patience.is_over()) {
      reply = co_await try_once(client);
      if (!reply.is_integer() || patience.is_over()) break;
      // 3: until it is told, or as long as the script said; with a time that has passed already, until it is told.
      co_await channel->message.acquire(client, while_leased(reply, client, 0, patience));
    }
    if (channel != nullptr) subscriptions.leave(client, *channel);
    if (reply.is_nil()) co_return hold(client);
    // 4: leave the queue.
    co_await redis::server_of(client).eval(scripts::redisson_fair_give_up_lua, {queue(), deadlines()},
                                           {owner_of(client), thread_wait_.floor_ms()});
    co_return std::nullopt;
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    // tryLock() without a wait does not care for the queue: the plain lock's script.
    const std::int64_t ms = lease_.value_or(renewal_.lease).floor_ms();
    const Reply reply =
        co_await redis::server_of(client).eval(scripts::redisson_lock_lua, {key()}, {ms, owner_of(client)});
    if (!reply.is_nil()) co_return std::nullopt;
    co_return hold(client);
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    const std::int64_t ms = lease_.value_or(renewal_.lease).floor_ms();
    const Value now = Value::milliseconds(client.clock().now());
    const Reply reply = co_await redis::server_of(client).eval(
        scripts::redisson_fair_unlock_lua, {key(), queue(), deadlines()}, {ms, owner_of(client), now, channels()});
    client.shared<Renewals>("").stop(client, 0, key(), renewal_);
    co_return reply.is_integer();
  }

 private:
  std::string queue() const { return fmt::format("redisson_lock_queue:{{{}}}", key().text()); }
  std::string deadlines() const { return fmt::format("redisson_lock_timeout:{{{}}}", key().text()); }
  std::string channels() const { return fmt::format("redisson_lock__channel:{{{}}}:", key().text()); }

  redis::CommandCall try_once(Client& client) const {
    const std::int64_t ms = lease_.value_or(renewal_.lease).floor_ms();
    return redis::server_of(client).eval(
        scripts::redisson_fair_lock_lua, {key(), queue(), deadlines()},
        {ms, owner_of(client), thread_wait_.floor_ms(), Value::milliseconds(client.clock().now())});
  }

  Hold hold(Client& client) const {
    if (!lease_) client.shared<Renewals>("").start(client, 0, key(), owner_of(client), renewal_);
    return Hold{.is_renewed = !lease_};
  }

  RenewalPolicy renewal_;
  std::optional<sim::Duration> lease_;
  sim::Duration wait_;
  sim::Duration thread_wait_;
};

}  // namespace

Entry redisson_fair() {
  std::vector<ParameterSpec> parameters{
      lease_parameter("lease", 0_ms, "explicit lease; 0ms: none, so a watchdog renews it"),
      renewed_lease_parameter("watchdog_timeout", 30_s, "lease of a hold that is renewed, every third of it"),
      {"wait", 10_s, "how long one attempt waits"},
      {"thread_wait", sim::Duration::seconds(300), "how long a place in the queue counts, beyond those before it"}};
  for (const ParameterSpec& parameter : renewal_parameters()) parameters.push_back(parameter);
  parameters.push_back(attempts_parameter(1));
  parameters.push_back(retry_parameter({100_ms, 100_ms}));
  return {.id = "redisson-fair",
          .summary = "Redisson's fair lock: a queue at the server, by the clocks of the clients",
          .documents = {"redisson-reentrant", "redisson-source"},
          .parameters = std::move(parameters),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy", "no-lost-wakeup"},
          .has_background = true,
          .subscribes = true,
          .make = [](const Parameters& p) { return std::make_unique<RedissonFair>(p); }};
}

}  // namespace lockstep::models::locks
