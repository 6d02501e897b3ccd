// ria-sem-fair with a lock around its acquisition, so that whoever draws the earlier number also joins first.
// Source: Redis in Action, chapter 6 (acquire_semaphore_with_lock).
// Claims: capacity, fair, with equal clocks.
// Breaks: f004-7-crash-inside-the-lock (the lock has no end: after a crash inside nobody gets in any more).

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/ria_lock.hpp"
#include "models/locks/redis/ria_sem_fair.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

class RiaSemFairLocked final : public RiaSemFair {
 public:
  explicit RiaSemFairLocked(const Parameters& p)
      : RiaSemFair(p), acquire_timeout_(p.duration("acquire_timeout")), poll_(p.range("poll")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    // 1: the lock, but not for long.
    RiaLock lock(acquire_timeout_, poll_);
    lock.set_key(key().text() + ":lock");
    const std::optional<Hold> locked = co_await lock.acquire(client);
    if (!locked) co_return std::nullopt;

    // 2 and 3: the semaphore, and the lock back.
    std::optional<Hold> place = co_await RiaSemFair::acquire(client);
    co_await lock.release(client, *locked);
    co_return place;
  }

 private:
  sim::Duration acquire_timeout_;
  sim::DurationRange poll_;
};

}  // namespace

Entry ria_sem_fair_locked() {
  std::vector<ParameterSpec> parameters = ria_sem_fair_parameters();
  parameters.push_back(ria_acquire_timeout(10_ms));
  parameters.push_back(ria_poll());
  parameters.push_back(attempts_parameter(1));
  parameters.push_back(retry_parameter({100_ms, 100_ms}));
  return {.id = "ria-sem-fair-locked",
          .summary = "ria-sem-fair with ria-lock-v1 around its acquisition",
          .documents = {"redis-in-action-notes"},
          .parameters = std::move(parameters),
          .claims = {"capacity", "fair"},
          .make = [](const Parameters& p) { return std::make_unique<RiaSemFairLocked>(p); }};
}

}  // namespace lockstep::models::locks
