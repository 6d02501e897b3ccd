#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/stop.hpp"

namespace lockstep::scenarios {

/// Threads that wait for work as long as this object lives: to begin and end one takes as long as two hundred events of
/// an exploration. Used by one thread.
class Threads {
 public:
  /// Together with the caller's so many, at least that one; fewer if the system allows no more. Signals go to none of
  /// the others.
  explicit Threads(std::size_t count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::size_t size() const { return others_.size() + 1; }
  /// `work(0)` here and `work(1)` to `work(size() - 1)` on the others, which ask `sim::Stop` what this thread asks;
  /// returns when all have. Throws what one of them threw, then. Requires: who waits for another does not wait for one
  /// that throws.
  void run(const std::function<void(std::size_t)>& work);

 private:
  void wait_for_work(std::size_t number);
  void do_work(std::size_t number);

  std::mutex mutex_;
  std::condition_variable begins_;
  std::condition_variable ends_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  const sim::Stop::Scope* asks_ = nullptr;  ///< of the thread that called
  std::exception_ptr failure_;
  std::size_t runs_ = 0;     ///< begun so far
  std::size_t at_work_ = 0;  ///< of the others
  bool is_over_ = false;
  std::vector<std::jthread> others_;  ///< ends first
};

}  // namespace lockstep::scenarios
