// A cluster of three among clients, by hand: who answers when, and what a leader change does. Latency is 1ms, the
// election timeout etcd's, 1s: etcd2 stands for election 1.1s after it has heard a leader, etcd3 1.2s.

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/etcd/cluster/cluster_testing.hpp"

namespace lockstep::models::etcd::cluster_test {
namespace {

using namespace sim::literals;
using Lines = std::vector<std::string>;

Txn put_of(std::string key, std::string value, LeaseId lease = 0) {
  Txn txn;
  txn.success = {Put{.key = std::move(key), .value = std::move(value), .lease = lease}};
  return txn;
}

std::string text_of(const std::optional<Told>& told) {
  if (!told) return "no answer";
  if (told->answer.error != Error::none) return std::string(to_string(told->answer.error));
  if (told->answer.responses.empty()) return "revision " + std::to_string(told->answer.revision);
  const std::vector<KeyValue>& kvs = told->answer.responses.front().kvs;
  return (kvs.empty() ? "" : kvs.front().value + " ") + "at " + std::to_string(told->answer.revision);
}

sim::Task<void> put(ClusterBench& bench, Client& client, std::string value) {
  const std::optional<Told> told = co_await client.to<Endpoint>().txn(put_of("k", std::move(value)));
  bench.note(client, "put " + text_of(told));
}

sim::Task<void> get(ClusterBench& bench, Client& client, bool serializable) {
  const std::optional<Told> told = co_await client.to<Endpoint>().range({.span = {"k"}, .serializable = serializable});
  bench.note(client, std::string(serializable ? "serializable " : "get ") + text_of(told));
}

/// A lease with a key of it, kept alive every so often, so many times.
sim::Task<void> keep(ClusterBench& bench, Client& client, sim::Duration ttl, sim::Duration period, int times) {
  auto& server = client.to<Endpoint>();
  const std::optional<Told> granted = co_await server.grant(ttl);
  static_cast<void>(co_await server.txn(put_of("k", "", granted->lease)));
  for (int i = 0; i < times; ++i) {
    co_await client.sleep(period);
    const std::optional<Told> told = co_await server.keep_alive(granted->lease, 500_ms);
    bench.note(client, !told ? "no answer" : told->lease_lives ? "kept alive" : "gone");
  }
}

sim::Task<void> watch_end(ClusterBench& bench, Client& client) {
  const std::optional<Told> told = co_await client.to<Endpoint>().watch({"k"}, 3);
  bench.note(client, told ? describe(told->events.front()) : "no answer");
}

}  // namespace

TEST_CASE("etcd cluster: a write is answered by the member that was asked, when a quorum has it") {
  ClusterBench bench({});
  // 1ms to etcd1, 2ms to a quorum and back, 1ms.
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await put(b, self, "1"); });
  // 10ms: 1ms to etcd2, 1ms to the leader, 2ms to a quorum, 1ms to etcd2, 1ms.
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(10_ms);
    co_await put(b, self, "2");
  });
  bench.run_until(100_ms);
  CHECK(bench.told == Lines{"4ms A: put at 2", "16ms B: put at 3"});
  for (std::size_t i = 0; i < 3; ++i) CHECK(bench[i].engine().revision() == 3);
  CHECK(bench.world().history().effects.size() == 2);
}

TEST_CASE("etcd cluster: a linearizable read asks the leader and a quorum, a serializable one nobody") {
  ClusterBench bench({});
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await put(b, self, "1");
    co_await get(b, self, false);
    co_await get(b, self, true);
  });
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(10_ms);
    co_await get(b, self, false);
    co_await get(b, self, true);
  });
  bench.run_until(100_ms);
  CHECK(bench.told == Lines{"4ms A: put at 2", "8ms A: get 1 at 2", "10ms A: serializable 1 at 2", "16ms B: get 1 at 2",
                            "18ms B: serializable 1 at 2"});
}

TEST_CASE("etcd cluster: behind a partition a serializable read is old, a linearizable one is answered elsewhere") {
  ClusterBench bench({.timeout = 200_ms});
  bench.cut_off(2, 5_ms, 5_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await put(b, self, "1");
    co_await self.sleep(10_ms);
    co_await put(b, self, "2");
  });
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(100_ms);
    co_await get(b, self, true);
    co_await get(b, self, false);
    co_await get(b, self, false);
  });
  bench.run_until(8_s);
  CHECK(bench.told == Lines{"4ms A: put at 2", "18ms A: put at 3", "102ms B: serializable 1 at 2",
                            "302ms B: get no answer", "306ms B: get 2 at 3"});
  for (std::size_t i = 0; i < 3; ++i) CHECK(bench[i].engine().present().front().value == "2");
}

