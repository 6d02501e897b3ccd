// What one command of the simulated Redis costs: alone, and with its request and its reply through the world; and what an idle
// server holds. Prints nanoseconds, commands per second and bytes; judges nothing.
//
//   redis_bench [KIND]      all of it, or one kind of commands with their messages, e.g. PING or SET: for a profiler

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/server/node.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace {

namespace redis = lockstep::models::redis;
namespace sim = lockstep::sim;

constexpr std::string_view kCompareAndDelete =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])";

/// Processor time of this program in nanoseconds, so that what else runs on the machine counts less.
double now_ns() { return static_cast<double>(std::clock()) * (1e9 / CLOCKS_PER_SEC); }

/// Nanoseconds for one call of `body`, the best of five runs: the others were disturbed.
template <class Body>
double best_ns(int times, Body body) {
  double best = 1e18;
  for (int run = 0; run < 5; ++run) {
    const double begin = now_ns();
    for (int i = 0; i < times; ++i) body(i);
    best = std::min(best, (now_ns() - begin) / times);
  }
  return best;
}

void expect(bool condition) {
  if (!condition) {
    fmt::print(stderr, "a reply is wrong\n");
    std::exit(1);
  }
}

/// Nanoseconds for one of `commands`, sent again and again by one client, each after the reply to the one before; the best of
/// five runs. Counts the request's way through the world, the server's work, its effects in the history, and the reply's way.
/// `first` comes once, before all of them.
double ns_with_message(const std::optional<redis::Command>& first, const std::vector<redis::Command>& commands) {
  constexpr int kTimes = 100'000;
  sim::DefaultDecisions decisions;
  sim::World world(decisions);
  sim::Simulation simulation(world);
  redis::ScriptEngine scripts;
  redis::Node node(scripts);
  const auto program = [&](lockstep::models::Client& client) -> sim::Task<void> {
    if (first) co_await redis::server_of(client).call(*first);
    for (int i = 0; i < kTimes; ++i)
      co_await redis::server_of(client).call(commands[static_cast<std::size_t>(i) % commands.size()]);
  };
  lockstep::models::Client client(program);
  world.add(client, "client", {});
  world.add(node, "redis", {});
  client.connect<lockstep::models::redis::Endpoint>().add_server(
      world.connect(client.id(), node.id(), sim::DurationRange::exactly(sim::Duration::microseconds(1))), std::nullopt);
  double best = 1e18;
  for (int run = 0; run < 5; ++run) {
    simulation.restart();
    world.start(client.id(), {});
    const double begin = now_ns();
    simulation.run(sim::Instant::at(sim::Duration::forever()), 10ULL * kTimes);
    best = std::min(best, (now_ns() - begin) / kTimes);
  }
  world.restart();
  return best;
}

