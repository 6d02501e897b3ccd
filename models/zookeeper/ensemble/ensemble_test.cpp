// An ensemble among clients, step by step: a follower that lags, changes of leaders, partitions, sessions that move and
// that end. What all of it has to obey ensemble_log_test.cpp judges.

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include "models/zookeeper/ensemble/ensemble_bench_testing.hpp"

namespace lockstep::models::zookeeper::ensemble_test {
namespace {

using namespace sim::literals;
using testing::ask;
using testing::connect;
using testing::EnsembleBench;
using testing::said;

/// Ticks of 1s, so a leader pings at 506ms, 1006ms, …; its log's heartbeats leave 2ms earlier. Messages take 1ms.
EnsembleSettings settings(int sync_limit = 4) {
  return {.times = {.tick = 1_s, .least = 2_s, .most = 20_s}, .sync_limit = sync_limit};
}

std::string data_of(const std::optional<Answer>& answer) {
  if (!answer) return "connection lost";
  return answer->result.error == Error::none ? answer->result.data : std::string(to_string(answer->result.error));
}

sim::Task<std::optional<Answer>> create(Client& client, std::size_t server, ConnectionNumber on,
                                        CreateMode mode = CreateMode::ephemeral) {
  const Create asked{.path = "/a", .data = "old", .mode = mode};
  co_return co_await ask(client, server, on, asked);
}

/// Opens a session of 2s, creates /a in it, and is not heard of again.
sim::Task<void> creates_and_falls_silent(Client& client, std::size_t server) {
  co_await client.sleep(100_ms);
  const ConnectionNumber on = co_await connect(client, server, 2_s);
  static_cast<void>(co_await create(client, server, on));
}

/// Hears when /a goes.
sim::Task<void> watches(EnsembleBench& bench, Client& client, std::size_t server) {
  co_await client.sleep(200_ms);
  const ConnectionNumber on = co_await connect(client, server, 20_s);
  const std::optional<Answer> there = co_await ask(client, server, on, Exists{"/a", true});
  bench.note(client, there && there->result.error == Error::none ? "there" : "not there");
}

}  // namespace

TEST_CASE("ZooKeeper ensemble: a follower that lags answers with what it has, until a sync") {
  EnsembleBench bench(settings());
  bench.client([](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber on = co_await connect(client, 0, 20_s);
    static_cast<void>(co_await create(client, 0, on, CreateMode::persistent));
    co_await client.sleep(1_s);
    static_cast<void>(co_await ask(client, 0, on, SetData{"/a", "new"}));
  });
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(200_ms);
    const ConnectionNumber on = co_await connect(client, 2, 20_s);
    co_await client.sleep(1300_ms);
    std::optional<Answer> answer = co_await ask(client, 2, on, GetData{"/a"});
    bench.note(client, data_of(answer));
    answer = co_await ask(client, 2, on, Sync{"/a"});
    bench.note(client, "synced");
    answer = co_await ask(client, 2, on, GetData{"/a"});
    bench.note(client, data_of(answer));
  });
  bench.cut_off(2, 1_s, 1800_ms);
  bench.run(5_s);
  // What was sent from 1s on arrives at 1801ms, the entry at the follower and the sync at the leader.
  CHECK(bench.told == std::vector<std::string>{"1508ms B: old", "1803ms B: synced", "1805ms B: new"});
}

TEST_CASE("ZooKeeper ensemble: a sync waits for what the leader has only proposed") {
  EnsembleBench bench(settings());
  bench.client([](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber on = co_await connect(client, 0, 20_s);
    static_cast<void>(co_await create(client, 0, on, CreateMode::persistent));
    co_await client.sleep(1096_ms);
    static_cast<void>(co_await ask(client, 0, on, SetData{"/a", "new"}));
  });
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(200_ms);
    const ConnectionNumber on = co_await connect(client, 2, 20_s);
    co_await client.sleep(998_ms);
    static_cast<void>(co_await ask(client, 2, on, Sync{"/a"}));
    bench.note(client, "synced");
  });
  bench.run(5_s);
  // Both ask at 1204ms. The leader proposes at 1205, is asked at 1206, and commits at 1207ms; the follower has its word at
  // 1207 and the entry at 1208ms.
  CHECK(bench.told == std::vector<std::string>{"1209ms B: synced"});
}

TEST_CASE("ZooKeeper ensemble: whose request is lost on its way to the leader is told that its connection is") {
  EnsembleBench bench(settings());
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber on = co_await connect(client, 1, 20_s);
    const std::optional<Answer> answer = co_await create(client, 1, on);
    bench.note(client, said(answer));
  });
  bench.lose(1, "REQUEST", 2);
  bench.run(10_s);
  // It was asked at 107ms; the first ping of the leader that comes more than four ticks later comes at 4507ms.
  CHECK(bench.told == std::vector<std::string>{"4508ms A: connection lost", "4508ms A: closed"});
}

