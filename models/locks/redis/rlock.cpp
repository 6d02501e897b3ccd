#include "models/locks/redis/rlock.hpp"

#include <string>
#include <utility>

#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Command;
using redis::Reply;

/// What a lock object of the library remembers for all threads that use it: the lease of the latest hold.
class LockObject final : public ProcessObject {
 public:
  std::optional<sim::Duration> latest_lease;
};

/// EVAL with the script that all processes have in common.
Command script(std::string_view text, std::initializer_list<Value> keys, std::initializer_list<Value> arguments) {
  Command command{"EVAL", Value::lasting(text), static_cast<std::int64_t>(keys.size())};
  for (const Value& key : keys) command.push_back(key);
  for (const Value& argument : arguments) command.push_back(argument);
  return command;
}

}  // namespace

Value owner_of(const Client& client) {
  // "A:1"
  std::string owner = client.process_name();
  owner += ':';
  Value(client.thread_id()).append_to(owner);
  return owner;
}

RLock::RLock(std::size_t server, Value name, const RLockRules& rules)
    : server_(server),
      name_(std::move(name)),
      channel_("redisson_lock__channel:{" + name_.text() + "}"),
      token_counter_("redisson_lock_token:{" + name_.text() + "}"),
      rules_(rules) {}

/// The library's network layer: a command whose answer never came is sent again, whatever it may have done.
sim::Task<Reply> RLock::eval(Client& client, Command command) const {
  for (std::int64_t retries = 0;; ++retries) {
    Reply reply = co_await redis::servers_of(client)[server_].call(command);
    if (!reply.is_unknown() || retries == rules_.command_retries) co_return reply;
  }
}

sim::Task<RLock::Attempt> RLock::try_once(Client& client, std::optional<sim::Duration> lease) const {
  const Value me = owner_of(client);
  const std::int64_t ms = lease.value_or(rules_.renewal.lease).floor_ms();
  Command command = rules_.fences ? script(rules_.scripts.fenced_lock, {name_, token_counter_}, {ms, me})
                                  : script(rules_.scripts.lock, {name_}, {ms, me});
  const Reply reply = co_await eval(client, std::move(command));
  if (reply.is_integer()) {
    Attempt refused;
    refused.lease_left = reply;
    co_return refused;
  }
  const bool got = rules_.fences ? reply.is_bulk() : reply.is_nil();
  if (!got) co_return Attempt{.is_unknown = true};
  Attempt attempt{.got = true};
  if (rules_.fences) attempt.token = reply.value().integer();
  client.shared<LockObject>(name_.text()).latest_lease = lease;
  if (!lease) client.shared<Renewals>("").start(client, server_, name_, me, rules_.renewal);
  co_return attempt;
}

sim::Task<RLock::Attempt> RLock::try_lock(Client& client, std::optional<sim::Duration> wait,
                                          std::optional<sim::Duration> lease, Patience* outer) const {
  Patience patience(client, wait, outer);
  // 1, 2: one command, and perhaps no time to wait.
  Attempt attempt = co_await try_once(client, lease);
  if (attempt.got || attempt.is_unknown || patience.is_over()) co_return attempt;

  // 3, 4: subscribe before trying again, so that no release in between goes unheard.
  Subscriptions& subscriptions = client.shared<Subscriptions>("");
  Subscriptions::Channel* channel = co_await subscriptions.join(client, server_, channel_, patience);
  if (channel == nullptr) co_return attempt;
  bool is_first = true;
  bool was_woken = false;
  while (!patience.is_over()) {
    // 5, 6: try; 7: wait for a message, for the end of the other's lease, or for the end of one's patience.
    if (is_first && !rules_.tries_after_subscribing) {
      is_first = false;
    } else {
      attempt = co_await try_once(client, lease);
      if (attempt.got || attempt.is_unknown || patience.is_over()) break;
    }
    was_woken = co_await channel->message.acquire(client, while_leased(attempt.lease_left, client, server_, patience));
  }
  if (was_woken && !attempt.got && rules_.passes_on_wakeups) channel->message.release();
  subscriptions.leave(client, *channel);
  co_return attempt;
}

sim::Task<RLock::Release> RLock::unlock(Client& client) const {
  // 1: one hold less, in one step of the server.
  const std::optional<sim::Duration> latest = client.shared<LockObject>(name_.text()).latest_lease;
  const std::int64_t ms = latest.value_or(rules_.renewal.lease).floor_ms();
  const Value message = rules_.publishes ? Value(Subscriptions::kWakeOne) : Value("");
  const Reply reply =
      co_await eval(client, script(rules_.scripts.unlock, {name_, channel_}, {message, ms, owner_of(client)}));
  // 2: whatever came of it, this thread's renewal is over.
  client.shared<Renewals>("").stop(client, server_, name_, rules_.renewal);
  // 3: an error if it was not the owner.
  if (reply.is_integer(1)) co_return Release::released;
  if (reply.is_integer(0)) co_return Release::still_held;
  co_return reply.is_nil() ? Release::not_mine : Release::unknown;
}

sim::Task<Answer> RLock::call(Client& client, Call what) const {
  Command command{"PTTL", name_};
  if (what == Call::is_held_by_current_thread) command = Command{"HEXISTS", name_, owner_of(client)};
  if (what == Call::get_hold_count) command = Command{"HGET", name_, owner_of(client)};
  if (what == Call::force_unlock) {
    client.shared<Renewals>("").stop_all(server_, name_);
    const Value message = rules_.publishes ? Value(Subscriptions::kWakeOne) : Value("");
    command = script(rules_.scripts.force_unlock, {name_, channel_}, {message});
  }
  const Reply reply = co_await eval(client, std::move(command));
  if (reply.is_unknown()) co_return Answer::unknown;
  // PTTL says -2 of a lock that is free, -1 of one that has no end.
  const bool is_there = what == Call::remain_time_to_live ? reply.is_time_left() || !reply.is_integer(-2)
                        : what == Call::get_hold_count    ? reply.is_bulk()
                                                          : reply.is_integer(1);
  co_return is_there ? Answer::yes : Answer::no;
}

std::vector<ParameterSpec> rlock_parameters() {
  std::vector<ParameterSpec> parameters{
      lease_parameter("lease", 0_ms, "explicit lease; 0ms: none, so a watchdog renews it"),
      renewed_lease_parameter("watchdog_timeout", 30_s, "lease of a hold that is renewed, every third of it"),
      {"command_retries", std::int64_t{0}, "how often the client library sends a command again that was not answered"},
      {"passes_on_wakeups", false, "a waiter that was woken and gives up wakes the next one of its process"}};
  for (const ParameterSpec& parameter : renewal_parameters()) parameters.push_back(parameter);
  return parameters;
}

RLockRules rlock_rules(const Parameters& parameters) {
  return {.scripts = {scripts::redisson_lock_lua, scripts::redisson_fenced_lock_lua, scripts::redisson_unlock_lua,
                      scripts::redisson_force_unlock_lua},
          .renewal = renewal_policy(parameters, parameters.duration("watchdog_timeout"), scripts::redisson_renew_lua),
          .command_retries = parameters.number("command_retries"),
          .passes_on_wakeups = parameters.flag("passes_on_wakeups")};
}

std::optional<sim::Duration> explicit_lease(const Parameters& parameters) {
  const sim::Duration lease = parameters.duration("lease");
  return lease > sim::Duration::zero() ? std::optional(lease) : std::nullopt;
}

}  // namespace lockstep::models::locks
