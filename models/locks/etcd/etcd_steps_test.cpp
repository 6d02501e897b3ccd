// etcd's mutex sends the requests of its source, in their order; what comes between them decides who has it.

#include <catch2/catch.hpp>

#include "models/locks/steps_testing.hpp"

namespace lockstep::models::locks::etcd_steps_test {

using namespace sim::literals;
using testing::Bench;
using testing::Steps;

namespace {

/// Sessions of 3s; a wait of none is one for ever.
Bench with_session(std::string_view algorithm, sim::Duration wait = 0_ms) {
  return Bench(algorithm, {{"ttl", 3_s}, {"wait", wait}});
}

}  // namespace

TEST_CASE("etcd-mutex: the first one enters with one transaction, and leaves by deleting its key") {
  Bench bench = with_session("etcd-mutex");
  const auto a = bench.client(0_ms, 10_ms);
  bench.run();
  CHECK(bench.talk_of(a) ==
        Steps{"LEASE_GRANT 3s", "-> lease 1",
              "TXN if create(lock/1) = 0 then PUT lock/1 lease 1, RANGE lock/..lock0 first by create limit 1 else "
              "RANGE lock/1, RANGE lock/..lock0 first by create limit 1",
              "-> revision 2, succeeded [at 2] [at 2, 1 in all; lock/1 created at 2, modified at 2, version 1, \"\", "
              "lease 1]",
              "DELETE_RANGE lock/1", "-> revision 3 [at 3, 1 deleted]", "LEASE_REVOKE 1", "-> revoked"});
  CHECK(bench.world().history().operations.front().value == 2);
}

TEST_CASE("etcd-mutex: who comes second waits for the key before its own, and looks for its own afterwards") {
  const std::string algorithm = GENERATE("etcd-mutex", "etcd-mutex-pre34");
  Bench bench = with_session(algorithm);
  bench.client(0_ms, 50_ms);
  const auto b = bench.client(10_ms, 10_ms);
  bench.run();
  Steps expected{"LEASE_GRANT", "TXN", "RANGE", "WATCH", "RANGE"};
  if (algorithm == "etcd-mutex") expected.push_back("RANGE");
  expected.insert(expected.end(), {"DELETE_RANGE", "LEASE_REVOKE"});
  CHECK(bench.sent_by(b) == expected);
  // A's release arrives at 55ms.
  CHECK(bench.grants() == Steps{"A 4ms", algorithm == "etcd-mutex" ? "B 60ms" : "B 58ms"});
}

TEST_CASE("etcd-mutex: of many who wait each is woken by the one before it alone") {
  Bench bench = with_session("etcd-mutex");
  std::vector<sim::ProcessId> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(bench.client(sim::Duration::milliseconds(10 * i), 100_ms));
  bench.run();
  CHECK(bench.grants() == Steps{"A 4ms", "B 110ms", "C 216ms", "D 322ms", "E 428ms"});
  for (std::size_t i = 1; i < clients.size(); ++i) {
    const Steps sent = bench.sent_by(clients[i]);
    CHECK(std::count(sent.begin(), sent.end(), "WATCH") == 1);
  }
}

TEST_CASE("etcd-mutex: a session is kept alive every third of its time to live for as long as the lock is held") {
  Bench bench = with_session("etcd-mutex");
  bench.client(0_ms, 9500_ms);
  bench.client(5_s, 10_ms);
  bench.run();
  CHECK(bench.grants() == Steps{"A 4ms", "B 9.51s"});
  // Each a second after the answer to the one before.
  CHECK(bench.count("LEASE_KEEP_ALIVE 1") == 9);
  CHECK(bench.count("LEASE_KEEP_ALIVE 3") == 4);
}

TEST_CASE("etcd-mutex: whoever has waited for as long as it wants to takes its key back") {
  Bench bench = with_session("etcd-mutex", 50_ms);
  bench.client(0_ms, 1_s);
  const auto b = bench.client(10_ms, 10_ms);
  bench.client(30_ms, 10_ms);
  bench.run();
  CHECK(bench.grants() == Steps{"A 4ms"});
  CHECK(bench.sent_by(b) == Steps{"LEASE_GRANT", "TXN", "RANGE", "WATCH", "DELETE_RANGE", "LEASE_REVOKE"});
}

TEST_CASE("etcd-mutex: a waiter whose session has ended takes the lock only where it does not look for its key") {
  const std::string algorithm = GENERATE("etcd-mutex", "etcd-mutex-pre34");
  Bench bench = with_session(algorithm);
  bench.client(0_ms, 5_s);
  const auto b = bench.client(100_ms, 10_ms);
  bench.world().plan({.kind = sim::FaultKind::pause, .process = b, .length = 6_s, .at = 200_ms});
  bench.run();
  const bool is_checked = algorithm == "etcd-mutex";
  CHECK(bench.grants() == (is_checked ? Steps{"A 4ms"} : Steps{"A 4ms", "B 6202ms"}));
}

TEST_CASE("etcd-mutex: until 3.3.10 a turn that came as the context ended was a lock without a key") {
  for (const bool unlocks : {false, true}) {
    INFO(unlocks);
    Bench bench("etcd-mutex", {{"ttl", 3_s}, {"wait", 100_ms}, {"unlocks_when_late", unlocks}});
    bench.client(0_ms, 100_ms);
    const auto b = bench.client(7_ms, 200_ms);
    bench.client(30_ms, 10_ms);
    bench.run();
    // B's context ends at 107ms, and the answer that nobody is before it comes at 108ms.
    CHECK(bench.grants() == (unlocks ? Steps{"A 4ms", "B 110ms", "C 114ms"} : Steps{"A 4ms", "B 110ms"}));
    const Steps sent = bench.sent_by(b);
    CHECK(std::count(sent.begin(), sent.end(), "DELETE_RANGE") == (unlocks ? 2 : 1));
  }
}

TEST_CASE("etcd-mutex: until #11458 a key that could not be deleted after a failed wait was a lock") {
  for (const bool ends : {false, true}) {
    INFO(ends);
    Bench bench("etcd-mutex", {{"ttl", 3_s}, {"wait", 5_s}, {"ends_with_error", ends}});
    bench.client(0_ms, 500_ms);
    const auto b = bench.client(100_ms, 10_ms, 0, 50_ms);
    bench.world().plan({.kind = sim::FaultKind::lose, .process = b, .step = "RANGE", .occurrence = 1});
    bench.world().plan({.kind = sim::FaultKind::lose, .process = b, .step = "DELETE_RANGE", .occurrence = 1});
    bench.run();
    // RANGE at 104ms, DELETE_RANGE at 154ms, and the own key is there at 206ms.
    CHECK(bench.grants() == (ends ? Steps{"A 4ms"} : Steps{"A 4ms", "B 206ms"}));
  }
}

TEST_CASE("etcd-mutex: a lease of whoever dies ends, and so does its place") {
  Bench bench = with_session("etcd-mutex");
  const auto a = bench.client(0_ms, 1_s);
  bench.client(100_ms, 10_ms);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = a, .at = 500_ms});
  bench.run();
  CHECK(bench.grants() == Steps{"A 4ms", "B 3006ms"});
}

TEST_CASE("etcd-mutex: after a restart of the server leases count from the beginning, and a watch is asked for again") {
  Bench bench = with_session("etcd-mutex");
  const auto a = bench.client(0_ms, 10_s);
  const auto b = bench.client(100_ms, 10_ms);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = a, .at = 300_ms});
  sim::PlannedFault fault{.kind = sim::FaultKind::crash, .process = sim::ProcessId{}, .at = 500_ms};
  fault.process = bench.world().server_of(sim::ConnectionId{0});
  fault.restart_after = sim::DurationRange::exactly(50_ms);
  bench.world().plan(fault);
  bench.run();
  const Steps sent = bench.sent_by(b);
  CHECK(std::count(sent.begin(), sent.end(), "WATCH") >= 2);
  CHECK(bench.grants() == Steps{"A 4ms", "B 3555ms"});
}

}  // namespace lockstep::models::locks::etcd_steps_test