TEST_CASE("ZooKeeper ensemble: a session outlives its server and its leader, and finds its node at another server") {
  EnsembleBench bench(settings());
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber first = co_await connect(client, 0, 2_s);
    static_cast<void>(co_await create(client, 0, first));
    co_await client.sleep(1500_ms);
    const std::optional<Answer> lost = co_await ask(client, 0, first, GetData{"/a"});
    bench.note(client, said(lost));
    const ConnectionNumber again = co_await connect(client, 1, 2_s, first.session, 0x100000002);
    bench.note(client, again.session == first.session ? "connected" : "not connected");
    const std::optional<Answer> found = co_await ask(client, 1, again, GetData{"/a"});
    bench.note(client, data_of(found));
    const std::optional<Answer> set = co_await ask(client, 1, again, SetData{"/a", "new"});
    bench.note(client, set ? describe_zxid(set->zxid) : "connection lost");
  });
  bench.crash(0, 1_s);
  bench.run(3_s);
  // All have noticed at 1001ms. The second server's time comes 400ms later; at 1407ms it leads, in epoch 2.
  CHECK(bench.told == std::vector<std::string>{"1.61s A: connection lost", "1612ms A: connected", "1614ms A: old",
                                               "1618ms A: 0x200000001"});
}

TEST_CASE("ZooKeeper ensemble: clients of a server without a leader are told at once that their connection is closed") {
  EnsembleBench bench(settings());
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber on = co_await connect(client, 1, 2_s);
    co_await client.sleep(1_s);
    const ConnectionNumber again = co_await connect(client, 1, 2_s, on.session);
    bench.note(client, again.session == on.session ? "connected" : "not connected");
  });
  bench.crash(0, 1_s);
  bench.run(3_s);
  CHECK(bench.told == std::vector<std::string>{"1002ms A: closed", "1108ms A: not connected"});
}

TEST_CASE("ZooKeeper ensemble: an old leader that does not know it yet answers with old nodes, and writes nothing") {
  EnsembleBench bench(settings(3));
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber on = co_await connect(client, 0, 20_s);
    static_cast<void>(co_await create(client, 0, on, CreateMode::persistent));
    co_await client.sleep(4200_ms);
    std::optional<Answer> answer = co_await ask(client, 0, on, Sync{"/a"});
    answer = co_await ask(client, 0, on, GetData{"/a"});
    bench.note(client, data_of(answer));
    answer = co_await ask(client, 0, on, SetData{"/a", "lost"});
    bench.note(client, data_of(answer));
  });
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(4250_ms);
    const ConnectionNumber on = co_await connect(client, 2, 20_s);
    const std::optional<Answer> answer = co_await ask(client, 2, on, SetData{"/a", "new"});
    bench.note(client, answer ? "set" : "connection lost");
    co_await client.sleep(5_s);
    const std::optional<Answer> got = co_await ask(client, 2, on, GetData{"/a"});
    bench.note(client, data_of(got));
  });
  bench.cut_off(0, 600_ms, 8_s);
  bench.run(20_s);
  // The followers hear the log's last heartbeat at 505ms. 3s and 200ms later the second one asks, and the third one still
  // waits for its leader, until 3905ms; the third one leads from 3911ms on. The old leader was answered last in its
  // second half tick, which began at 506ms. At each whole tick it asks whether that is more than three ticks ago: at
  // 5006ms it is.
  CHECK(bench.told == std::vector<std::string>{"4258ms B: set", "4312ms A: old", "5007ms A: connection lost",
                                               "5007ms A: closed", "9.26s B: new"});
}

TEST_CASE("ZooKeeper ensemble: the leader's clock ends a session of which its server has heard nothing") {
  for (const std::size_t server : {0, 1}) {
    EnsembleBench bench(settings());
    bench.client([server](Client& client) { return creates_and_falls_silent(client, server); });
    bench.client([&bench](Client& client) { return watches(bench, client, 2); });
    bench.run(10_s);
    // The leader hears of the request at 105ms, or by the touches that its ping of 506ms brings it at 508ms. The end has
    // to be committed.
    CHECK(bench.told ==
          (server == 0 ? std::vector<std::string>{"208ms B: there", "2108ms A: closed", "2109ms B: NodeDeleted /a"}
                       : std::vector<std::string>{"208ms B: there", "2512ms A: closed", "2512ms B: NodeDeleted /a"}));
  }
}

TEST_CASE("ZooKeeper ensemble: pings to a follower keep a session alive") {
  EnsembleBench bench(settings());
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber on = co_await connect(client, 1, 2_s);
    static_cast<void>(co_await create(client, 1, on));
    for (int i = 0; i < 10; ++i) {
      co_await client.sleep(1_s);
      static_cast<void>(co_await client.to<Endpoint>().send(on, Ping{}, {}, 1));
    }
    bench.note(client, "silent");
  });
  bench.client([&bench](Client& client) { return watches(bench, client, 2); });
  bench.run(20_s);
  // The last ping comes at 10.131s, the leader hears of it at 10.508s.
  CHECK(bench.told == std::vector<std::string>{"208ms B: there", "10132ms A: silent", "12512ms A: closed",
                                               "12512ms B: NodeDeleted /a"});
}

