#include "cli/interrupt.hpp"

#include <ctime>

#include "cli/seconds_now.hpp"

namespace lockstep::cli {

Interrupt::Interrupt() {
  struct sigaction action{};
  is_ignored_ = sigaction(SIGINT, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

Interrupt::~Interrupt() {
  const timespec at_once{};
  while (sigtimedwait(&signals_, nullptr, &at_once) == SIGINT) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupt::is_requested() const {
  sigset_t pending;
  return !is_ignored_ && sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

bool Interrupt::is_late() const {
  if (!is_requested()) return false;
  const double now = seconds_now();
  constexpr double kSeconds = 1.5;  // a little more than `scenarios::check` has to tell what it knows
  double first = 0;
  return !requested_at_.compare_exchange_strong(first, now) && now - first >= kSeconds;
}

}  // namespace lockstep::cli
