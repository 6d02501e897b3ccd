#pragma once

// Redisson's lock at one server, as its own lock object and as a part of locks that consist of several.

#include <optional>

#include "models/locks/catalogue.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/redis/renewal.hpp"
#include "models/locks/redis/subscriptions.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"

namespace lockstep::models::locks {

/// "<process>:<thread>", as the server's hash has it.
Value owner_of(const Client& client);

/// What it has the server do. Tests replace one of them to see that a mistake there is found.
struct RLockScripts {
  std::string_view lock;
  std::string_view fenced_lock;
  std::string_view unlock;
  std::string_view force_unlock;
};

/// How it behaves, apart from where it is.
struct RLockRules {
  RLockScripts scripts;
  RenewalPolicy renewal;             ///< its lease is that of holds without an explicit one
  std::int64_t command_retries = 0;  ///< the client library sends a command again whose answer never came, this often
  bool publishes = true;             ///< a release tells those who wait
  bool fences = false;               ///< each acquire draws a token
  bool tries_after_subscribing = true;  ///< so that a release just before the subscription is not missed
  bool passes_on_wakeups = false;       ///< a waiter that was woken and gives up wakes the next of its process
};

class RLock {
 public:
  RLock(std::size_t server, Value name, const RLockRules& rules);

  std::size_t server() const { return server_; }
  const Value& name() const { return name_; }

  /// What one command brought.
  struct Attempt {
    bool got = false;
    bool is_unknown = false;
    redis::Reply lease_left;  ///< of another's hold: what PTTL says
    std::optional<std::int64_t> token;
  };
  /// One round trip. No lease: it is renewed as long as it is held.
  sim::Task<Attempt> try_once(Client& client, std::optional<sim::Duration> lease) const;
  /// Waits to be woken, as long as `wait`, but not beyond `outer`; nothing: for ever.
  sim::Task<Attempt> try_lock(Client& client, std::optional<sim::Duration> wait, std::optional<sim::Duration> lease,
                              Patience* outer = nullptr) const;

  enum class Release : std::uint8_t { released, still_held, not_mine, unknown };
  sim::Task<Release> unlock(Client& client) const;

  /// What the lock object answers. `force_unlock` ends the renewal of all threads of this process alone: that of
  /// another process finds out by itself.
  sim::Task<Answer> call(Client& client, Call what) const;

 private:
  sim::Task<redis::Reply> eval(Client& client, redis::Command command) const;

  std::size_t server_;
  Value name_;
  Value channel_;
  Value token_counter_;
  RLockRules rules_;
};

/// Redisson's lock as a lock of its own. Requires: `parameters` are those of redisson-lock.
std::unique_ptr<LockAlgorithm> make_redisson_lock(const Parameters& parameters, const RLockRules& rules);

/// Parameters of all locks that are made of RLocks: `lease`, `watchdog_timeout`, how commands and renewals behave.
std::vector<ParameterSpec> rlock_parameters();
RLockRules rlock_rules(const Parameters& parameters);
/// The explicit lease, if there is one.
std::optional<sim::Duration> explicit_lease(const Parameters& parameters);

}  // namespace lockstep::models::locks
