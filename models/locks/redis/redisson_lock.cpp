// Redisson's lock: a reentrant hash with a lease that a watchdog renews, and waiters that a message wakes.
// Source: lock-summary sections 5 and 7, redisson-source (tryLock, unlock, scheduleExpirationRenewal),
//         redisson-reentrant; Redisson 3.16.2.
// Claims: mutual-exclusion while the renewals get through, own-release, reentrancy, truthful-reports, no-lost-wakeup.
// Breaks: f001-7w-explicit-lease (work outlives an explicit lease), f003-2-watchdog-pause (the pause stops the
//         watchdog, too), f003-2-lost-renewal (one unanswered renewal is the last), f003-lost-wakeup (a waiter takes
//         the message and gives up), force-unlock (forceUnlock frees whoever has it), f002-6-guard-then-expiry (a
//         question before an unlock is about the past).

#include "models/locks/entries.hpp"
#include "models/locks/redis/rlock.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class RedissonLock final : public LockAlgorithm {
 public:
  RedissonLock(const Parameters& p, const RLockRules& rules)
      : rules_(rules), lease_(explicit_lease(p)), wait_(p.duration("wait")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    const RLock lock(0, key(), rules_);
    co_return hold_of(co_await lock.try_lock(client, wait_, lease_));
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    const RLock lock(0, key(), rules_);
    co_return hold_of(co_await lock.try_once(client, lease_));
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    const RLock lock(0, key(), rules_);
    const RLock::Release release = co_await lock.unlock(client);
    co_return release == RLock::Release::released || release == RLock::Release::still_held;
  }

  sim::Task<Answer> call(Client& client, Call what) const override {
    const RLock lock(0, key(), rules_);
    co_return co_await lock.call(client, what);
  }

 private:
  std::optional<Hold> hold_of(const RLock::Attempt& attempt) const {
    if (!attempt.got) return std::nullopt;
    Hold hold;
    hold.fencing_token = attempt.token;
    hold.is_renewed = !lease_;
    return hold;
  }

  RLockRules rules_;
  std::optional<sim::Duration> lease_;
  sim::Duration wait_;
};

std::vector<ParameterSpec> redisson_lock_parameters() {
  std::vector<ParameterSpec> all = rlock_parameters();
  all.push_back({"wait", 10_s, "how long one attempt waits for a message; 0ms: not at all, ten years: for ever"});
  all.push_back(attempts_parameter(1));
  all.push_back(retry_parameter({100_ms, 100_ms}));
  return all;
}

}  // namespace

std::unique_ptr<LockAlgorithm> make_redisson_lock(const Parameters& parameters, const RLockRules& rules) {
  return std::make_unique<RedissonLock>(parameters, rules);
}

Entry redisson_lock() {
  return {.id = "redisson-lock",
          .summary = "Redisson's lock: reentrant hash, watchdog, waiters woken by a message",
          .documents = {"lock-summary", "redisson-source", "redisson-reentrant"},
          .parameters = redisson_lock_parameters(),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy", "truthful-reports",
                     "faithful-renewal", "no-lost-wakeup"},
          .has_background = true,
          .subscribes = true,
          .answers_calls = true,
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return make_redisson_lock(p, rlock_rules(p)); }};
}

Entry redisson_fenced() {
  return {.id = "redisson-fenced",
          .summary = "Redisson's lock that draws a fencing token with each acquire, also when it is taken again",
          .documents = {"redisson-source"},
          .parameters = redisson_lock_parameters(),
          .claims = {"own-release", "recoverable", "reentrancy", "truthful-reports", "fencing"},
          .has_background = true,
          .subscribes = true,
          .answers_calls = true,
          .is_blind_to_names = true,
          .make = [](const Parameters& p) {
            RLockRules rules = rlock_rules(p);
            rules.fences = true;
            return make_redisson_lock(p, rules);
          }};
}

}  // namespace lockstep::models::locks
