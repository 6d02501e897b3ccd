// Redisson's semaphores: a counter of free permits; the expirable one knows who has which permit, and until when.
// Source: the Redisson family (RedissonSemaphore, RedissonPermitExpirableSemaphore); Redisson 3.16.2.
// Claims: never more holders than permits, which the expirable one keeps only while the clocks of the clients agree.
// Breaks: f003-semaphore-crash (a dead holder's permit is lost for ever).

#include <fmt/format.h>

#include "models/locks/entries.hpp"
#include "models/locks/redis/subscriptions.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Reply;

class RedissonSemaphore final : public LockAlgorithm {
 public:
  RedissonSemaphore(const Parameters& p, std::optional<sim::Duration> lease)
      : permits_(p.number("limit")), wait_(p.duration("wait")), lease_(lease) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    const Value id = client.unique_token();
    co_await set_permits(client);
    // 1: one command; 2: subscribe, and try again; 3: until a release tells.
    Reply reply = co_await try_once(client, id);
    if (has_got(reply)) co_return hold(client, id);
    if (reply.is_unknown() || patience.is_over()) co_return std::nullopt;
    Subscriptions& subscriptions = client.shared<Subscriptions>("");
    Subscriptions::Channel* channel = co_await subscriptions.join(client, 0, channel_name(), patience);
    if (channel == nullptr) co_return std::nullopt;
    while (!patience.is_over()) {
      reply = co_await try_once(client, id);
      if (has_got(reply) || reply.is_unknown() || patience.is_over()) break;
      co_await channel->message.acquire(client, {.patience = &patience});
    }
    subscriptions.leave(client, *channel);
    if (!has_got(reply)) co_return std::nullopt;
    co_return hold(client, id);
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    const Value id = client.unique_token();
    co_await set_permits(client);
    const Reply reply = co_await try_once(client, id);
    if (!has_got(reply)) co_return std::nullopt;
    co_return hold(client, id);
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    client.freed(hold.token);
    if (!lease_) {
      // Nobody asks who had the permit.
      const Reply reply =
          co_await redis::server_of(client).eval(scripts::redisson_semaphore_release_lua, {key(), channel_name()}, {1});
      co_return reply.is_integer();
    }
    const Reply reply = co_await redis::server_of(client).eval(scripts::redisson_permit_release_lua,
                                                               {key(), deadlines(), channel_name()}, {hold.token});
    co_return reply.is_integer(1);
  }

 private:
  /// The counter does not say whose a permit is.
  static Hold hold(Client& client, const Value& id) {
    client.granted(id);
    return Hold{id};
  }
  std::string channel_name() const { return fmt::format("redisson_sc:{{{}}}", key().text()); }
  std::string deadlines() const { return fmt::format("{{{}}}:timeout", key().text()); }

  /// 0: whoever comes first says how many there are.
  redis::CommandCall set_permits(Client& client) const {
    return redis::server_of(client).call(redis::Command{"SET", key(), permits_, "NX"});
  }
  redis::CommandCall try_once(Client& client, const Value& id) const {
    if (!lease_) return redis::server_of(client).eval(scripts::redisson_semaphore_acquire_lua, {key()}, {1});
    return redis::server_of(client).eval(scripts::redisson_permit_acquire_lua, {key(), deadlines()},
                                         {id, Value::milliseconds(client.clock().now()), lease_->floor_ms()});
  }
  bool has_got(const Reply& reply) const {
    if (!lease_) return reply.is_integer(1);
    return reply.is_bulk() && !reply.value().text().starts_with(':');
  }

  std::int64_t permits_;
  sim::Duration wait_;
  std::optional<sim::Duration> lease_;
};

std::vector<ParameterSpec> permit_parameters() {
  return {places_parameter("limit", 1, "how many permits there are"),
          {"wait", 10_s, "how long one attempt waits for a message"},
          attempts_parameter(1),
          retry_parameter({100_ms, 100_ms})};
}

}  // namespace

Entry redisson_semaphore() {
  return {.id = "redisson-semaphore",
          .summary = "Redisson's semaphore: a counter of free permits, without owners or leases",
          .documents = {"redisson-source"},
          .parameters = permit_parameters(),
          .claims = {},
          .subscribes = true,
          .is_blind_to_names = true,
          .mode = Mode::shared,
          .make = [](const Parameters& p) { return std::make_unique<RedissonSemaphore>(p, std::nullopt); }};
}

Entry redisson_permit_expirable_semaphore() {
  std::vector<ParameterSpec> all = permit_parameters();
  all.push_back(lease_parameter("lease", 10_s, "after this a permit may be taken back, by the clock of whoever asks"));
  return {.id = "redisson-permit-expirable-semaphore",
          .summary = "Redisson's semaphore whose permits have ids and leases, by the clocks of the clients",
          .documents = {"redisson-source"},
          .parameters = std::move(all),
          .claims = {},
          .subscribes = true,
          .not_explored = [](const Parameters&) -> std::string_view {
            return "its scripts calculate with clock readings, which have no numbers in an exploration";
          },
          .mode = Mode::shared,
          .make = [](const Parameters& p) { return std::make_unique<RedissonSemaphore>(p, p.duration("lease")); }};
}

}  // namespace lockstep::models::locks
