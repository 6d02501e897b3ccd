// ZooKeeper's locks send the requests of their sources, in their order; what comes between them decides who has it.

#include <catch2/catch.hpp>

#include "models/locks/steps_testing.hpp"

namespace lockstep::models::locks::zookeeper_steps_test {

using namespace sim::literals;
using testing::Bench;
using testing::Steps;

namespace {

/// Sessions of 3s; a wait of none is one for ever.
Bench with_session(std::string_view algorithm, sim::Duration wait = 0_ms) {
  return Bench(algorithm, {{"session_timeout", 3_s}, {"wait", wait}});
}

Settings with_nodes(const std::string& nodes) {
  Settings settings;
  settings.set("nodes", nodes);
  return settings;
}

/// By anybody, in the background as well.
std::ptrdiff_t deletions(Bench& bench) {
  const auto& records = bench.world().trace().records;
  return std::count_if(records.begin(), records.end(), [](const sim::TraceRecord& record) {
    return record.kind == sim::EventKind::message && !record.is_reply && record.text.starts_with("DELETE ");
  });
}

const std::vector<std::string> kQueues{"zk-sequential", "curator-mutex", "kazoo-lock"};

}  // namespace

TEST_CASE("zk-ephemeral-create: the first one creates the node, and deletes it") {
  Bench bench = with_session("zk-ephemeral-create");
  const auto a = bench.client(0_ms, 10_ms);
  bench.run();
  CHECK(bench.talk_of(a) == Steps{"CONNECT for 3s", "-> session 1 for 3s", "CREATE /lock ephemeral with stat",
                                  "-> zxid 6: /lock, czxid 6 mzxid 6 pzxid 6 version 0 cversion 0 owner 1",
                                  "DELETE /lock", "-> zxid 7: OK", "CLOSE_SESSION", "-> zxid 8: OK"});
  CHECK(bench.world().history().operations.front().value == 6);
}

TEST_CASE("zk-ephemeral-create: all that wait are woken by each release, and all but one wait again") {
  Bench bench = with_session("zk-ephemeral-create");
  constexpr int kClients = 5;
  for (int i = 0; i < kClients; ++i) bench.client(sim::Duration::milliseconds(10 * i), 100_ms);
  bench.run();
  CHECK(bench.grants().size() == kClients);
  CHECK(bench.count("EXISTS /lock watch") == 4 + 3 + 2 + 1);
}

TEST_CASE("ZooKeeper's locks: notifications per release grow with those that wait, or are one, as in a queue") {
  for (const int clients : {2, 8, 64}) {
    for (const char* algorithm : {"zk-ephemeral-create", "zk-sequential", "curator-mutex", "kazoo-lock"}) {
      INFO(algorithm << ", " << clients << " clients");
      Bench bench = with_session(algorithm);
      // All come while the first one has it.
      for (int i = 0; i < clients; ++i) bench.client(sim::Duration::milliseconds(i), 500_ms);
      bench.run();
      CHECK(bench.grants().size() == static_cast<std::size_t>(clients));
      const auto& records = bench.world().trace().records;
      const auto notified = std::count_if(records.begin(), records.end(), [](const sim::TraceRecord& record) {
        return record.kind == sim::EventKind::message && record.name == "NOTIFICATION";
      });
      const bool is_herd = std::string_view(algorithm) == "zk-ephemeral-create";
      // The last release finds nobody; the first one all others, and so on.
      CHECK(notified == (is_herd ? clients * (clients - 1) / 2 : clients - 1));
    }
  }
}

TEST_CASE("zk-sequential: the first one looks who is before it, and finds nobody") {
  Bench bench = with_session("zk-sequential");
  const auto a = bench.client(0_ms, 10_ms);
  bench.run();
  CHECK(bench.sent_by(a) == Steps{"CONNECT", "CREATE", "GET_CHILDREN", "DELETE", "CLOSE_SESSION"});
  CHECK(bench.grants() == Steps{"A 6ms"});
}

TEST_CASE("ZooKeeper's queues: of many who wait each is woken by the one before it alone") {
  const std::string algorithm = GENERATE(from_range(kQueues));
  Bench bench = with_session(algorithm);
  std::vector<sim::ProcessId> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(bench.client(sim::Duration::milliseconds(10 * i), 100_ms));
  bench.run();
  REQUIRE(bench.grants().size() == clients.size());
  for (std::size_t i = 0; i < clients.size(); ++i) {
    CHECK(bench.grants()[i].starts_with(std::string(1, static_cast<char>('A' + i))));
    const Steps sent = bench.sent_by(clients[i]);
    // Each looks once when it comes and, if it has to wait, once more.
    CHECK(std::count(sent.begin(), sent.end(), "GET_CHILDREN") == (i == 0 ? 1 : 2));
  }
}

TEST_CASE("ZooKeeper's locks: a session is pinged every third of its timeout for as long as the lock is held") {
  Bench bench = with_session("zk-sequential");
  bench.client(0_ms, 9500_ms);
  bench.client(5_s, 10_ms);
  bench.run();
  REQUIRE(bench.grants().size() == 2);
  CHECK(bench.grants()[1] == "B 9.51s");
  // Each a second after the answer to the one before: of A from 1002ms on, of B from 6002ms on.
  CHECK(bench.count("PING") == 9 + 4);
}

TEST_CASE("ZooKeeper's queues: whoever has waited for as long as it wants to takes its node back") {
  const std::string algorithm = GENERATE(from_range(kQueues));
  Bench bench = with_session(algorithm, 50_ms);
  bench.client(0_ms, 1_s);
  const auto b = bench.client(10_ms, 10_ms);
  bench.client(1500_ms, 10_ms);
  bench.run();
  const Steps sent = bench.sent_by(b);
  CHECK(std::count(sent.begin(), sent.end(), "DELETE") == 1);
  REQUIRE(bench.grants().size() == 2);
  CHECK(bench.grants()[1].starts_with("C"));
}

TEST_CASE("ZooKeeper's locks: a session of whoever dies ends, and so does its place") {
  const std::string algorithm = GENERATE("zk-ephemeral-create", "zk-sequential", "curator-mutex", "kazoo-lock");
  Bench bench = with_session(algorithm);
  const auto a = bench.client(0_ms, 1_s);
  bench.client(100_ms, 10_ms);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = a, .at = 500_ms});
  bench.run();
  // 3s after A's last request; B hears of it 1ms later, and asks once more.
  const std::string expected = algorithm == "zk-ephemeral-create" ? "B 3006ms"
                               : algorithm == "kazoo-lock"        ? "B 3.01s"
                                                                  : "B 3008ms";
  CHECK(bench.grants() == Steps{algorithm == "zk-ephemeral-create" ? "A 4ms"
                                : algorithm == "kazoo-lock"        ? "A 8ms"
                                                                   : "A 6ms",
                                expected});
}

