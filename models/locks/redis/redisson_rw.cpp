// Redisson's read-write lock: one hash for readers and the writer, and a lease of its own for each read hold.
// Source: redisson-source by name (RedissonReadLock, RedissonWriteLock); Redisson 3.16.2.
// Claims: mutual-exclusion between a writer and anybody else while the renewals get through, own-release, reentrancy,
//         no-lost-wakeup.
// Breaks: f003-rw-pause (a pause of the writer lets readers in). read-lock-starves-writer breaks no claim: readers in
//         turns keep a writer out.

#include <fmt/format.h>

#include "models/locks/entries.hpp"
#include "models/locks/redis/rlock.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class RedissonReadWrite final : public LockAlgorithm {
 public:
  explicit RedissonReadWrite(const Parameters& p)
      : lease_(explicit_lease(p)),
        wait_(p.duration("wait")),
        calculates_(p.flag("calculates_leases")),
        renewal_(renewal_policy(p, p.duration("watchdog_timeout"), scripts::redisson_renew_lua)) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    Reply reply = co_await try_once(client);
    if (reply.is_nil()) co_return hold(client);
    if (reply.is_unknown() || patience.is_over()) co_return std::nullopt;
    Subscriptions& subscriptions = client.shared<Subscriptions>("");
    Subscriptions::Channel* channel = co_await subscriptions.join(client, 0, channel_name(), patience);
    if (channel == nullptr) co_return std::nullopt;
    while (!patience.is_over()) {
      reply = co_await try_once(client);
      if (!reply.is_integer() || patience.is_over()) break;
      co_await channel->message.acquire(client, while_leased(reply, client, 0, patience));
    }
    subscriptions.leave(client, *channel);
    if (!reply.is_nil()) co_return std::nullopt;
    co_return hold(client);
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    const Reply reply = co_await try_once(client);
    if (!reply.is_nil()) co_return std::nullopt;
    co_return hold(client);
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    const Value me = owner_of(client);
    const bool shares = client.mode() == Mode::shared;
    // A writer's end wakes all that wait, a reader's the first.
    const Reply reply =
        shares ? co_await redis::server_of(client).eval(
                     scripts::redisson_read_unlock_lua, {key(), channel_name(), lease_names(me)},
                     {Subscriptions::kWakeOne, me, all_lease_names(), calculates_ ? "cut" : "keep"})
               : co_await redis::server_of(client).eval(scripts::redisson_write_unlock_lua, {key(), channel_name()},
                                                        {Subscriptions::kWakeAll, lease_ms(), writer(client)});
    client.shared<Renewals>(mode_name(client)).stop(client, 0, key(), policy(client));
    co_return reply.is_integer();
  }

 private:
  Value writer(const Client& client) const { return owner_of(client).text() + ":write"; }
  std::string channel_name() const { return fmt::format("redisson_rwlock:{{{}}}", key().text()); }
  std::string all_lease_names() const { return fmt::format("{{{}}}:", key().text()); }
  std::string lease_names(const Value& me) const { return all_lease_names() + me.text() + ":rwlock_timeout"; }
  std::int64_t lease_ms() const { return lease_.value_or(renewal_.lease).floor_ms(); }
  static std::string_view mode_name(const Client& client) { return client.mode() == Mode::shared ? "read" : "write"; }

  RenewalPolicy policy(const Client& client) const {
    RenewalPolicy own = renewal_;
    if (client.mode() == Mode::shared) own.script = scripts::redisson_read_renew_lua;
    return own;
  }

  redis::CommandCall try_once(Client& client) const {
    const Value me = owner_of(client);
    if (client.mode() == Mode::shared) {
      return redis::server_of(client).eval(scripts::redisson_read_lock_lua, {key(), lease_names(me)},
                                           {lease_ms(), me, writer(client)});
    }
    return redis::server_of(client).eval(scripts::redisson_write_lock_lua, {key()},
                                         {lease_ms(), writer(client), calculates_ ? "add" : "set"});
  }

  Hold hold(Client& client) const {
    if (!lease_) {
      const Value field = client.mode() == Mode::shared ? owner_of(client) : writer(client);
      client.shared<Renewals>(mode_name(client)).start(client, 0, key(), field, policy(client));
    }
    return Hold{.is_renewed = !lease_};
  }

  std::optional<sim::Duration> lease_;
  sim::Duration wait_;
  bool calculates_;
  RenewalPolicy renewal_;
};

Entry entry(std::string_view id, std::string_view summary, Mode mode) {
  std::vector<ParameterSpec> parameters{
      lease_parameter("lease", 0_ms, "explicit lease; 0ms: none, so a watchdog renews it"),
      renewed_lease_parameter("watchdog_timeout", 30_s, "lease of a hold that is renewed, every third of it"),
      {"wait", 10_s, "how long one attempt waits"},
      {"calculates_leases", true, "leases of several holds are calculated as the library does it; false: kept or set"}};
  for (const ParameterSpec& parameter : renewal_parameters()) parameters.push_back(parameter);
  parameters.push_back(attempts_parameter(1));
  parameters.push_back(retry_parameter({100_ms, 100_ms}));
  return {.id = id,
          .summary = summary,
          .documents = {"redisson-source"},
          .parameters = std::move(parameters),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy", "no-lost-wakeup"},
          .has_background = true,
          .subscribes = true,
          .mode = mode,
          .make = [](const Parameters& p) { return std::make_unique<RedissonReadWrite>(p); }};
}

}  // namespace

Entry redisson_read() {
  return entry("redisson-read", "Redisson's read-write lock, taken to read: readers share it", Mode::shared);
}

Entry redisson_write() {
  return entry("redisson-write", "Redisson's read-write lock, taken to write: alone", Mode::exclusive);
}

}  // namespace lockstep::models::locks
