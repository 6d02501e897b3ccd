#pragma once

// Permits that the threads of a process wait for, and time limits of such waits: what wakes a waiter of a lock library.

#include <coroutine>
#include <cstdint>
#include <deque>
#include <optional>

#include "models/client/client.hpp"

namespace lockstep::models {

class PermitWait;

/// The time limit of a whole attempt that waits several times: a timer, set once. (The rest of it would be a difference
/// of two instants, which has no number in an exploration.)
class Patience final : private sim::TimerOwner {
 public:
  /// No length: it ends only with the `outer` one, if there is any, which outlives it and has no other inside.
  Patience(Client& client, std::optional<sim::Duration> length, Patience* outer = nullptr);
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience();

  bool is_over() const { return is_over_; }

 private:
  friend class PermitWait;
  void timer_fired() override;
  void end();

  Client& client_;
  Patience* outer_;
  Patience* inner_ = nullptr;
  sim::TimerRef timer_;
  PermitWait* waiter_ = nullptr;
  bool is_over_ = false;
};

struct PermitLimits {
  /// No longer than this. Nothing: for ever.
  std::optional<sim::Duration> timeout = std::nullopt;
  /// In an exploration, where the timeout is the difference of two instants and has no number: so long after this true
  /// time.
  struct After {
    sim::Instant moment;
    sim::DurationRange delay;
    /// If the delay is a range: the timeout is a whole number of these, and what is left of this rounded down.
    sim::Duration unit = {};
    std::optional<sim::WholeUnits::Length> rounded = {};
  };
  std::optional<After> after = std::nullopt;
  Patience* patience = nullptr;  ///< nor beyond its end
  sim::TimerKind kind = sim::TimerKind::sleep;
};

/// A counting semaphore inside one process; waiters are served in the order in which they came.
class Latch {
 public:
  /// Gives one permit to the longest waiter, or keeps it for the next to come.
  void release();
  /// `const bool got = co_await latch.acquire(client, {.timeout = …});` — false: the time was over.
  PermitWait acquire(Client& client, PermitLimits limits = {});
  std::size_t waiting() const { return waiters_.size(); }

 private:
  friend class PermitWait;
  std::int64_t permits_ = 0;
  std::deque<PermitWait*> waiters_;
};

class [[nodiscard]] PermitWait final : private sim::TimerOwner {
 public:
  PermitWait(Client& client, Latch& latch, PermitLimits limits) : client_(client), latch_(latch), limits_(limits) {}
  PermitWait(const PermitWait&) = delete;
  PermitWait& operator=(const PermitWait&) = delete;
  ~PermitWait();

  bool await_ready();
  void await_suspend(std::coroutine_handle<> program);
  bool await_resume() const noexcept { return got_; }

 private:
  friend class Latch;
  friend class Patience;
  void timer_fired() override;
  void give_up();
  void wake();
  void withdraw();

  Client& client_;
  Latch& latch_;
  PermitLimits limits_;
  sim::TimerRef timer_;
  sim::Instant begin_;
  std::coroutine_handle<> program_;
  bool is_waiting_ = false;
  bool got_ = false;
};

}  // namespace lockstep::models
