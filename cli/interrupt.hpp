#pragma once

// Ctrl-C as a question instead of a death: while this lives, SIGINT waits until somebody asks.

#include <csignal>

namespace lockstep::cli {

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
  sigset_t signals_{};
  sigset_t before_{};
  bool is_ignored_ = false;  ///< a shell's background job: Ctrl-C is meant for others
};

}  // namespace lockstep::cli