TEST_CASE("ZooKeeper's queues: a waiter whose session has ended does not take the lock") {
  const std::string algorithm = GENERATE(from_range(kQueues));
  Bench bench = with_session(algorithm, 10_s);
  bench.client(0_ms, 5_s);
  const auto b = bench.client(100_ms, 10_ms);
  bench.client(5100_ms, 3_s);
  bench.world().plan({.kind = sim::FaultKind::pause, .process = b, .length = 6_s, .at = 200_ms});
  bench.run();
  // C has it from 5.1s until 8.1s. Curator's and kazoo's clients create another node when theirs is gone.
  const bool comes_again = algorithm != "zk-sequential";
  REQUIRE(bench.grants().size() == (comes_again ? 3 : 2));
  CHECK(bench.grants().back().starts_with("C 51"));
  INFO(bench.grants()[1]);
  if (comes_again) CHECK((bench.grants()[1].starts_with("B 811") || bench.grants()[1] == "B 8.11s"));
}

TEST_CASE("zk-sequential: a waiter that does not look again takes a lock that another has") {
  Bench bench("zk-sequential", {{"session_timeout", 3_s}, {"wait", 0_ms}, {"looks_again", false}});
  bench.client(0_ms, 2200_ms);
  const auto b = bench.client(100_ms, 200_ms);
  bench.client(5300_ms, 3_s);
  bench.world().plan({.kind = sim::FaultKind::pause, .process = b, .length = 3500_ms, .at = 2100_ms});
  bench.run();
  REQUIRE(bench.grants().size() == 3);
  CHECK(bench.grants() == Steps{"A 6ms", "B 5.6s", "C 5306ms"});
}

