// A cluster of three among clients, by hand: who answers when, what a leader change does, and to whom. Latency is 1ms,
// the heartbeat timeout 1s, the leader's lease 500ms; followers hear of a commit every 50ms.
//
// An election takes 2.2s here: consul2 stands for one 1.1s after it has heard the leader, but consul3, which waits for
// 1.2s, still knows one and does not listen. In term 2 each votes for itself; 1.1s later consul2 has consul3's vote.

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/consul/cluster/cluster_testing.hpp"

namespace lockstep::models::consul::cluster_test {
namespace {

using namespace sim::literals;
using Lines = std::vector<std::string>;

std::string text_of(const std::optional<Told>& told) {
  if (!told) return "no answer";
  if (told->answer.error != Error::none) return std::string(to_string(told->answer.error));
  if (told->answer.index == 0) return told->answer.ok ? "true" : "false";
  std::string text = told->answer.kvs.empty() ? "nothing" : told->answer.kvs.front().value;
  if (text.empty()) text = told->answer.kvs.front().session == 0 ? "free" : "taken";
  text += " at " + std::to_string(told->answer.index);
  if (told->contact && !told->contact->knows_leader) text += ", no leader";
  return text;
}

sim::Task<void> put(ClusterBench& bench, Client& client, std::string value) {
  const std::optional<Told> told = co_await client.to<Endpoint>().write("dc1", {.key = "k", .value = std::move(value)});
  bench.note(client, "put " + text_of(told));
}

sim::Task<void> get(ClusterBench& bench, Client& client, Consistency consistency, Index index = 0) {
  static constexpr std::array<std::string_view, 3> kWords{"default ", "consistent ", "stale "};
  const std::optional<Told> told =
      co_await client.to<Endpoint>().query("dc1", {.key = "k", .index = index, .consistency = consistency});
  bench.note(client, std::string(kWords[static_cast<std::size_t>(consistency)]) + text_of(told));
}

/// A session that acquires the key k.
sim::Task<SessionId> acquire(Client& client, sim::Duration ttl, sim::Duration lock_delay = 0_ms) {
  auto& server = client.to<Endpoint>();
  const std::optional<Told> created = co_await server.create("dc1", {.ttl = ttl, .lock_delay = lock_delay});
  static_cast<void>(
      co_await server.write("dc1", {.key = "k", .how = Write::How::acquire, .session = created->session}));
  co_return created->session;
}

/// When the key is free again, by the server that is asked and what it knows.
sim::Task<void> watch_end(ClusterBench& bench, Client& client) {
  auto& server = client.to<Endpoint>();
  co_await client.sleep(100_ms);
  Index index = 0;
  for (bool is_taken = true; is_taken;) {
    const std::optional<Told> told =
        co_await server.query("dc1", {.key = "k", .index = index, .consistency = Consistency::stale});
    is_taken = told && told->answer.kvs.front().session != 0;
    index = told ? told->answer.index : 0;
    if (!is_taken) bench.note(client, text_of(told));
  }
}

/// Asks for the key with a session of its own every 100ms, from then on, until it has it.
sim::Task<void> try_from(ClusterBench& bench, Client& client, sim::Duration when) {
  auto& server = client.to<Endpoint>();
  co_await client.sleep(when);
  const std::optional<Told> created = co_await server.create("dc1", {.lock_delay = 0_ms});
  for (bool has_it = false; !has_it;) {
    const std::optional<Told> told =
        co_await server.write("dc1", {.key = "k", .how = Write::How::acquire, .session = created->session});
    has_it = told && told->answer.ok;
    if (has_it) bench.note(client, "has it");
    if (!has_it) co_await client.sleep(100_ms);
  }
}

}  // namespace

TEST_CASE("consul cluster: a follower forwards a write, and does not know of it yet when it passes on the answer") {
  ClusterBench bench({});
  // 1ms to consul1, 2ms to a quorum and back, 1ms.
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await put(b, self, "1"); });
  // 10ms: 1ms to consul2, 1ms to the leader, 2ms to a quorum, 1ms to consul2, 1ms. That the second write is committed
  // consul2 hears at 51ms, and with the entry it has heard of the first one.
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(10_ms);
    co_await put(b, self, "2");
    co_await get(b, self, Consistency::stale);
    co_await get(b, self, Consistency::standard);
    co_await self.sleep(29_ms);
    co_await get(b, self, Consistency::stale);
  });
  bench.run_until(200_ms);
  CHECK(bench.told == Lines{"4ms A: put true", "16ms B: put true", "18ms B: stale 1 at 2", "22ms B: default 2 at 3",
                            "53ms B: stale 2 at 3"});
  for (std::size_t i = 0; i < 3; ++i) CHECK(bench[i].engine().last_index() == 3);
}