TEST_CASE("etcd cluster: an old leader that does not know it yet answers serializable reads, and no others") {
  ClusterBench::Setup setup;
  // It does not ask whether it is heard.
  setup.settings.check_quorum = false;
  setup.timeout = 200_ms;
  ClusterBench bench(setup);
  bench.cut_off(0, 50_ms, 10_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await put(b, self, "1");
    co_await self.sleep(4_s);
    co_await get(b, self, true);
    // Its log has it, and nobody else's: the outcome is unknown, and it comes to nothing.
    co_await put(b, self, "lost");
    co_await get(b, self, false);
  });
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(3_s);
    co_await put(b, self, "2");
  });
  bench.run_until(15_s);
  CHECK(bench.told == Lines{"4ms A: put at 2", "3004ms B: put at 3", "4006ms A: serializable 1 at 2",
                            "4206ms A: put no answer", "4.21s A: get 2 at 3"});
  for (std::size_t i = 0; i < 3; ++i) CHECK(bench[i].engine().present().front().value == "2");
}

TEST_CASE("etcd cluster: where nobody leads a write waits, and a read is to be asked again") {
  ClusterBench bench({});
  bench.crash(0, 50_ms, 10_s);
  bench.crash(2, 50_ms, 3_s);
  // To a leader that is dead, as nobody has noticed yet: it is lost, and times out at etcd2 after 7s.
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(1_s);
    co_await put(b, self, "1");
  });
  // From 1.1s on etcd2 stands for election, and from 3.05s on there is somebody who may vote.
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(2_s);
    co_await put(b, self, "2");
  });
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(2_s);
    co_await get(b, self, false);
    // Of etcd3, which has heard from etcd2 who leads.
    co_await get(b, self, false);
  });
  bench.run_until(9_s);
  // etcd2 stands for election at 1.1s, 2.2s and 3.3s, leads 2ms later, and has committed another 2ms later.
  CHECK(bench.told ==
        Lines{"3303ms C: get no answer", "3305ms B: put at 2", "3309ms C: get 2 at 2", "8002ms A: put no answer"});
}

TEST_CASE("etcd cluster: a member that was away has everything when it is back, and nothing twice") {
  ClusterBench bench({.timeout = 400_ms});
  const std::size_t member = GENERATE(0u, 1u);
  bench.crash(member, 500_ms, 3_s);
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    for (int i = 0; i < 8; ++i) {
      co_await self.sleep(300_ms);
      co_await put(b, self, std::to_string(i));
    }
  });
  bench.run_until(20_s);
  const auto answered = static_cast<std::size_t>(std::count_if(
      bench.told.begin(), bench.told.end(), [](const std::string& line) { return line.find("put at") != line.npos; }));
  const std::size_t written = bench.world().history().effects.size();
  CHECK(answered >= 4);
  // A write that its client no longer waited for may have been written.
  CHECK(written >= answered);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(bench[i].engine().revision() == static_cast<Revision>(written) + 1);
    CHECK(bench[i].engine().present() == bench[2].engine().present());
    CHECK(bench[i].engine().present().front().version == static_cast<std::int64_t>(written));
  }
}

TEST_CASE("etcd cluster: a watch at any member hears of what is committed, and goes with its member") {
  ClusterBench bench({});
  bench.crash(1, 1_s, 1_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(100_ms);
    co_await put(b, self, "1");
  });
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    const std::optional<Told> told = co_await self.to<Endpoint>().watch({"k"}, 2);
    b.note(self, describe(told->events.front()));
  });
  bench.client(1, watch_end);
  bench.run_until(3_s);
  CHECK(bench.told == Lines{"104ms A: put at 2", "105ms B: PUT k created at 2, modified at 2, version 1, \"1\"",
                            "1001ms C: no answer"});
}

TEST_CASE("etcd cluster: a lease ends by the leader's clock, whatever the others' say") {
  ClusterBench::Setup setup;
  setup.drifts_ppb = {0, 500'000'000, 500'000'000};
  ClusterBench bench(setup);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await keep(b, self, 900_ms, 1_s, 0); });
  bench.client(2, watch_end);
  bench.run_until(2_s);
  // Granted by the leader 4ms after the beginning; over, a quorum asked, and a quorum told: 2ms each, and 1ms for etcd3.
  REQUIRE(bench.told.size() == 1);
  CHECK(bench.told.front() == "910ms B: DELETE k at 3");
}

TEST_CASE("etcd cluster: the leader's wall clock may jump, and no lease ends of it") {
  ClusterBench bench({});
  bench.world().plan({.kind = sim::FaultKind::jump, .process = bench[0].id(), .length = 3600_s, .at = 500_ms});
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await keep(b, self, 900_ms, 1_s, 0); });
  bench.client(2, watch_end);
  bench.run_until(2_s);
  CHECK(bench.told == Lines{"910ms B: DELETE k at 3"});
}

TEST_CASE("etcd cluster: a watch goes with its client") {
  ClusterBench bench({});
  const sim::ProcessId watcher = bench.client(1, watch_end).id();
  bench.world().plan({.kind = sim::FaultKind::crash, .process = watcher, .at = 20_ms});
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(15_ms);
    b.note(self, std::to_string(b[1].watching()));
    co_await self.sleep(15_ms);
    b.note(self, std::to_string(b[1].watching()));
  });
  bench.run_until(100_ms);
  CHECK(bench.told == Lines{"15ms B: 1", "30ms B: 0"});
}

