// What it costs that a lock is a script: the same explorations and runs with a lock of C++ and with its twin in Lua, and the ratio of their
// times. From the root of the tree: ./build/release/bench/own_lock_bench. The goal is a ratio of 3 at most.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/own_lock.hpp"

namespace {

using namespace lockstep;
using namespace lockstep::scenarios;

struct Row {
  const char* story;
  const char* script;
};

constexpr Row kRows[] = {
    {"scenarios/stories/reference/set-nx-px-lua-3x2-pause.toml", "set-nx-px.lua"},
    {"scenarios/stories/reference/redlock-seq-3x3.toml", "redlock.lua"},
    {"scenarios/stories/reference/redlock-seq-5x2.toml", "redlock.lua"},
    {"scenarios/stories/reference/redlock-seq-5x2-pause.toml", "redlock.lua"},
    {"scenarios/stories/redisson-source/f003-2-redlock-pause.toml", "redlock.lua"},
    {"scenarios/stories/redisson-source/f003-6-unlocks-only-granted.toml", "redlock.lua"},
    {"scenarios/stories/redisson-source/f003-2-watchdog-pause.toml", "redisson.lua"},
    {"scenarios/stories/redisson-source/f003-semaphore-crash.toml", "semaphore.lua"},
    {"scenarios/stories/redisson-source/f003-fair-dead-waiter.toml", "fair.lua"},
};

[[noreturn]] void give_up(const std::string& why) {
  fmt::print("{}\n", why);
  std::exit(1);
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// The least processor time of several: what others do on the machine only adds.
template <class Once>
double least_seconds(const Once& once) {
  constexpr double kEnough = 3;
  double least = std::numeric_limits<double>::infinity();
  const double begin = cpu_seconds();
  for (int i = 0; i < 200 && (i < 3 || cpu_seconds() - begin < kEnough); ++i) {
    const double from = cpu_seconds();
    once();
    least = std::min(least, cpu_seconds() - from);
  }
  return least;
}

}  // namespace

int main() {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  fmt::print("{:<34} {:<15} {:>8} {:>8} {:>9} {:>9} {:>6} {:>9} {:>9} {:>6}\n", "story", "script", "traces", "script",
             "check", "script", "ratio", "run", "script", "ratio");
  for (const Row& row : kRows) {
    const auto loaded = load(row.story, catalogue);
    if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) give_up(trouble->to_string());
    const Scenario& story = std::get<Scenario>(loaded);
    auto read = read_own_lock(std::string("scenarios/stories/own-lock/") + row.script);
    if (const auto* problem = std::get_if<std::string>(&read)) give_up(*problem);
    Scenario twin = story;
    twin.lock.own = std::get<OwnLock>(std::move(read));
    twin.lock.algorithm = twin.lock.own.entry->id;

    std::uint64_t traces[2] = {};
    double checked[2] = {}, ran[2] = {};
    for (const int i : {0, 1}) {
      const Scenario& one = i == 0 ? story : twin;
      checked[i] = least_seconds([&] {
        const auto found = explore(one, catalogue, {});
        if (const auto* trouble = std::get_if<Diagnostic>(&found)) give_up(trouble->to_string());
        traces[i] = std::get<Exploration>(found).counts.traces;
      });
      ran[i] = least_seconds([&] {
        for (int times = 0; times < 20; ++times) static_cast<void>(run(one, catalogue));
      });
    }
    fmt::print("{:<34} {:<15} {:>8} {:>8} {:>8.1f}ms {:>7.1f}ms {:>6.2f} {:>7.1f}us {:>7.1f}us {:>6.2f}\n", story.id,
               row.script, traces[0], traces[1], checked[0] * 1e3, checked[1] * 1e3, checked[1] / checked[0],
               ran[0] * 5e4, ran[1] * 5e4, ran[1] / ran[0]);
  }
}