TEST_CASE("ZooKeeper ensemble: a new leader gives each session its whole timeout again") {
  EnsembleBench bench(settings());
  bench.client([](Client& client) { return creates_and_falls_silent(client, 0); });
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(1600_ms);
    co_await watches(bench, client, 2);
  });
  bench.crash(0, 1_s);
  bench.run(10_s);
  // The second server asks at 1401ms. Three round trips later it leads: would it be elected, is it, and the first entry.
  CHECK(bench.told == std::vector<std::string>{"1808ms B: there", "3411ms B: NodeDeleted /a"});
}

TEST_CASE("ZooKeeper ensemble: what comes by a connection that a session has left is refused, and that is closed") {
  EnsembleBench bench(settings());
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber first = co_await connect(client, 1, 2_s);
    static_cast<void>(co_await create(client, 1, first));
    const ConnectionNumber second = co_await connect(client, 2, 2_s, first.session);
    // Its old server does not know it, and answers what it can answer by itself.
    std::optional<Answer> answer = co_await ask(client, 1, first, GetData{"/a"});
    bench.note(client, data_of(answer));
    answer = co_await ask(client, 1, first, SetData{"/a", "late"});
    bench.note(client, data_of(answer));
    answer = co_await ask(client, 2, second, SetData{"/a", "new"});
    bench.note(client, answer ? describe_zxid(answer->zxid) : "connection lost");
    answer = co_await ask(client, 2, second, GetData{"/a"});
    bench.note(client, data_of(answer));
  });
  bench.run(2_s);
  // Zxids: the session 1, /a 2, the refusal 3.
  CHECK(bench.told == std::vector<std::string>{"118ms A: old", "124ms A: connection lost", "124ms A: closed",
                                               "130ms A: 0x100000004", "132ms A: new"});
}

TEST_CASE("ZooKeeper ensemble: a server that is behind what a client has seen refuses it") {
  EnsembleBench bench(settings());
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(1100_ms);
    const ConnectionNumber on = co_await connect(client, 0, 20_s);
    const std::optional<Answer> created = co_await create(client, 0, on);
    for (const Zxid seen : {created->zxid, Zxid{0}}) {
      const ConnectionNumber again = co_await connect(client, 2, 20_s, on.session, seen);
      bench.note(client, again.session == on.session ? "connected" : "not connected");
    }
  });
  // Whoever has seen nothing is let in when the leader has said that the session is there: 2001, 2002.
  bench.cut_off(2, 1_s, 2_s);
  bench.run(10_s);
  CHECK(bench.told == std::vector<std::string>{"1.11s A: not connected", "2003ms A: connected"});
}

TEST_CASE("ZooKeeper ensemble: a follower that had given its leader up serves again when it hears it") {
  EnsembleBench bench(settings());
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber on = co_await connect(client, 0, 20_s);
    co_await client.sleep(8_s);
    static_cast<void>(co_await create(client, 0, on));
    // It was without its leader for longer than syncLimit.
    co_await client.sleep(2_s);
    const ConnectionNumber again = co_await connect(client, 2, 20_s, on.session);
    bench.note(client, again.session == on.session ? "connected" : "not connected");
    const std::optional<Answer> answer = co_await ask(client, 2, again, GetData{"/a"});
    bench.note(client, data_of(answer));
  });
  bench.cut_off(2, 1_s, 7_s);
  bench.run(20_s);
  CHECK(bench.told.size() == 2);
  CHECK(bench.told.back().ends_with("A: old"));
  CHECK(bench.servers[0].member().replica().term() == 1);
}

TEST_CASE("ZooKeeper ensemble: what a session asks for together is answered in that order") {
  EnsembleBench bench(settings());
  bench.client([&bench](Client& client) -> sim::Task<void> {
    co_await client.sleep(100_ms);
    const ConnectionNumber on = co_await connect(client, 1, 20_s);
    static_cast<void>(co_await create(client, 1, on));
    const auto asks = [](EnsembleBench& b, Client& c, ConnectionNumber o, Operation what) -> sim::Task<void> {
      const std::optional<Answer> answer = co_await ask(c, 1, o, what);
      b.note(c, describe(what) + " → " + data_of(answer));
    };
    client.spawn(asks(bench, client, on, GetData{"/a"}));
    client.spawn(asks(bench, client, on, SetData{"/a", "new"}));
    client.spawn(asks(bench, client, on, GetData{"/a"}));
    client.spawn(asks(bench, client, on, Delete{"/a"}));
    client.spawn(asks(bench, client, on, GetData{"/a"}));
  });
  bench.run(2_s);
  CHECK(bench.told == std::vector<std::string>{"114ms A: GET_DATA /a → old", "118ms A: SET_DATA /a \"new\" → ",
                                               "118ms A: GET_DATA /a → new", "118ms A: DELETE /a → ",
                                               "118ms A: GET_DATA /a → NoNode"});
}

}  // namespace lockstep::models::zookeeper::ensemble_test
