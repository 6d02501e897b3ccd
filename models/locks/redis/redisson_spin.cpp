// Redisson's spin lock: the same hash and scripts, but a waiter asks again and again, at intervals that double.
// Source: the Redisson family (RedissonSpinLock, LockOptions: 1ms first, 128ms at most, times 2).
// Claims: mutual-exclusion while the renewals get through, own-release, reentrancy; a free lock is found within the
//         largest interval.
// Breaks: f002-3-spinning (what it costs is not safety but commands).

#include <algorithm>

#include "models/locks/entries.hpp"
#include "models/locks/redis/rlock.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class RedissonSpin final : public LockAlgorithm {
 public:
  explicit RedissonSpin(const Parameters& p)
      : rules_(rlock_rules(p)),
        lease_(explicit_lease(p)),
        wait_(p.duration("wait")),
        first_delay_(p.duration("first_delay")),
        longest_delay_(p.duration("longest_delay")) {
    rules_.publishes = false;
  }

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, wait_);
    const RLock lock(0, key(), rules_);
    Latch nobody_wakes;
    for (sim::Duration delay = first_delay_;; delay = std::min(delay * 2, longest_delay_)) {
      const RLock::Attempt attempt = co_await lock.try_once(client, lease_);
      if (attempt.got) co_return Hold{.is_renewed = !lease_};
      if (attempt.is_unknown) co_return std::nullopt;
      co_await nobody_wakes.acquire(client, {.timeout = delay, .patience = &patience});
      if (patience.is_over()) co_return std::nullopt;
    }
  }

  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override {
    const RLock lock(0, key(), rules_);
    const RLock::Attempt attempt = co_await lock.try_once(client, lease_);
    if (!attempt.got) co_return std::nullopt;
    co_return Hold{.is_renewed = !lease_};
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
  RLockRules rules_;
  std::optional<sim::Duration> lease_;
  sim::Duration wait_;
  sim::Duration first_delay_;
  sim::Duration longest_delay_;
};

}  // namespace

Entry redisson_spin() {
  std::vector<ParameterSpec> parameters = rlock_parameters();
  parameters.push_back({"wait", 10_s, "how long one attempt goes on asking"});
  parameters.push_back({"first_delay", 1_ms, "from the first refusal to the second try"});
  parameters.push_back({.name = "longest_delay",
                        .fallback = 128_ms,
                        .meaning = "delays double up to this",
                        .role = ParameterRole::longest_delay});
  parameters.push_back(attempts_parameter(1));
  parameters.push_back(retry_parameter({100_ms, 100_ms}));
  return {.id = "redisson-spin",
          .summary = "Redisson's spin lock: asks again at intervals that double, instead of waiting for a message",
          .documents = {"redisson-source"},
          .parameters = std::move(parameters),
          .claims = {"mutual-exclusion", "own-release", "recoverable", "reentrancy", "truthful-reports",
                     "faithful-renewal"},
          .has_background = true,
          .answers_calls = true,
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<RedissonSpin>(p); }};
}

}  // namespace lockstep::models::locks