TEST_CASE("consul cluster: the leader answers a default query at once, and a consistent one after a quorum") {
  ClusterBench bench({});
  for (const std::size_t server : {0u, 1u}) {
    bench.client(server, [](ClusterBench& b, Client& self) -> sim::Task<void> {
      if (self.name() == "A") co_await put(b, self, "1");
      if (self.name() == "B") co_await self.sleep(100_ms);
      co_await get(b, self, Consistency::standard);
      co_await get(b, self, Consistency::consistent);
      co_await get(b, self, Consistency::stale);
    });
  }
  bench.run_until(200_ms);
  CHECK(bench.told == Lines{"4ms A: put true", "6ms A: default 1 at 2", "10ms A: consistent 1 at 2",
                            "12ms A: stale 1 at 2", "104ms B: default 1 at 2", "110ms B: consistent 1 at 2",
                            "112ms B: stale 1 at 2"});
}

TEST_CASE(
    "consul cluster: behind a partition a server answers stale queries, and others when there is a leader again") {
  ClusterBench bench({});
  bench.cut_off(2, 80_ms, 9_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await put(b, self, "1");
    co_await self.sleep(96_ms);
    co_await put(b, self, "2");
  });
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(1_s);
    co_await get(b, self, Consistency::stale);
    // It knows no leader from 1.25s on; what was asked before waits for the leader's answer.
    co_await self.sleep(500_ms);
    co_await get(b, self, Consistency::stale);
    co_await get(b, self, Consistency::standard);
  });
  bench.run_until(12_s);
  // 7s after the request has come.
  CHECK(bench.told == Lines{"4ms A: put true", "104ms A: put true", "1002ms B: stale 1 at 2",
                            "1504ms B: stale 1 at 2, no leader", "8506ms B: default No cluster leader"});
}

TEST_CASE("consul cluster: an old leader answers default queries until its lease is over, with what is old") {
  ClusterBench::Setup setup;
  // By its clock the lease of 1s lasts for 2.5s, and the others have a new leader after 2.2s.
  setup.drifts_ppb = {-600'000'000};
  setup.settings.leader_lease_timeout = 1_s;
  ClusterBench bench(setup);
  bench.cut_off(0, 80_ms, 10_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await put(b, self, "1");
    // Written by C at 2.3s.
    co_await self.sleep(970_ms);
    co_await get(b, self, Consistency::standard);
  });
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(2430_ms);
    co_await get(b, self, Consistency::consistent);
  });
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(2350_ms);
    co_await put(b, self, "2");
  });
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(2425_ms);
    co_await get(b, self, Consistency::standard);
  });
  bench.run_until(15_s);
  // consul2 has heard the leader at 2ms, stands for election at 1102ms and 2202ms, and has committed at 2206ms. The old
  // one looks after 2500ms, has heard the others at 3ms, and looks once more 25ms later, which is 10ms to it. Who asked
  // it to make sure before that is told that its leadership was lost, which is no answer.
  CHECK(bench.told == Lines{"4ms A: put true", "976ms A: default 1 at 2", "2354ms C: put true",
                            "2427ms D: default 1 at 2", "2526ms B: consistent no answer"});
}

