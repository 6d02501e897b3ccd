// Consul's lock and semaphore send the requests of their sources, in their order; what comes between them decides who
// has it.

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include "models/locks/steps_testing.hpp"

namespace lockstep::models::locks::consul_steps_test {

using namespace sim::literals;
using testing::Bench;
using testing::Steps;

namespace {

/// Sessions of 4s; a wait of none is one for ever.
Bench with_session(std::string_view algorithm, std::vector<std::pair<std::string_view, ParameterValue>> more = {}) {
  std::vector<std::pair<std::string_view, ParameterValue>> set{{"ttl", 4_s}, {"wait", 0_ms}};
  set.insert(set.end(), more.begin(), more.end());
  return Bench(algorithm, std::move(set));
}

std::ptrdiff_t count(const Steps& steps, std::string_view step) { return std::count(steps.begin(), steps.end(), step); }

}  // namespace

TEST_CASE("consul-lock: the first one creates a session, looks, and acquires the key; it leaves by releasing it") {
  Bench bench = with_session("consul-lock");
  const auto a = bench.client(0_ms, 10_ms);
  bench.run();
  CHECK(bench.talk_of(a) == Steps{"SESSION_CREATE ttl=4s lock-delay=15s behavior=release", "-> session 1", "GET lock",
                                  "-> index 1", "PUT lock acquire=1", "-> true", "PUT lock release=1", "-> true"});
  CHECK(bench.count("GET lock consistent") == 1);
  CHECK(bench.count("SESSION_DESTROY 1") == 1);
  CHECK(bench.grants() == Steps{"A 6ms"});
}

TEST_CASE("consul-lock: who finds the key acquired waits for it to change, and has it at once after a release") {
  Bench bench = with_session("consul-lock");
  bench.client(0_ms, 50_ms);
  const auto b = bench.client(10_ms, 10_ms);
  bench.run();
  CHECK(bench.talk_of(b) == Steps{"SESSION_CREATE ttl=4s lock-delay=15s behavior=release", "-> session 3", "GET lock",
                                  "-> index 3; lock created at 3, modified at 3, locked 1, session 1",
                                  "GET lock index=3 wait=15s", "-> index 5; lock created at 3, modified at 5, locked 1",
                                  "PUT lock acquire=3", "-> true", "PUT lock release=3", "-> true"});
  // A's release arrives at 57ms.
  CHECK(bench.grants() == Steps{"A 6ms", "B 60ms"});
}

TEST_CASE("consul-lock: all who wait hear of a release, one of them gets the key, and the others wait for it") {
  Bench bench = with_session("consul-lock");
  bench.client(0_ms, 100_ms);
  const auto b = bench.client(10_ms, 100_ms);
  const auto c = bench.client(20_ms, 100_ms);
  bench.run();
  CHECK(bench.grants() == Steps{"A 6ms", "B 110ms", "C 214ms"});
  CHECK(count(bench.sent_by(b), "PUT") == 2);
  // Once in vain, and then it looks who has it.
  CHECK(bench.sent_by(c) == Steps{"SESSION_CREATE", "GET", "GET", "PUT", "GET", "GET", "PUT", "PUT"});
}

TEST_CASE("consul-lock: until #1008 whoever came too late slept for 5s, also when the lock was free before that") {
  Bench bench = with_session("consul-lock", {{"asks_why", false}});
  bench.client(0_ms, 100_ms);
  bench.client(10_ms, 100_ms);
  bench.client(20_ms, 100_ms);
  bench.run();
  CHECK(bench.grants() == Steps{"A 6ms", "B 110ms", "C 5114ms"});
}

TEST_CASE("consul-lock: a session is renewed every half of its TTL for as long as the lock is held") {
  Bench bench = with_session("consul-lock");
  bench.client(0_ms, 19'500_ms);
  bench.client(5_s, 10_ms);
  bench.run();
  CHECK(bench.grants() == Steps{"A 6ms", "B 19.51s"});
  // Each 2s after the answer to the one before.
  CHECK(bench.count("SESSION_RENEW 1") == 9);
}

TEST_CASE("consul-lock: after the death of the holder comes twice the TTL, the lock-delay, and up to 5s more") {
  Bench bench = with_session("consul-lock");
  const auto a = bench.client(0_ms, 1_s);
  const auto b = bench.client(100_ms, 10_ms);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = a, .at = 500_ms});
  bench.run();
  // The session ends at 8001ms, the lock-delay at 23001ms. B asks at 8003ms, and then every 5006ms.
  CHECK(bench.grants() == Steps{"A 6ms", "B 23022ms"});
  CHECK(count(bench.sent_by(b), "PUT") == 5);
}

TEST_CASE("consul-lock: without a lock-delay it comes back when the session ends") {
  Bench bench = with_session("consul-lock", {{"lock_delay", 0_ms}});
  const auto a = bench.client(0_ms, 1_s);
  bench.client(100_ms, 10_ms);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = a, .at = 500_ms});
  bench.run();
  CHECK(bench.grants() == Steps{"A 6ms", "B 8004ms"});
}

TEST_CASE("consul-lock: the holder hears that it is lost, and then ends its session") {
  Bench bench = with_session("consul-lock", {{"lock_delay", 0_ms}});
  const auto a = bench.client(0_ms, 30_s);
  bench.client(100_ms, 50_s);
  bench.world().plan({.kind = sim::FaultKind::pause, .process = a, .length = 10_s, .at = 500_ms});
  bench.run();
  CHECK(bench.grants() == Steps{"A 6ms", "B 8004ms"});
  std::string lost;
  for (const sim::Operation& operation : bench.world().history().operations) {
    if (operation.function == "lost")
      lost = bench.world().name(operation.process) + " " + to_string(operation.invoked.offset());
  }
  CHECK(lost == "A 10.5s");
  CHECK(bench.count("PUT lock release=1") == 1);
}

