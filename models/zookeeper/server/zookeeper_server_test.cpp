// A ZooKeeper server among clients: what time, lost connections and crashes do to sessions and watches.

#include <catch2/catch.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/server_bench_testing.hpp"
#include "models/zookeeper/client/zookeeper_endpoint.hpp"
#include "models/zookeeper/server/zookeeper_server.hpp"

namespace lockstep::models::zookeeper::zookeeper_server_test {
namespace {

using namespace sim::literals;

class Bench : public ServerBench<Bench, Server> {
 public:
  explicit Bench(SessionTimes times = {}, std::uint64_t seed = 0)
      : ServerBench(seed, "zookeeper", times, std::vector<std::string>{}) {}
  void connected(Client& client, sim::ConnectionId connection) {
    client.connect<Endpoint>().add_server(connection, {});
    client.to<Endpoint>().set_listener(listeners_.emplace_back(*this, client));
  }

 private:
  struct Ear final : Listener {
    Ear(Bench& b, Client& c) : bench(b), client(c) {}
    void notified(const Notification& notification) override { bench.note(client, describe(notification.event)); }
    void left_by(Client&) override {}
    Bench& bench;
    Client& client;
  };
  std::deque<Ear> listeners_;
};

std::string said(const std::optional<Told>& told) { return told ? describe(told->answer) : "connection lost"; }

sim::Task<ConnectionNumber> connect(Client& client, sim::Duration timeout, SessionId session = 0) {
  const std::optional<Told> told = co_await client.to<Endpoint>().send({}, Connect{session, timeout});
  co_return told ? told->on : ConnectionNumber{};
}

sim::Task<std::optional<Told>> ask(Client& client, ConnectionNumber on, Operation operation) {
  co_return co_await client.to<Endpoint>().send(on, std::move(operation));
}

/// Takes a session of 100ms and creates two nodes.
sim::Task<ConnectionNumber> create_two(Client& client) {
  const ConnectionNumber on = co_await connect(client, 100_ms);
  for (const char* path : {"/b", "/a"}) {
    const Create create{.path = path, .mode = CreateMode::ephemeral};
    static_cast<void>(co_await ask(client, on, create));
  }
  co_return on;
}

sim::Task<void> creates_two(Bench&, Client& client) { static_cast<void>(co_await create_two(client)); }

sim::Task<void> watches(Bench& bench, Client& client) {
  co_await client.sleep(20_ms);
  const ConnectionNumber on = co_await connect(client, 10_s);
  for (const char* path : {"/a", "/b"}) {
    const GetData get{.path = path, .watches = true};
    static_cast<void>(co_await ask(client, on, get));
  }
  const GetChildren list{.path = "/", .watches = true};
  static_cast<void>(co_await ask(client, on, list));
  co_await client.sleep(500_ms);
  const std::optional<Told> after = co_await ask(client, on, GetChildren{.path = "/"});
  bench.note(client, said(after));
}

}  // namespace

TEST_CASE("ZooKeeper server: a session that ends takes its nodes with it, and whoever watches hears of each") {
  Bench bench;
  bench.client(creates_two);
  bench.client(watches);
  bench.run();
  // A's last request arrives at 5ms.
  CHECK(bench.told == std::vector<std::string>{"106ms B: NodeDeleted /a", "106ms B: NodeChildrenChanged /",
                                               "106ms B: NodeDeleted /b", "530ms B: zxid 5: OK"});
}

TEST_CASE("ZooKeeper server: a session is as long as two ticks at least, and ends up to a tick late") {
  std::set<std::string> ends;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Bench bench({.tick = 100_ms, .least = 200_ms, .most = 2_s}, seed);
    bench.client(creates_two);
    bench.client(watches);
    bench.run();
    REQUIRE(bench.told.size() == 4);
    ends.insert(bench.told.front());
    CHECK(bench.told.front() >= "206ms");
    CHECK(bench.told.front() <= "306ms z");
  }
  CHECK(ends.size() > 1);
}

TEST_CASE(
    "ZooKeeper server: a session of which nothing is heard after a crash ends a whole timeout after the restart") {
  Bench bench;
  bench.client(creates_two);
  bench.client([](Bench&, Client& client) -> sim::Task<void> {
    co_await client.sleep(80_ms);
    const ConnectionNumber on = co_await connect(client, 10_s);
    const GetData get{.path = "/a", .watches = true};
    static_cast<void>(co_await ask(client, on, get));
    co_await client.sleep(500_ms);
  });
  sim::PlannedFault crash{.kind = sim::FaultKind::crash, .process = bench.server()};
  crash.restart_after = sim::DurationRange::exactly(20_ms);
  crash.at = 50_ms;
  bench.world().plan(crash);
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"171ms B: NodeDeleted /a"});
}