TEST_CASE("consul cluster: a new leader answers default queries before it knows what its predecessor has committed") {
  ClusterBench bench({});
  bench.crash(0, 5_ms, 20_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await put(b, self, "1"); });
  for (const Consistency how : {Consistency::standard, Consistency::consistent}) {
    bench.client(1, [how](ClusterBench& b, Client& self) -> sim::Task<void> {
      co_await self.sleep(1500_ms);
      co_await get(b, self, how);
    });
  }
  bench.run_until(5_s);
  // consul1 has told nobody that a quorum has the entry. consul2 leads at 2204ms, looks
  // after a millisecond what waits for that, and has committed 2ms later.
  CHECK(bench.told == Lines{"4ms A: put true", "2206ms B: default nothing at 1", "2208ms C: consistent 1 at 2"});
}

TEST_CASE("consul cluster: a query whose leader dies is asked again, a write is not") {
  ClusterBench bench({});
  bench.crash(0, 100_ms, 10_s);
  // Both are at the leader when it dies.
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(97_ms);
    co_await put(b, self, "1");
    // To a leader that is dead: it was certainly not written.
    co_await put(b, self, "2");
  });
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(50_ms);
    co_await get(b, self, Consistency::standard, 7);
  });
  // There is no leader: it waits.
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(1300_ms);
    co_await put(b, self, "3");
  });
  bench.run_until(8_s);
  // consul2 hears at 101ms that the connection is gone. The query it sends again, to the same dead; A turns to consul3.
  // consul2 has heard the leader at 100ms, and leads at 2302ms.
  CHECK(bench.told == Lines{"102ms A: put no answer", "105ms B: default connection refused",
                            "106ms A: put connection refused", "2306ms C: put true"});
}

TEST_CASE("consul cluster: a query that was at the leader when it died waits for the next one") {
  ClusterBench bench({});
  // It is back before consul2 asks again, and says that it does not lead. It is elected itself, 1s after it was started.
  bench.crash(0, 100_ms, 1_ms);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(50_ms);
    co_await get(b, self, Consistency::standard, 2);
  });
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await put(b, self, "1");
    co_await self.sleep(3_s);
    co_await put(b, self, "2");
  });
  bench.run_until(8_s);
  CHECK(bench.told == Lines{"6ms B: put true", "3012ms B: put true", "3012ms A: default 2 at 3"});
}

TEST_CASE("consul cluster: a new leader gives each session its whole time again") {
  ClusterBench bench({});
  bench.crash(0, 500_ms, 20_s);
  bench.client(1, [](ClusterBench&, Client& self) -> sim::Task<void> { co_await acquire(self, 1_s); });
  bench.client(2, watch_end);
  bench.run_until(8_s);
  // consul2 has heard the leader at 451ms, and has committed at 2655ms. 2s; 2ms to tell a quorum; the next message to
  // consul3 leaves at 4703ms.
  CHECK(bench.told == Lines{"4705ms B: free at 4"});
}

TEST_CASE("consul cluster: a session ends by the leader's clock, whatever the others' say") {
  ClusterBench::Setup setup;
  setup.drifts_ppb = {0, 900'000'000, 900'000'000};
  setup.settings.heartbeat_timeout = 2_s;
  ClusterBench bench(setup);
  bench.client(1, [](ClusterBench&, Client& self) -> sim::Task<void> { co_await acquire(self, 1_s); });
  bench.client(0, watch_end);
  bench.run_until(4_s);
  // Created by the leader at 4ms; 2s; 2ms to tell a quorum.
  CHECK(bench.told == Lines{"2007ms B: free at 4"});
}