TEST_CASE("consul-lock: whoever has waited for as long as it wants to gives up when its query is over") {
  Bench bench = with_session("consul-lock", {{"wait", 500_ms}});
  bench.client(0_ms, 2_s);
  const auto b = bench.client(10_ms, 10_ms);
  bench.run();
  CHECK(bench.grants() == Steps{"A 6ms"});
  CHECK(bench.sent_by(b) == Steps{"SESSION_CREATE", "GET", "GET"});
  CHECK(bench.count("SESSION_DESTROY 3") == 1);
}

TEST_CASE("consul-lock: the sequencer is the LockIndex") {
  Bench bench = with_session("consul-lock", {{"sequencer", true}});
  bench.client(0_ms, 50_ms);
  bench.client(10_ms, 10_ms);
  bench.run();
  std::vector<std::int64_t> tokens;
  for (const sim::Operation& operation : bench.world().history().operations) {
    if (operation.function == "acquire") tokens.push_back(operation.value.value_or(0));
  }
  CHECK(tokens == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("consul-lock: how it looks is for its user to say, how it watches is not") {
  Bench bench = with_session("consul-lock", {{"reads", std::string("stale")}});
  bench.client(0_ms, 50_ms);
  const auto b = bench.client(10_ms, 10_ms);
  bench.run();
  CHECK(count(bench.talk_of(b), "GET lock stale") == 1);
  CHECK(count(bench.talk_of(b), "GET lock index=3 wait=15s stale") == 1);
  CHECK(bench.count("GET lock consistent") == 2);
}

TEST_CASE("consul-lock: its watch survives as many errors in a row as it is told to") {
  const std::int64_t retries = GENERATE(0, 1);
  Bench bench = with_session("consul-lock", {{"monitor_retries", retries}, {"monitor_retry_time", 1_s}});
  bench.client(0_ms, 8_s);
  for (const sim::Duration at : {1_s, 4_s}) {
    sim::PlannedFault crash{.kind = sim::FaultKind::crash, .process = bench.server()};
    crash.restart_after = sim::DurationRange::exactly(5_ms);
    crash.at = at;
    bench.world().plan(crash);
  }
  bench.run();
  const auto& operations = bench.world().history().operations;
  const auto lost = std::count_if(operations.begin(), operations.end(),
                                  [](const sim::Operation& each) { return each.function == "lost"; });
  CHECK(lost == (retries == 0 ? 1 : 0));
  // At first without an index, whenever it begins anew.
  CHECK(bench.count("GET lock consistent") == (retries == 0 ? 1 : 3));
}

TEST_CASE("consul-lock: nobody answers for a datacentre that is not there") {
  Bench bench = with_session("consul-lock", {{"datacentre", std::string("dc2")}});
  bench.client(0_ms, 50_ms);
  bench.run();
  CHECK(bench.grants().empty());
}

TEST_CASE("consul-semaphore: a key of one's own, and a place in the list") {
  Bench bench = with_session("consul-semaphore");
  const auto a = bench.client(0_ms, 10_ms);
  bench.run();
  CHECK(bench.talk_of(a) ==
        Steps{"SESSION_CREATE ttl=4s lock-delay=15s behavior=delete", "-> session 1", "PUT lock/1 acquire=1", "-> true",
              "GET lock recurse", "-> index 3; lock/1 created at 3, modified at 3, locked 1, session 1",
              "PUT lock/.lock cas=0 {\"Limit\":1,\"Holders\":{\"1\":true}}", "-> true", "GET lock/.lock",
              "-> index 4; lock/.lock = {\"Limit\":1,\"Holders\":{\"1\":true}} created at 4, modified at 4",
              "PUT lock/.lock cas=4 {\"Limit\":1,\"Holders\":{}}", "-> true", "DELETE lock/1", "-> true"});
  CHECK(bench.count("SESSION_DESTROY 1") == 1);
}

TEST_CASE("consul-semaphore: as many as the limit hold it at once; whoever waits hears of a place that is free") {
  Bench bench = with_session("consul-semaphore", {{"limit", std::int64_t{2}}});
  for (int i = 0; i < 4; ++i) bench.client(sim::Duration::milliseconds(20 * i), 200_ms);
  bench.run();
  CHECK(bench.grants() == Steps{"A 8ms", "B 28ms", "C 214ms", "D 234ms"});
}

TEST_CASE("consul-semaphore: the place of the dead comes back when its session ends, without a lock-delay") {
  Bench bench = with_session("consul-semaphore");
  const auto a = bench.client(0_ms, 1_s);
  bench.client(100_ms, 10_ms);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = a, .at = 500_ms});
  bench.run();
  CHECK(bench.grants() == Steps{"A 8ms", "B 8004ms"});
}

TEST_CASE("consul-semaphore: whoever is told of another limit than the first one has not got it") {
  Bench bench = with_session("consul-semaphore", {{"limit", std::int64_t{1}}, {"own_limit", std::int64_t{3}}});
  bench.client(0_ms, 10_ms);
  bench.run();
  CHECK(bench.count("PUT lock/.lock cas=0 {\"Limit\":3,\"Holders\":{\"1\":true}}") == 1);
}

}  // namespace lockstep::models::locks::consul_steps_test
