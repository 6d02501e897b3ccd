#pragma once

// How what takes too long ends early: whatever may go on for long asks here, between two of its steps, whether it still
// is to. What it is asked by (a deadline, Ctrl-C) stands above, where the work was begun. Start here: `Stop::Scope`.

#include <cstdint>
#include <functional>
#include <utility>

namespace lockstep::sim {

/// Thrown to end what is going on. Nothing of a world that it passes through may be used any more.
struct Stopped {};

class Stop {
 public:
  /// Whether what is going on is to end at once. Asked from any thread, every some hundred microseconds.
  using Question = std::function<bool()>;

  /// From here to the end of the scope this thread asks this, too. Threads that it gives work to inherit it
  /// (scenarios/workers/threads.hpp).
  class Scope {
   public:
    /// Requires: `question` outlives it.
    explicit Scope(const Question& question) : question_(question), outer_(std::exchange(innermost_, this)) {}
    ~Scope() { innermost_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class Stop;
    const Question& question_;
    const Scope* outer_;
  };
  /// What another thread asks, in this one.
  class Inherited {
   public:
    explicit Inherited(const Scope* scope) : before_(std::exchange(innermost_, scope)) {}
    ~Inherited() { innermost_ = before_; }
    Inherited(const Inherited&) = delete;
    Inherited& operator=(const Inherited&) = delete;

   private:
    const Scope* before_;
  };
  static const Scope* innermost() { return innermost_; }

  /// Throws `Stopped` if it is to end. `steps`: how much has been done since the last call, in events of a simulation,
  /// roughly. Not for coroutines, through which nothing may be thrown.
  static void ask(std::uint64_t steps = 1) {
    count(steps);
    if (done_ >= kStepsBetween) [[unlikely]]
      ask_now();
  }
  /// So much has been done, where nobody may ask: the next who can will do so the sooner.
  static void count(std::uint64_t steps) { done_ += steps; }

 private:
  static constexpr std::uint64_t kStepsBetween = 1024;
  static void ask_now();

  // They decide nothing but when something is not finished.
  static constinit thread_local const Scope* innermost_;  // tidy: bounds only
  static constinit thread_local std::uint64_t done_;      // tidy: bounds only
};

}  // namespace lockstep::sim
