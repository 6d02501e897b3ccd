// How fast the engine is: events per second of a world with 50 clients and 5 servers under random decisions, with
// trivial servers and with Redis and a lock; that its steady state allocates nothing; and what an await costs.
//
//   engine_bench [trivial|redis|await]      all of them by default; figures for people, no verdict

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/locks/catalogue.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/server/node.hpp"
#include "models/workloads/lock_user.hpp"
#include "sim/coroutines/await.hpp"
#include "sim/schedules/random.hpp"
#include "sim/schedules/simulation.hpp"

namespace {

std::uint64_t heap_allocations = 0;

}  // namespace

#if !__has_feature(address_sanitizer)
// `new` belongs to sim/coroutines/region.cpp, which takes from here what lies in no region. glibc lets a program have its own malloc beside its free.
extern "C" void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier)
extern "C" void* malloc(std::size_t size) {
  ++heap_allocations;
  return __libc_malloc(size);
}
#endif

namespace lockstep {
namespace {

using namespace sim::literals;

constexpr int kClients = 50;
constexpr int kServers = 5;

/// Processor time of this program, so that what else runs on the machine counts less.
double seconds_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// What one stretch of a run cost.
class Stretch {
 public:
  explicit Stretch(const sim::World& world)
      : world_(world), events_(world.events_executed()), arena_(arena_requests()) {}

  void end(std::string_view name, std::uint64_t events) {
    const double seconds = seconds_now() - began_;
    fmt::print("{:<34} {:>6.2f} M events/s  {:>6.0f} ns/event   allocations: {} from the heap, {} by the arena\n", name,
               static_cast<double>(events) / seconds / 1e6, seconds * 1e9 / static_cast<double>(events),
               heap_allocations - heap_, arena_requests() - arena_);
  }
  std::uint64_t events() const { return world_.events_executed() - events_; }

 private:
  std::uint64_t arena_requests() const { return const_cast<sim::World&>(world_).arena().system_allocations(); }

  const sim::World& world_;
  std::uint64_t events_;
  std::uint64_t arena_;
  std::uint64_t heap_ = heap_allocations;
  double began_ = seconds_now();
};

// --- Trivial servers: the engine alone.

class Ping final : public sim::Message {
 public:
  explicit Ping(std::int64_t n) : content(n) {}
  std::string_view name() const override { return "PING"; }
  std::string describe() const override { return "PING"; }
  std::uint64_t digest() const override { return static_cast<std::uint64_t>(content); }

  std::int64_t content;
};

class Echo final : public sim::Process {
 public:
  void receive(sim::Message& request, sim::ConnectionId connection) override {
    world().send_reply(connection, request, world().make<Ping>(static_cast<Ping&>(request).content + 1));
  }
};

class Pinger final : public sim::Process {
 public:
  void start() override { spawn(rounds(*this)); }
  std::vector<sim::ConnectionId> connections;

