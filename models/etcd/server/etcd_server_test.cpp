// An etcd server among clients: what time and crashes do to leases and watches.

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/server_bench_testing.hpp"
#include "models/etcd/client/etcd_endpoint.hpp"
#include "models/etcd/server/etcd_server.hpp"

namespace lockstep::models::etcd {
namespace {

using namespace sim::literals;

class Bench : public ServerBench<Bench, Server> {
 public:
  explicit Bench(LeaseTimes times = {}) : ServerBench(0, "etcd", times) {}
  static void connected(Client& client, sim::ConnectionId connection) {
    client.connect<Endpoint>().add_server(connection, {});
  }
};

std::string events_of(const std::optional<Told>& told) {
  if (!told) return "no answer";
  std::string text;
  for (const Event& event : told->events) text += (text.empty() ? "" : "; ") + describe(event);
  return text.empty() ? std::string(to_string(told->answer.error)) : text;
}

/// Takes a lease and puts two keys with it.
sim::Task<LeaseId> put_two(Client& client, sim::Duration ttl) {
  auto& server = client.to<Endpoint>();
  const std::optional<Told> granted = co_await server.grant(ttl);
  Txn txn;
  txn.success = {Put{.key = "b", .lease = granted->lease}, Put{.key = "a", .lease = granted->lease}};
  static_cast<void>(co_await server.txn(std::move(txn)));
  co_return granted->lease;
}

sim::Task<void> puts_two(Bench&, Client& client) { static_cast<void>(co_await put_two(client, 100_ms)); }

sim::Task<void> watches(Bench& bench, Client& client) {
  co_await client.sleep(10_ms);
  const std::optional<Told> told = co_await client.to<Endpoint>().watch({"a", "c"}, 3);
  bench.note(client, events_of(told));
}

}  // namespace

TEST_CASE("etcd server: a lease that ends takes its keys with it, and whoever watches hears of all of them at once") {
  Bench bench;
  bench.client(puts_two);
  bench.client(watches);
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"102ms B: DELETE a at 3; DELETE b at 3"});
}

TEST_CASE("etcd server: a lease is as long as the shortest one, and ends up to one round of checks late") {
  Bench bench({.least = 200_ms, .check_interval = 50_ms});
  bench.client(puts_two);
  bench.client(watches);
  bench.run();
  REQUIRE(bench.told.size() == 1);
  CHECK(bench.told.front() >= "202ms");
  CHECK(bench.told.front() <= "252ms z");
}

TEST_CASE("etcd server: a keep-alive puts the end of a lease off, until there is none any more") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const LeaseId lease = co_await put_two(client, 100_ms);
    for (const sim::Duration pause : {50_ms, 90_ms, 200_ms}) {
      co_await client.sleep(pause);
      const std::optional<Told> told = co_await client.to<Endpoint>().keep_alive(lease, 1_s);
      bench.note(client, told && told->lease_lives ? "kept alive" : "gone");
    }
  });
  bench.client(watches);
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"56ms A: kept alive", "148ms A: kept alive",
                                               "248ms B: DELETE a at 3; DELETE b at 3", "350ms A: gone"});
}

TEST_CASE("etcd server: what is revoked is gone at once, and cannot be revoked again") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    auto& server = client.to<Endpoint>();
    const LeaseId lease = co_await put_two(client, 100_ms);
    co_await client.sleep(20_ms);
    for (int i = 0; i < 2; ++i) {
      const std::optional<Told> told = co_await server.revoke(lease);
      bench.note(client, told->answer.error == Error::none ? "revoked" : std::string(to_string(told->answer.error)));
    }
  });
  bench.client(watches);
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"26ms A: revoked", "26ms B: DELETE a at 3; DELETE b at 3",
                                               "28ms A: etcdserver: requested lease not found"});
  CHECK(bench.engine().leases().empty());
}

TEST_CASE("etcd server: keys and leases outlive a crash, watches do not; a lease begins anew when it is back") {
  Bench bench;
  bench.client(puts_two);
  bench.client(watches);
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    co_await client.sleep(90_ms);
    const std::optional<Told> told = co_await client.to<Endpoint>().watch({"a", "c"}, 2);
    bench.note(client, events_of(told));
    const std::optional<Told> later = co_await client.to<Endpoint>().watch({"a", "c"}, 3);
    bench.note(client, events_of(later));
  });
  sim::PlannedFault crash{.kind = sim::FaultKind::crash, .process = bench.server()};
  crash.restart_after = sim::DurationRange::exactly(20_ms);
  crash.at = 50_ms;
  bench.world().plan(crash);
  bench.run();
  REQUIRE(bench.told.size() == 3);
  CHECK(bench.told[0].ends_with("B: no answer"));
  CHECK(bench.told[1] ==
        "92ms C: PUT b created at 2, modified at 2, version 1, \"\", lease 1; PUT a created at 2, "
        "modified at 2, version 1, \"\", lease 1");
  CHECK(bench.told[2] == "171ms C: DELETE a at 3; DELETE b at 3");
}

TEST_CASE("etcd server: a watch goes with its client") {
  Bench bench;
  bench.client([](Bench&, Client& client) -> sim::Task<void> {
    co_await client.sleep(50_ms);
    static_cast<void>(co_await put_two(client, 100_ms));
  });
  const sim::ProcessId b = bench.client(watches);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = b, .at = 20_ms});
  bench.run();
  CHECK(bench.told.empty());
  CHECK(bench.engine().revision() == 3);
}

}  // namespace lockstep::models::etcd
