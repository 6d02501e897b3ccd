// What one command of the simulated Redis costs, without messages. Prints nanoseconds; judges nothing.

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "models/redis/database.hpp"
#include "sim/decisions.hpp"
#include "sim/simulation.hpp"
#include "sim/world.hpp"

namespace {

namespace redis = lockstep::models::redis;
namespace sim = lockstep::sim;

constexpr std::string_view kCompareAndDelete =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])";

/// Nanoseconds for one call of `body`, the best of five runs: the others were disturbed.
template <class Body>
double best_ns(int times, Body body) {
  double best = 1e18;
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) body(i);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / times);
  }
  return best;
}

void expect(bool condition) {
  if (!condition) {
    fmt::print(stderr, "a reply is wrong\n");
    std::exit(1);
  }
}

}  // namespace

int main() {
  sim::DefaultDecisions decisions;
  sim::World world(decisions);
  sim::Simulation simulation(world);
  const sim::Clock clock(world, sim::Duration::zero(), 0);
  redis::ScriptEngine scripts;
  redis::Database database(scripts);

  const double set = best_ns(200'000, [&](int) {
    expect(database.execute(redis::Command{"SET", "lock", "client-a-1", "NX", "PX", 30'000}, clock).is_ok());
    expect(database.execute(redis::Command{"GET", "lock"}, clock).is_bulk());
    expect(database.execute(redis::Command{"DEL", "lock"}, clock).is_integer(1));
  });
  fmt::print("SET NX PX + GET + DEL            {:7.0f} ns\n", set);

  const double refused = best_ns(200'000, [&](int) {
    expect(
        database
            .execute(redis::Command{"EVAL", redis::Value::lasting(kCompareAndDelete), 1, "lock", "client-a-1"}, clock)
            .is_integer(0));
  });
  fmt::print("EVAL compare-and-delete, refused {:7.0f} ns\n", refused);

  const double set_alone = best_ns(
      200'000, [&](int) { expect(database.execute(redis::Command{"SET", "lock", "client-a-1"}, clock).is_ok()); });
  const double granted = best_ns(200'000, [&](int) {
    expect(database.execute(redis::Command{"SET", "lock", "client-a-1"}, clock).is_ok());
    expect(
        database
            .execute(redis::Command{"EVAL", redis::Value::lasting(kCompareAndDelete), 1, "lock", "client-a-1"}, clock)
            .is_integer(1));
  });
  fmt::print("EVAL compare-and-delete, granted {:7.0f} ns\n", granted - set_alone);

  const double many = best_ns(
      200'000, [&](int i) { expect(database.execute(redis::Command{"SET", i % 5000, "value"}, clock).is_ok()); });
  fmt::print("SET among 5,000 keys             {:7.0f} ns\n", many);

  const double reset = best_ns(100'000, [&](int) {
    database.reset();
    expect(database.execute(redis::Command{"SET", "lock", "client-a-1", "NX", "PX", 30'000}, clock).is_ok());
  });
  fmt::print("reset + SET NX PX                {:7.0f} ns\n", reset);
  fmt::print("memory of the Lua state          {:7} bytes\n", scripts.memory_bytes());
}