TEST_CASE(
    "ZooKeeper's locks: a server that comes back has the nodes, and its clients connect anew within their session") {
  const std::string algorithm = GENERATE("zk-ephemeral-create", "zk-sequential", "curator-mutex", "kazoo-lock");
  Bench bench = with_session(algorithm);
  bench.client(0_ms, 2_s);
  bench.client(100_ms, 10_ms);
  sim::PlannedFault fault{.kind = sim::FaultKind::crash, .process = sim::ProcessId{}, .at = 500_ms};
  fault.process = bench.world().server_of(sim::ConnectionId{0});
  fault.restart_after = sim::DurationRange::exactly(50_ms);
  bench.world().plan(fault);
  bench.run();
  for (const char* again : {"CONNECT session 1", "CONNECT session 3"}) CHECK(bench.count(again) == 1);
  REQUIRE(bench.grants().size() == 2);
  INFO(bench.grants()[1]);
  CHECK((bench.grants()[1].starts_with("B 20") || bench.grants()[1] == "B 2.01s"));
}

TEST_CASE(
    "curator-mutex: a thread that has it takes it again without a request, and the last release deletes the node") {
  const std::string algorithm = "curator-mutex";
  Bench bench = with_session(algorithm);
  const auto a = bench.client(0_ms, 10_ms, 2);
  bench.run();
  CHECK(bench.sent_by(a) == Steps{"CONNECT", "CREATE", "GET_CHILDREN", "DELETE", "CLOSE_SESSION"});
}

TEST_CASE(
    "ZooKeeper's queues: a client that did not hear of its own creation blocks itself, unless it finds its node") {
  const std::string algorithm = GENERATE(from_range(kQueues));
  Bench bench = with_session(algorithm, 100_ms);
  const auto a = bench.client(0_ms, 10_ms, 0, 50_ms);
  bench.world().plan({.kind = sim::FaultKind::lose, .process = a, .step = "CREATE", .occurrence = 1, .of_reply = true});
  bench.client(1_s, 10_ms);
  bench.client(4_s, 10_ms);
  bench.run();
  // It lives as long as A's session, which nobody closes since its connection was lost.
  if (algorithm == "zk-sequential") CHECK(bench.grants() == Steps{"C 4006ms"});
  if (algorithm != "zk-sequential") CHECK(bench.grants().size() == 3);
}

// What their predecessors did wrong.

TEST_CASE("curator-mutex: until 1.1.2 a thread whose release failed took the lock again without a request") {
  for (const bool forgets : {false, true}) {
    INFO(forgets);
    Bench bench("curator-mutex", {{"session_timeout", 3_s}, {"forgets_hold", forgets}});
    const auto a = bench.client(0_ms, 10_ms, 0, 50_ms);
    bench.world().plan(
        {.kind = sim::FaultKind::lose, .process = a, .step = "DELETE", .occurrence = 1, .of_reply = true});
    bench.run();
    // The second DELETE finds no node, and that was an error.
    CHECK(deletions(bench) == 2);
    const sim::Operation& release = bench.world().history().operations.back();
    CHECK(release.function == "release");
    CHECK((release.phase == sim::Phase::ok) == forgets);
  }
}

TEST_CASE("kazoo-lock: before 2.0 nobody woke a waiter whose connection was lost and made anew") {
  for (const bool watches : {false, true}) {
    INFO(watches);
    Bench bench("kazoo-lock", {{"session_timeout", 3_s}, {"wait", 5_s}, {"watches_session", watches}});
    bench.client(0_ms, 2500_ms);
    const auto b = bench.client(100_ms, 10_ms, 0, 50_ms);
    bench.world().plan({.kind = sim::FaultKind::lose, .process = b, .step = "PING", .occurrence = 1});
    bench.run();
    CHECK(bench.grants() == (watches ? Steps{"A 8ms", "B 2512ms"} : Steps{"A 8ms"}));
  }
}

TEST_CASE(
    "zk-sequential: a client whose predecessor goes between its look and its watch waits in vain, or looks again") {
  for (const bool waits : {false, true}) {
    INFO(waits);
    Bench bench("zk-sequential", {{"session_timeout", 3_s}, {"wait", 300_ms}, {"waits_for_gone", waits}});
    bench.client(0_ms, 20_ms);
    bench.client(21_ms, 10_ms);
    bench.run();
    // A's DELETE arrives at 27ms, B's EXISTS at 28ms.
    CHECK(bench.grants() == (waits ? Steps{"A 6ms"} : Steps{"A 6ms", "B 31ms"}));
  }
}