TEST_CASE("consul cluster: renewals of any server go to the leader") {
  ClusterBench bench({});
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    const SessionId session = co_await acquire(self, 500_ms);
    for (int i = 0; i < 3; ++i) {
      co_await self.sleep(900_ms);
      b.note(self, text_of(co_await self.to<Endpoint>().renew("dc1", session)));
    }
    co_await self.sleep(1100_ms);
    b.note(self, text_of(co_await self.to<Endpoint>().renew("dc1", session)));
  });
  bench.client(0, watch_end);
  bench.run_until(6_s);
  // The third renewal is at the leader at 2722ms.
  CHECK(bench.told == Lines{"916ms A: true", "1.82s A: true", "2724ms A: true", "3725ms B: free at 4",
                            "3828ms A: Session id not found"});
}

TEST_CASE("consul cluster: a lock-delay outlives the leader that set it, by the next one's clock") {
  ClusterBench::Setup setup;
  const std::int64_t drift = GENERATE(0, 250'000'000);
  setup.drifts_ppb = {0, drift};
  ClusterBench bench(setup);
  // The session ends at 404ms, and the leader dies a while later.
  bench.client(0, [](ClusterBench&, Client& self) -> sim::Task<void> { co_await acquire(self, 200_ms, 10_s); });
  bench.crash(0, 600_ms, 60_s);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await try_from(b, self, 5_s); });
  bench.run_until(20_s);
  // consul2 hears at 451ms that it has ended: 10s, or 8s. B asks every 102ms, from 5004ms on.
  CHECK(bench.told == Lines{drift == 0 ? "10516ms B: has it" : "8476ms B: has it"});
  // Histories hear of each change once: A has it, its session ends, B has it.
  std::vector<sim::Effect::Kind> told;
  for (const sim::Effect& effect : bench.world().history().effects) {
    if (effect.kind != sim::Effect::Kind::read) told.push_back(effect.kind);
  }
  CHECK(told == std::vector{sim::Effect::Kind::write, sim::Effect::Kind::expire, sim::Effect::Kind::write});
}

TEST_CASE(
    "consul cluster: who asks for the key while the end of its session is on its way to a quorum has it at once") {
  const sim::Duration when = GENERATE(403_ms, 405_ms);
  ClusterBench bench({});
  // Its end is proposed at 403ms, and a quorum has it at 405ms. What comes in between finds no lock-delay yet, and comes
  // after it in the log.
  bench.client(0, [](ClusterBench&, Client& self) -> sim::Task<void> { co_await acquire(self, 200_ms, 10_s); });
  bench.client(0, [when](ClusterBench& b, Client& self) -> sim::Task<void> {
    auto& server = self.to<Endpoint>();
    const std::optional<Told> created = co_await server.create("dc1", {.lock_delay = 0_ms});
    co_await self.sleep(when - b.world().now().offset());
    const std::optional<Told> told =
        co_await server.write("dc1", {.key = "k", .how = Write::How::acquire, .session = created->session});
    b.note(self, text_of(told));
  });
  bench.run_until(1_s);
  CHECK(bench.told == Lines{when == 403_ms ? "407ms B: true" : "407ms B: false"});
}

TEST_CASE("consul cluster: who has read its log anew begins lock-delays anew") {
  ClusterBench bench({});
  bench.client(0, [](ClusterBench&, Client& self) -> sim::Task<void> { co_await acquire(self, 200_ms, 10_s); });
  // All of them: at first the log has to be committed again.
  for (const std::size_t server : {0u, 1u, 2u}) bench.crash(server, 3_s, 500_ms);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await try_from(b, self, 8_s); });
  bench.run_until(30_s);
  // consul1 stands for election 1s after it was started, and has committed at 4504ms; only then each of them knows that
  // the session has ended. B asks every 104ms, from 8006ms on.
  CHECK(bench.told == Lines{"14564ms B: has it"});
}

