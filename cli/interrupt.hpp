#pragma once

// Ctrl-C as a question instead of a death: while this lives, SIGINT waits until somebody asks.

#include <atomic>
#include <csignal>

#include "sim/stop.hpp"

namespace lockstep::cli {

/// What asks nobody, or goes on for more than a second after Ctrl-C, ends by `sim::Stopped`.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  /// Whoever asked has dealt with it: the signal is taken away, and the next one kills again.
  ~Interrupt();

  /// Whether Ctrl-C was pressed. From any thread that was started since, at the price of a system call.
  bool is_requested() const;

 private:
  bool is_late() const;

  sigset_t signals_{};
  sigset_t before_{};
  bool is_ignored_ = false;                       ///< a shell's background job: Ctrl-C is meant for others
  mutable std::atomic<double> requested_at_ = 0;  ///< when that was noticed; 0: not yet
  sim::Stop::Question asks_ = [this] { return is_late(); };
  sim::Stop::Scope scope_{asks_};
};

}  // namespace lockstep::cli
