#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "scenarios/workers/threads.hpp"

namespace lockstep::scenarios {

/// `work(0)` to `work(tasks - 1)`, each once. Which thread does which is left to chance, so each must write to a place
/// of its own.
template <class Work>
void in_parallel(std::size_t tasks, Threads& threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  threads.run([&](std::size_t) {
    for (std::size_t i = next++; i < tasks; i = next++) work(i);
  });
}

/// Likewise, on `jobs` threads, of which the caller's is one.
template <class Work>
void in_parallel(std::size_t tasks, std::size_t jobs, const Work& work) {
  Threads threads(std::min(jobs, tasks));
  in_parallel(tasks, threads, work);
}

}  // namespace lockstep::scenarios