TEST_CASE(
    "consul cluster: a blocking query waits at the leader, a stale one where it was asked; both go with their client") {
  ClusterBench bench({});
  for (const Consistency how : {Consistency::standard, Consistency::stale, Consistency::consistent}) {
    bench.client(1, [how](ClusterBench& b, Client& self) -> sim::Task<void> { co_await get(b, self, how, 1); });
  }
  const sim::ProcessId dies =
      bench
          .client(
              1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await get(b, self, Consistency::stale, 1); })
          .id();
  bench.world().plan({.kind = sim::FaultKind::crash, .process = dies, .at = 20_ms});
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(15_ms);
    b.note(self, std::to_string(b[0].blocking()) + " and " + std::to_string(b[1].blocking()));
    co_await self.sleep(15_ms);
    b.note(self, std::to_string(b[0].blocking()) + " and " + std::to_string(b[1].blocking()));
    co_await self.sleep(40_ms);
    co_await put(b, self, "1");
  });
  bench.run_until(200_ms);
  // Committed at 73ms; consul2 hears of that with the next message, at 101ms, and not when it is asked whether consul1
  // leads.
  CHECK(bench.told == Lines{"15ms E: 2 and 2", "30ms E: 2 and 1", "74ms E: put true", "75ms A: default 1 at 2",
                            "77ms C: consistent 1 at 2", "102ms B: stale 1 at 2"});
}

TEST_CASE(
    "consul cluster: of a server that leads no more a consistent blocking query is told so, and a default one hears of "
    "news") {
  ClusterBench bench({});
  bench.cut_off(0, 80_ms, 5_s);
  for (const Consistency how : {Consistency::standard, Consistency::consistent}) {
    bench.client(0, [how](ClusterBench& b, Client& self) -> sim::Task<void> { co_await get(b, self, how, 1); });
  }
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(3_s);
    co_await put(b, self, "1");
  });
  bench.run_until(8_s);
  // Both are answered when consul1 has heard of the write as a follower.
  REQUIRE(bench.told.size() == 3);
  CHECK(bench.told[0] == "3004ms C: put true");
  CHECK(bench.told[1] == "6188ms A: default 1 at 2");
  CHECK(bench.told[2] == "6188ms B: consistent node is not the leader");
}

TEST_CASE("consul cluster: a leader that is cut off gives up with its lease, and with what it could not commit") {
  ClusterBench bench({});
  bench.cut_off(0, 80_ms, 5_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(100_ms);
    co_await put(b, self, "1");
  });
  bench.run_until(12_s);
  // The others have answered at 52ms. It looks at 500ms, at 552ms, when the lease is just not over, and 10ms later.
  CHECK(bench.told == Lines{"563ms A: put no answer"});
  for (std::size_t i = 0; i < 3; ++i) CHECK(bench[i].engine().kvs().empty());
}

TEST_CASE("consul cluster: what a server asked before its crash is not answered to whoever asks it afterwards") {
  ClusterBench bench({});
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    b.note(self, text_of(co_await self.to<Endpoint>().query("dc1", {.key = "other", .index = 1})));
  });
  bench.crash(1, 100_ms, 100_ms);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(300_ms);
    co_await get(b, self, Consistency::standard, 2);
  });
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(400_ms);
    static_cast<void>(co_await self.to<Endpoint>().write("dc1", {.key = "other", .value = "x"}));
    co_await put(b, self, "1");
  });
  bench.run_until(1_s);
  // The leader has the write of k at 405ms, and a quorum has it at 407ms.
  CHECK(bench.told == Lines{"101ms A: no answer", "408ms C: put true", "409ms B: default 1 at 3"});
}

TEST_CASE("consul cluster: a leader that was restarted gives no session the name of another one") {
  ClusterBench bench({});
  bench.client(1, [](ClusterBench&, Client& self) -> sim::Task<void> { co_await acquire(self, 60_s); });
  // It leads again a second after its start.
  bench.crash(0, 100_ms, 1_ms);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(3_s);
    const SessionId session = co_await acquire(self, 60_s);
    const std::optional<Told> told =
        co_await self.to<Endpoint>().write("dc1", {.key = "k", .how = Write::How::acquire, .session = session});
    b.note(self, text_of(told) + (b[0].member().replica().believes_to_lead() ? "" : ", of another leader"));
  });
  bench.run_until(5_s);
  CHECK(bench.told == Lines{"3018ms B: false"});
}