TEST_CASE("ZooKeeper server: everything that is heard of a session puts its end off, until it is over") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const ConnectionNumber on = co_await create_two(client);
    for (const sim::Duration pause : {50_ms, 90_ms, 200_ms}) {
      co_await client.sleep(pause);
      const std::optional<Told> told = co_await client.to<Endpoint>().send(on, Ping{});
      bench.note(client, said(told));
    }
    // Only a new connection tells what has become of it.
    const ConnectionNumber again = co_await connect(client, 100_ms, on.session);
    bench.note(client, again.session == 0 ? "expired" : "connected");
  });
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"58ms A: zxid 3: OK", "150ms A: zxid 3: OK", "352ms A: connection lost",
                                               "354ms A: expired"});
}

TEST_CASE("ZooKeeper server: a session that is closed is over at once") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const ConnectionNumber on = co_await create_two(client);
    co_await client.sleep(30_ms);
    const std::optional<Told> closed = co_await client.to<Endpoint>().send(on, CloseSession{});
    bench.note(client, said(closed));
  });
  bench.client(watches);
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"38ms B: NodeDeleted /a", "38ms B: NodeChildrenChanged /",
                                               "38ms B: NodeDeleted /b", "38ms A: zxid 5: OK", "530ms B: zxid 5: OK"});
}

TEST_CASE("ZooKeeper server: what was sent on a connection before the latest one is not carried out") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const ConnectionNumber first = co_await create_two(client);
    const GetData get{.path = "/a", .watches = true};
    static_cast<void>(co_await ask(client, first, get));
    const ConnectionNumber second = co_await connect(client, 100_ms, first.session);
    const std::optional<Told> late = co_await ask(client, first, Delete{.path = "/a"});
    bench.note(client, said(late));
    // Watches went with the first connection.
    const std::optional<Told> set = co_await ask(client, second, SetData{.path = "/a"});
    bench.note(client, set && set->answer.result.error == Error::none ? "set" : "not set");
  });
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"12ms A: connection lost", "14ms A: set"});
}

TEST_CASE("ZooKeeper server: a client hears of a change before it can read it") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const ConnectionNumber on = co_await create_two(client);
    const GetData get{.path = "/a", .watches = true};
    static_cast<void>(co_await ask(client, on, get));
    const std::optional<Told> told = co_await ask(client, on, Delete{.path = "/a"});
    bench.note(client, said(told));
  });
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"10ms A: NodeDeleted /a", "10ms A: zxid 4: OK"});
}

TEST_CASE("ZooKeeper server: nodes and sessions outlive a crash, connections and watches do not") {
  Bench bench;
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const ConnectionNumber on = co_await create_two(client);
    co_await client.sleep(90_ms);
    const std::optional<Told> lost = co_await ask(client, on, GetData{.path = "/a"});
    bench.note(client, said(lost));
    // A session's whole timeout begins anew when the server is back, at 70ms.
    const ConnectionNumber again = co_await connect(client, 100_ms, on.session);
    bench.note(client, again.session == on.session ? "connected" : "expired");
    const std::optional<Told> found = co_await ask(client, again, Exists{.path = "/a"});
    bench.note(client, found && found->answer.result.error == Error::none ? "there" : "gone");
  });
  bench.client(watches);
  sim::PlannedFault crash{.kind = sim::FaultKind::crash, .process = bench.server()};
  crash.restart_after = sim::DurationRange::exactly(20_ms);
  crash.at = 50_ms;
  bench.world().plan(crash);
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"98ms A: connection lost", "100ms A: connected", "102ms A: there",
                                               "530ms B: connection lost"});
}

TEST_CASE("ZooKeeper server: a watch goes with its client, a session does not") {
  Bench bench;
  bench.client(creates_two);
  const sim::ProcessId b = bench.client(watches);
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    const ConnectionNumber on = co_await connect(client, 10_s);
    co_await client.sleep(80_ms);
    bench.note(client, std::to_string(bench.engine().sessions().size()) + " sessions");
    static_cast<void>(on);
  });
  bench.world().plan({.kind = sim::FaultKind::crash, .process = b, .at = 60_ms});
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"82ms C: 3 sessions"});
}

}  // namespace lockstep::models::zookeeper::zookeeper_server_test