// The requests of Curator 5.4.0, as a recording of it at a ZooKeeper 3.8.0 has them (the nodes above are there).

TEST_CASE("curator-semaphore-v2: the mutex, the own lease, a look, and the mutex is given back") {
  Bench bench("curator-semaphore-v2", {{"session_timeout", 3_s}, {"wait", 300_ms}},
              with_nodes("/locks/lock/locks /locks/lock/leases"));
  const auto a = bench.client(0_ms, 1_s);
  const auto b = bench.client(100_ms, 10_ms);
  const auto c = bench.client(900_ms, 10_ms);
  bench.run();
  CHECK(bench.sent_by(a) ==
        Steps{"CONNECT", "CREATE", "GET_CHILDREN", "CREATE", "GET_CHILDREN", "DELETE", "DELETE", "CLOSE_SESSION"});
  CHECK(bench.grants() == Steps{"A 12ms", "C 1018ms"});
  // Whoever waits in vain deletes its lease, and then the mutex' node.
  CHECK(bench.sent_by(b) == Steps{"CONNECT", "CREATE", "GET_CHILDREN", "CREATE", "GET_CHILDREN", "GET_CHILDREN",
                                  "DELETE", "DELETE", "CLOSE_SESSION"});
  // Whoever waits has the mutex, and looks again when a lease is deleted.
  CHECK(bench.sent_by(c) == Steps{"CONNECT", "CREATE", "GET_CHILDREN", "CREATE", "GET_CHILDREN", "GET_CHILDREN",
                                  "DELETE", "DELETE", "CLOSE_SESSION"});
}

TEST_CASE("curator-semaphore-v2: as many as there are leases hold it, and one more waits") {
  Bench bench("curator-semaphore-v2", {{"session_timeout", 3_s}, {"wait", 0_ms}, {"leases", std::int64_t{2}}});
  for (int i = 0; i < 3; ++i) bench.client(sim::Duration::milliseconds(100 * i), 1_s);
  bench.run();
  REQUIRE(bench.grants().size() == 3);
  CHECK(bench.grants()[1].starts_with("B 11"));
  CHECK(bench.grants()[2].starts_with("C 10"));
}

TEST_CASE("curator-rwlock: readers share, a writer waits for the one just before it, readers for the first writer") {
  Bench bench = with_session("curator-rwlock");
  const auto a = bench.client(0_ms, 1_s);
  bench.latest_reads();
  const auto b = bench.client(100_ms, 1_s);
  bench.latest_reads();
  const auto c = bench.client(200_ms, 500_ms);
  const auto d = bench.client(300_ms, 10_ms);
  bench.latest_reads();
  bench.run();
  const Steps alone{"CONNECT", "CREATE", "GET_CHILDREN", "DELETE", "CLOSE_SESSION"};
  for (const auto reader : {a, b}) {
    Steps sent = bench.sent_by(reader);
    std::erase(sent, "PING");
    CHECK(sent == alone);
  }
  const Steps waits{"CONNECT", "CREATE", "GET_CHILDREN", "GET_DATA", "GET_CHILDREN", "DELETE", "CLOSE_SESSION"};
  for (const auto waiter : {c, d}) {
    Steps sent = bench.sent_by(waiter);
    std::erase(sent, "PING");
    CHECK(sent == waits);
  }
  // B gives its node back at 1107ms, and C hears of it at 1108ms; C at 1611ms.
  CHECK(bench.grants() == Steps{"A 6ms", "B 106ms", "C 1.11s", "D 1614ms"});
}

TEST_CASE("curator-rwlock: whoever writes may read as well; with the number of its own writing nobody comes between") {
  for (const bool keeps_number : {false, true}) {
    INFO(keeps_number);
    Bench bench("curator-rwlock", {{"session_timeout", 3_s}, {"writes_first", true}, {"keeps_number", keeps_number}});
    const auto a = bench.client(0_ms, 20_ms);
    bench.latest_reads();
    bench.client(3_ms, 10_ms);
    bench.run();
    CHECK(bench.sent_by(a) ==
          Steps{"CONNECT", "CREATE", "GET_CHILDREN", "CREATE", "GET_CHILDREN", "DELETE", "DELETE", "CLOSE_SESSION"});
    CHECK(bench.grants() == Steps{"A 12ms", keeps_number ? "B 36ms" : "B 14ms"});
  }
}

}  // namespace lockstep::models::locks::zookeeper_steps_test