 private:
  static sim::Task<std::int64_t> round(Pinger& self, std::int64_t n) {
    for (const sim::ConnectionId connection : self.connections) {
      const auto answer = co_await sim::Call<Ping>(self, connection, self.world().make<Ping>(n), 50_ms);
      n = answer.value_or(n);
    }
    co_return n;
  }
  static sim::Task<void> rounds(Pinger& self) {
    std::int64_t n = 0;
    while (true) {
      n = co_await round(self, n);
      co_await sim::Wait(self, {5_ms, 20_ms}, sim::TimerKind::sleep);
    }
  }
};

void trivial() {
  sim::RandomDecisions decisions(1);
  sim::World world(decisions);
  sim::Simulation simulation(world);
  std::deque<Echo> servers(kServers);
  std::deque<Pinger> clients(kClients);
  for (int i = 0; i < kServers; ++i) world.add(servers[static_cast<std::size_t>(i)], fmt::format("S{}", i), {});
  for (int i = 0; i < kClients; ++i) {
    Pinger& client = clients[static_cast<std::size_t>(i)];
    world.add(client, fmt::format("C{}", i), {});
    for (const Echo& server : servers)
      client.connections.push_back(world.connect(client.id(), server.id(), {1_ms, 10_ms}));
    world.start(client.id(), {0_ms, 10_ms});
  }
  simulation.run(sim::Instant::at(sim::Duration::forever()), 200'000);
  for (int i = 0; i < 3; ++i) {
    Stretch stretch(world);
    simulation.run(sim::Instant::at(sim::Duration::forever()), 5'000'000);
    stretch.end("trivial servers", stretch.events());
  }
  fmt::print("digest {:016x}\n", world.digest());
}

// --- Redis servers and a lock. The history grows with each operation, so the world starts over now and then; the memory
// of all of it is kept.

void redis(std::string_view algorithm, std::size_t servers_used) {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  const models::locks::Entry* entry = catalogue.find(algorithm);
  const models::locks::Parameters parameters(entry->parameters);
  const auto lock = entry->make(parameters);
  models::workloads::LockUser user;
  user.locks.push_back({.algorithm = lock.get()});
  user.rounds = 1'000'000;
  user.between = {5_ms, 20_ms};
  user.attempts = 1;
  user.hold = {1_ms, 5_ms};

  sim::RandomDecisions decisions(1);
  sim::World world(decisions);
  sim::Simulation simulation(world);
  models::redis::ScriptEngine scripts;
  std::deque<models::redis::Node> servers;
  std::deque<models::Client> clients;
  for (std::size_t i = 0; i < servers_used; ++i) world.add(servers.emplace_back(scripts), fmt::format("S{}", i), {});
  for (int i = 0; i < kClients; ++i) {
    models::Client& client =
        clients.emplace_back([&](models::Client& self) { return models::workloads::run(self, user); });
    world.add(client, fmt::format("C{}", i), {});
    for (const models::redis::Node& server : servers) {
      client.connect<models::redis::Endpoint>().add_server(world.connect(client.id(), server.id(), {1_ms, 10_ms}),
                                                           50_ms);
    }
  }
  const auto run = [&](std::uint64_t events) {
    for (const models::Client& client : clients) world.start(client.id(), {0_ms, 10_ms});
    simulation.run(sim::Instant::at(sim::Duration::forever()), events);
  };
  constexpr std::uint64_t kEventsPerRun = 200'000;
  for (int i = 0; i < 4; ++i) {
    run(kEventsPerRun);
    simulation.restart();
  }
  for (int i = 0; i < 3; ++i) {
    Stretch stretch(world);
    std::uint64_t events = 0;
    for (int k = 0; k < 5; ++k) {
      run(kEventsPerRun);
      events += world.events_executed();
      simulation.restart();
    }
    stretch.end(algorithm, events);
  }
}

// --- The cost of an await.

sim::Task<std::int64_t> add(sim::Executor&, std::int64_t a, std::int64_t b) { co_return a + b; }

sim::Task<void> add_up(sim::Executor& executor, std::int64_t n, std::int64_t& sum) {
  for (std::int64_t i = 0; i < n; ++i) sum = co_await add(executor, sum, i);
}

void await() {
  constexpr std::int64_t kAwaits = 10'000'000;
  for (int i = 0; i < 3; ++i) {
    sim::Executor executor;
    std::int64_t sum = 0;
    sim::Task<void> task = add_up(executor, kAwaits, sum);
    task.start();
    const double began = seconds_now();
    executor.drain();
    fmt::print("{:<34} {:>6.1f} ns\n", "await of a trivial task", (seconds_now() - began) * 1e9 / kAwaits);
    if (sum != kAwaits * (kAwaits - 1) / 2) fmt::print("wrong sum: {}\n", sum);
  }
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  if (only.empty() || only == "trivial") lockstep::trivial();
  if (only.empty() || only == "await") lockstep::await();
  if (only.empty() || only == "redis") {
    lockstep::redis("set-nx-px-lua", 1);
    lockstep::redis("redlock-seq", 5);
  }
}
