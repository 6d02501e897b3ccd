#pragma once

// Runs coroutines: the arena of their frames and the queue of those that may go on.

#include <coroutine>
#include <cstdint>
#include <vector>

#include "sim/coroutines/arena.hpp"
#include "sim/invariant.hpp"

namespace lockstep::sim {

/// A trampoline. Nothing resumes another coroutine directly: symmetric transfer overflows the stack without
/// optimisation and under sanitizers, and a queue keeps the order of resumption a plain first-in, first-out.
class Executor {
 public:
  Executor& executor() { return *this; }
  Arena& arena() { return arena_; }

  void make_ready(std::coroutine_handle<> coroutine) { ready_.push_back(coroutine); }

  /// Resumes until nobody is ready.
  void drain() {
    for (std::size_t next = 0; next < ready_.size(); ++next) {
      const std::coroutine_handle<> coroutine = ready_[next];
      costly_invariant([&] { return !coroutine.done(); }, "only what waits is made ready");
      coroutine.resume();
    }
    ready_.clear();
  }

  /// Requires: every coroutine is destroyed.
  void reset() {
    ready_.clear();
    arena_.reset();
  }

 private:
  Arena arena_;
  std::vector<std::coroutine_handle<>> ready_;
};

/// A type through which the coroutines that take it as a parameter find their executor: a `Client`, a `World`.
template <class T>
concept HasExecutor = requires(T& t) {
  { t.executor() } -> std::same_as<Executor&>;
};

}  // namespace lockstep::sim
