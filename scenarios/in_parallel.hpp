#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace lockstep::scenarios {

/// `work(0)` to `work(tasks - 1)`, each once, on `jobs` threads, of which the caller's is one. Which thread does which is left to chance, so
/// each must write to a place of its own.
template <class Work>
void in_parallel(std::size_t tasks, std::size_t jobs, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto work_on = [&] {
    for (std::size_t i = next++; i < tasks; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(jobs, tasks); ++i) others.emplace_back(work_on);
  work_on();
}

}  // namespace lockstep::scenarios