void print_commands_with_messages(std::string_view only) {
  struct Kind {
    const char* name;
    std::vector<redis::Command> commands;
    std::optional<redis::Command> first = std::nullopt;
  };
  using redis::Command;
  const std::vector<Kind> kinds = {
      {"PING", {Command{"PING"}}},
      {"GET (missing)", {Command{"GET", "lock"}}},
      {"SET", {Command{"SET", "lock", "client-a-1"}}},
      {"SET, GET in turn", {Command{"SET", "lock", "client-a-1"}, Command{"GET", "lock"}}},
      {"SET NX PX, DEL in turn", {Command{"SET", "lock", "client-a-1", "NX", "PX", 30'000}, Command{"DEL", "lock"}}},
      {"INCR", {Command{"INCR", "n"}}},
      {"EXPIRE", {Command{"EXPIRE", "n", 100}}, Command{"SET", "n", 1}},
      {"HSET", {Command{"HSET", "h", "field", "value"}}},
      {"HINCRBY", {Command{"HINCRBY", "h", "field", 1}}},
      {"RPUSH, LPOP in turn", {Command{"RPUSH", "l", "x"}, Command{"LPOP", "l"}}},
      {"SADD, SREM in turn", {Command{"SADD", "s", "x"}, Command{"SREM", "s", "x"}}},
      {"ZADD", {Command{"ZADD", "z", 1, "x"}}},
      {"PUBLISH (to nobody)", {Command{"PUBLISH", "c", "x"}}},
      {"EVAL compare-and-delete",
       {Command{"EVAL", lockstep::models::Value::lasting(kCompareAndDelete), 1, "lock", "client-a-1"}}},
  };
  for (const Kind& kind : kinds) {
    if (!only.empty() && kind.name != only) continue;
    const double ns = ns_with_message(kind.first, kind.commands);
    fmt::print("with message: {:<26} {:7.0f} ns {:10.0f} commands/s\n", kind.name, ns, 1e9 / ns);
  }
}

/// Bytes that a server adds to a world, measured as what malloc has given out; scripts' interpreter apart, since the servers of a
/// world share one, and it comes to be with the first script.
void print_memory_of_an_idle_node() {
  constexpr int kNodes = 100;
  const auto in_use = [] { return mallinfo2().uordblks; };
  sim::DefaultDecisions decisions;
  sim::World world(decisions);
  sim::Simulation simulation(world);
  redis::ScriptEngine scripts;
  std::vector<std::unique_ptr<redis::Node>> nodes;
  const auto program = [](lockstep::models::Client& client) -> sim::Task<void> {
    for (redis::Connection& server : lockstep::models::redis::servers_of(client))
      co_await server.call(redis::Command{"PING"});
  };
  lockstep::models::Client client(program);
  world.add(client, "client", {});
  const std::size_t before = in_use();
  for (int i = 0; i < kNodes; ++i) {
    nodes.push_back(std::make_unique<redis::Node>(scripts));
    world.add(*nodes.back(), "redis", {});
    client.connect<lockstep::models::redis::Endpoint>().add_server(world.connect(client.id(), nodes.back()->id(), {}),
                                                                   std::nullopt);
  }
  fmt::print("memory of a server, new          {:7} bytes\n", (in_use() - before) / kNodes);
  world.start(client.id(), {});
  simulation.run(sim::Instant::at(sim::Duration::seconds(1)), 10'000);
  fmt::print("memory of a server after a PING  {:7} bytes\n", (in_use() - before) / kNodes);
  world.restart();
}

}  // namespace

int main(int count, char** words) {
  if (count > 1) {
    print_commands_with_messages(words[1]);
    return 0;
  }
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
    expect(database
               .execute(
                   redis::Command{"EVAL", lockstep::models::Value::lasting(kCompareAndDelete), 1, "lock", "client-a-1"},
                   clock)
               .is_integer(0));
  });
  fmt::print("EVAL compare-and-delete, refused {:7.0f} ns\n", refused);

  const double set_alone = best_ns(
      200'000, [&](int) { expect(database.execute(redis::Command{"SET", "lock", "client-a-1"}, clock).is_ok()); });
  const double granted = best_ns(200'000, [&](int) {
    expect(database.execute(redis::Command{"SET", "lock", "client-a-1"}, clock).is_ok());
    expect(database
               .execute(
                   redis::Command{"EVAL", lockstep::models::Value::lasting(kCompareAndDelete), 1, "lock", "client-a-1"},
                   clock)
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
  const auto watched = [&](int keys) {
    return best_ns(1,
                   [&](int) {
                     for (int key = 0; key < keys; ++key)
                       expect(database.execute(redis::Command{"WATCH", key}, clock).is_ok());
                     expect(database.execute(redis::Command{"UNWATCH"}, clock).is_ok());
                   }) /
           keys;
  };
  const double few = watched(100);
  const double thousands = watched(100'000);
  fmt::print("WATCH, of 100 and 100,000 keys   {:7.0f} ns {:7.0f} ns, {:.1f} times as long\n", few, thousands,
             thousands / few);
  fmt::print("memory of the Lua state          {:7} bytes, one for all servers of a world\n", scripts.memory_bytes());
  print_memory_of_an_idle_node();
  print_commands_with_messages({});
}