TEST_CASE("consul cluster: a blocking query at a leader that is cut off is sent to the next leader") {
  ClusterBench bench({});
  bench.cut_off(0, 80_ms, 10_s);
  bench.client(
      1, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await get(b, self, Consistency::standard, 1); });
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(3_s);
    co_await put(b, self, "1");
  });
  bench.run_until(6_s);
  CHECK(bench.told == Lines{"3004ms B: put true", "3004ms A: default 1 at 2"});
}

TEST_CASE("consul cluster: a client whose server is dead turns to the next one, and asks again what changes nothing") {
  ClusterBench bench({});
  bench.crash(0, 100_ms, 60_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(3_s);
    auto& server = self.to<Endpoint>();
    std::optional<Told> told = co_await server.query("dc1", {.key = "k"});
    std::size_t failures = 0;
    const bool asks_again = server.asks_again(told, failures);
    if (asks_again) told = co_await server.query("dc1", {.key = "k"});
    b.note(self, text_of(told) + (asks_again ? ", asked again" : ""));
  });
  bench.run_until(5_s);
  // consul2 leads by then.
  CHECK(bench.told == Lines{"3004ms A: nothing at 1, asked again"});
}

TEST_CASE("consul cluster: who knows a leader hears nothing of an election; who has missed the leader deposes it") {
  ClusterBench bench({});
  bench.cut_off(2, 100_ms, 4_s);
  bench.run_until(10_s);
  // It stands for one 1.2s after it has heard the leader at 51ms, and every 1.2s, so that it is in term 4 when it says so
  // to the leader; at 4851ms in term 5 it has the vote of consul1, which knows no leader any more.
  CHECK(bench[0].member().replica().term() == 5);
  CHECK(bench[2].member().replica().believes_to_lead());
}

TEST_CASE("consul cluster: who was started and has heard nobody does not answer stale queries") {
  ClusterBench bench({});
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> { co_await put(b, self, "1"); });
  bench.cut_off(2, 400_ms, 5_s);
  bench.crash(2, 500_ms, 100_ms);
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(700_ms);
    co_await get(b, self, Consistency::stale);
  });
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(6403_ms);
    co_await get(b, self, Consistency::stale);
  });
  bench.run_until(9_s);
  // Nobody leads from 5402ms on, since consul3 is in a later term; consul1 stands for election a second later. consul3
  // has voted for it at 6403ms, so that it answers C though it has applied nothing yet. It hears the leader at 6405ms and
  // sends it what B has asked.
  CHECK(bench.told == Lines{"4ms A: put true", "6405ms C: stale nothing at 1, no leader", "6409ms B: stale 1 at 2"});
}

TEST_CASE("consul cluster: of a query that comes to the same leader twice only the latest is answered") {
  ClusterBench bench({});
  // consul1 leads, then consul2, then consul1 again; the query comes to consul1 at 2ms and, when that leads
  // once more, again. There it waits for 9s anew, while the first one still waits, until 9002ms.
  bench.cut_off(0, 80_ms, 3_s);
  bench.cut_off(1, 5_s, 3_s);
  bench.client(2, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    const std::optional<Told> told = co_await self.to<Endpoint>().query("dc1", {.key = "k", .index = 1, .wait = 9_s});
    b.note(self, text_of(told));
  });
  bench.run_until(30_s);
  // consul2 leads at 2253ms and is heard at 4954ms. consul1 stands for election a second later and another one, leads at
  // 6956ms, and consul3 hears of it a millisecond later, waits for another one, and sends the query at 6958ms.
  CHECK(bench.told == Lines{"15961ms A: nothing at 1"});
}

TEST_CASE("consul cluster: where no message takes time, who is told by its leader that it is none goes on waiting") {
  ClusterBench::Setup setup;
  setup.latency = sim::DurationRange::exactly(0_ms);
  ClusterBench bench(setup);
  // It gives up when it goes on at 700ms; the others take it for the leader until a second after they have heard it.
  bench.pause(0, 100_ms, 600_ms);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(800_ms);
    co_await get(b, self, Consistency::standard);
  });
  bench.run_until(6_s);
  REQUIRE(bench.told.size() == 1);
  CHECK(bench.told[0].ends_with("A: default nothing at 1"));
}

