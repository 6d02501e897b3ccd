#include "scenarios/workers/threads.hpp"

#include <csignal>
#include <exception>
#include <functional>
#include <system_error>
#include <utility>

namespace lockstep::scenarios {

Threads::Threads(std::size_t count) {
  // Signals are for the thread that the program began with: Ctrl-C would kill all of them, whatever that one does about
  // it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (std::size_t number = 1; number < count; ++number)
      others_.emplace_back([this, number] { wait_for_work(number); });
  } catch (const std::system_error&) {
    // The system allows no more of them. Results do not depend on how many there are.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Threads::~Threads() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  begins_.notify_all();
}

void Threads::run(const std::function<void(std::size_t)>& work) {
  {
    const std::scoped_lock lock(mutex_);
    work_ = &work;
    asks_ = sim::Stop::innermost();
    at_work_ = others_.size();
    ++runs_;
  }
  begins_.notify_all();
  do_work(0);
  std::unique_lock lock(mutex_);
  ends_.wait(lock, [&] { return at_work_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Threads::do_work(std::size_t number) {
  const sim::Stop::Inherited asks(asks_);
  try {
    (*work_)(number);
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void Threads::wait_for_work(std::size_t number) {
  std::unique_lock lock(mutex_);
  for (std::size_t done = 0;; ++done) {
    begins_.wait(lock, [&] { return is_over_ || runs_ > done; });
    if (is_over_) return;
    lock.unlock();
    do_work(number);
    lock.lock();
    if (--at_work_ == 0) ends_.notify_one();
  }
}

}  // namespace lockstep::scenarios