TEST_CASE("etcd cluster: keep-alives of any member go to the leader") {
  ClusterBench bench({});
  // The last one reaches the leader at 832ms, and a quorum 2ms later.
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await keep(b, self, 300_ms, 200_ms, 4); });
  bench.client(2, watch_end);
  bench.run_until(2_s);
  CHECK(bench.told == Lines{"218ms A: kept alive", "424ms A: kept alive", "630ms A: kept alive", "836ms A: kept alive",
                            "1.14s B: DELETE k at 3"});
}

TEST_CASE("etcd cluster: a lease that is over is not kept alive while it is being revoked") {
  ClusterBench::Setup setup;
  setup.settings.ensures_leadership = false;
  ClusterBench bench(setup);
  // Granted at 3ms and over at 303ms; the keep-alive comes at 304ms, a quorum has the revocation at 305ms.
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await keep(b, self, 300_ms, 295_ms, 1); });
  bench.run_until(1_s);
  CHECK(bench.told == Lines{"306ms A: gone"});
}

TEST_CASE("etcd cluster: a new leader begins all leases anew, an election timeout longer") {
  ClusterBench bench({});
  bench.crash(0, 500_ms, 20_s);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await keep(b, self, 3_s, 1_s, 0); });
  bench.client(2, watch_end);
  bench.run_until(10_s);
  // etcd2 stands for election 1.1s after the last heartbeat at 401ms, and has committed 4ms later; then 1s and 3s; a
  // quorum asked, and told, 2ms each; and 2ms to B.
  CHECK(bench.told == Lines{"5511ms B: DELETE k at 3"});
}

namespace {

/// etcd1 leads, and waits for its disk from 500ms on for 7s. A keeps its lease of 3s alive by way of `member`, until
/// the fifth second or a little later.
Lines told_behind_a_stall(bool ensures, std::size_t member) {
  ClusterBench::Setup setup;
  setup.settings.ensures_leadership = ensures;
  setup.own.stall_of_first = {.at = 500_ms, .length = 7_s};
  ClusterBench bench(setup);
  bench.client(member, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await keep(b, self, 3_s, 1_s, 9); });
  bench.client(2, watch_end);
  bench.run_until(20_s);
  Lines ends;
  for (const std::string& line : bench.told) {
    if (line.find("B: ") != line.npos) ends.push_back(line);
  }
  return ends;
}

}  // namespace

TEST_CASE("etcd cluster: an old leader that waits for its disk ends a lease that others keep alive (15247)") {
  // etcd1's lessor counts 3s from the keep-alive at 1s (etcd2 leads since 1.5s), tells its Raft, and that sends it on
  // at 7.5s, 1ms to etcd2, 2ms to a quorum, 2ms to B.
  CHECK(told_behind_a_stall(false, 1) == Lines{"7505ms B: DELETE k at 3"});
  // A's first keep-alive waits at etcd2 until that leads, and a quorum has said so: it is answered at 1508ms, the ninth
  // 8 * 1004ms later. 1ms before that its end was put off: 3s; a quorum asked, and told; and 2ms to B.
  CHECK(told_behind_a_stall(true, 1) == Lines{"12545ms B: DELETE k at 3"});
}

TEST_CASE("etcd cluster: an old leader that waits for its disk keeps alive a lease that has ended (15247)") {
  // etcd2 has committed at 1505ms and ends the lease 4s later, while A is told by etcd1 that it lives.
  CHECK(told_behind_a_stall(false, 0) == Lines{"5509ms B: DELETE k at 3"});
  // A turns to etcd2 when etcd1 does not answer; it leads by then, and a quorum has said so of the ninth at 9539ms.
  CHECK(told_behind_a_stall(true, 0) == Lines{"12545ms B: DELETE k at 3"});
}

TEST_CASE("etcd cluster: who learns that it does not lead any more ends no leases") {
  ClusterBench::Setup setup;
  setup.settings.ensures_leadership = false;
  setup.settings.pre_vote = true;
  ClusterBench bench(setup);
  bench.cut_off(0, 450_ms, 5_s);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await keep(b, self, 3_s, 1_s, 9); });
  bench.client(2, watch_end);
  bench.run_until(20_s);
  // etcd1 gives up by 2s; its lessor would have counted to 3s and some. etcd3 leads at 1605ms: etcd2 asks it at 1501ms,
  // when it has not missed the leader yet. A hears nothing of its first keep-alive by 1512ms and turns to etcd3. The
  // ninth is answered 8 * 1002ms later, and put off 1ms before that: 3s, 2ms to tell a quorum, and 1ms to B.
  CHECK(bench.told.back() == "12.53s B: DELETE k at 3");
}

}  // namespace lockstep::models::etcd::cluster_test
