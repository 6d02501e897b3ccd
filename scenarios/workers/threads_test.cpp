#include "scenarios/workers/threads.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <cstddef>

#include "scenarios/workers/in_parallel.hpp"

namespace lockstep::scenarios::threads_test {

TEST_CASE("threads: each does its own part of every run, and all have done it when the run is over") {
  for (const std::size_t count : {0U, 1U, 2U, 5U}) {
    Threads threads(count);
    const std::size_t size = count == 0 ? 1 : count;
    REQUIRE(threads.size() == size);
    std::array<std::size_t, 5> done{};
    for (std::size_t run = 1; run <= 200; ++run) {
      threads.run([&](std::size_t number) { ++done[number]; });
      for (std::size_t number = 0; number < done.size(); ++number) REQUIRE(done[number] == (number < size ? run : 0));
    }
  }
}

TEST_CASE("in parallel: every task is done once, however many threads there are") {
  for (const std::size_t jobs : {1U, 2U, 7U}) {
    for (const std::size_t tasks : {0U, 1U, 3U, 50U}) {
      std::array<std::atomic<int>, 50> done{};
      in_parallel(tasks, jobs, [&](std::size_t task) { ++done[task]; });
      for (std::size_t task = 0; task < done.size(); ++task) CHECK(done[task] == (task < tasks ? 1 : 0));
    }
  }
}

}  // namespace lockstep::scenarios::threads_test