TEST_CASE("consul cluster: what a leader knew when it gave up is as new as that") {
  ClusterBench bench({});
  bench.cut_off(0, 80_ms, 10_s);
  bench.client(0, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await put(b, self, "1");
    co_await self.sleep(996_ms);
    const std::optional<Told> told =
        co_await self.to<Endpoint>().query("dc1", {.key = "k", .consistency = Consistency::stale});
    b.note(self, "last contact " + sim::to_string(told->contact->last) + " ago, " + text_of(told));
  });
  bench.run_until(3_s);
  // It gives up at 562ms.
  CHECK(bench.told == Lines{"4ms A: put true", "1002ms A: last contact 439ms ago, 1 at 2, no leader"});
}

TEST_CASE("consul cluster: each query counts by itself how many servers did not answer it") {
  ClusterBench bench({});
  bench.client(0, [](ClusterBench&, Client& self) -> sim::Task<void> {
    const auto& server = self.to<Endpoint>();
    std::size_t renewal = 0;
    std::size_t watch = 0;
    CHECK(server.asks_again(std::nullopt, renewal));
    CHECK(server.asks_again(std::nullopt, watch));
    CHECK(server.asks_again(std::nullopt, renewal));
    CHECK(!server.asks_again(Told{}, watch));
    CHECK(!server.asks_again(std::nullopt, renewal));
    co_return;
  });
  bench.run_until(10_ms);
}

TEST_CASE("consul cluster: a query that comes to a leader before its server hears that this one was dead") {
  ClusterBench::Setup setup;
  // By its clock consul2 knows its leader for 1.1s, which is 2.75s.
  setup.drifts_ppb = {0, -600'000'000};
  ClusterBench bench(setup);
  // consul1 leads again at 1152ms, with the vote of consul3. At 1400ms it hears the query, and consul2 hears that it was
  // dead, and sends the query once more.
  bench.crash(0, 100_ms, 50_ms);
  bench.part(0, 1, 90_ms, 1400_ms);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(500_ms);
    const std::optional<Told> told = co_await self.to<Endpoint>().query("dc1", {.key = "k", .index = 1, .wait = 9_s});
    b.note(self, text_of(told) + ", blocking " + std::to_string(b[0].blocking()));
  });
  bench.run_until(20_s);
  CHECK(bench.told == Lines{"10405ms A: nothing at 1, blocking 0"});
}

TEST_CASE("consul cluster: a candidate in an earlier term hears of the later one from who knows a leader") {
  ClusterBench bench({});
  // consul2 leads in term 3. consul1 comes back in term 1, and does not hear it.
  bench.crash(0, 100_ms, 2900_ms);
  bench.part(0, 1, 2_s, 9_s);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(4500_ms);
    for (std::size_t i = 0; i < 2; ++i) b.note(self, "term " + std::to_string(b[i].member().replica().term()));
  });
  bench.run_until(4600_ms);
  // It stands for election at 4s, in term 2.
  CHECK(bench.told == Lines{"4.5s A: term 3", "4.5s A: term 3"});
}

TEST_CASE("consul cluster: a query whose leader does not answer has no answer either when its time is over") {
  ClusterBench::Setup setup;
  setup.settings.rpc_hold_timeout = 1_s;
  ClusterBench bench(setup);
  bench.pause(0, 100_ms, 9_s);
  bench.client(1, [](ClusterBench& b, Client& self) -> sim::Task<void> {
    co_await self.sleep(150_ms);
    co_await get(b, self, Consistency::standard);
  });
  bench.run_until(12_s);
  // consul2 has heard the leader at 51ms, and leads at 2253ms.
  CHECK(bench.told == Lines{"2254ms A: default no answer"});
}

}  // namespace lockstep::models::consul::cluster_test
