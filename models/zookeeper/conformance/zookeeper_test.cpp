// What the engine says, a real ZooKeeper 3.8 says as well. Without one it says SKIPPED.

#include <catch2/catch.hpp>

#include <iostream>
#include <memory>
#include <string>

#include <unistd.h>

#include "models/zookeeper/conformance/comparison.hpp"
#include "models/zookeeper/conformance/real_zookeeper.hpp"
#include "models/zookeeper/conformance/steps.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::zookeeper::conformance {
namespace {

std::unique_ptr<RealZooKeeper> started(int tick_milliseconds = 2'000) {
  std::string why;
  auto server = RealZooKeeper::start(why, tick_milliseconds);
  if (server == nullptr) {
    WARN("SKIPPED: " << why << "; nothing was compared");
    std::cout << "SKIPPED: " << why << "; nothing was compared\n";
  }
  return server;
}

}  // namespace

TEST_CASE(
    "ZooKeeper: a real one and the engine agree on random requests of several sessions, and on what watches hear") {
  const auto server = started();
  if (server == nullptr) return;
  const Comparison comparison = compare_random_requests(*server, {}, sim::cases(7'000, 200), 1);
  CHECK(comparison.difference == "");
  CHECK(comparison.errors > 0);
  CHECK(comparison.events > 0);
  std::cout << "ZooKeeper " << server->version() << ": " << describe(comparison) << ": all alike\n";
}

TEST_CASE("ZooKeeper: a session that nobody is heard of ends with its nodes, up to a tick late") {
  constexpr int kTick = 200;
  const auto server = started(kTick);
  if (server == nullptr) return;
  Engine engine;
  Expected expected;
  const auto both = [&](const Step& step) {
    INFO(describe(step));
    const Answer answer = carry_out(engine, step);
    expected.take(engine);
    const RealZooKeeper::Outcome outcome = server->carry_out(step);
    CHECK(describe(outcome.answer) == describe(answer));
    CHECK(described(outcome.events) == expected.of(step.session));
  };
  server->ask_for(100'000);
  both({.kind = Step::Kind::open, .session = 1});
  server->ask_for(1);
  both({.kind = Step::Kind::open, .session = 2});
  // Not more than 20 ticks, and not less than 2.
  CHECK(server->negotiated(1) == 20 * kTick);
  CHECK(server->negotiated(2) == 2 * kTick);
  for (const char* path : {"/t", "/t/b", "/t/a"}) {
    const bool is_top = std::string(path) == kTop;
    both({.session = is_top ? 1 : 2,
          .operation = Create{.path = path, .mode = is_top ? CreateMode::persistent : CreateMode::ephemeral}});
  }
  both({.session = 1, .operation = GetData{"/t/a", true}});
  both({.session = 1, .operation = Exists{"/t/b", true}});
  both({.session = 1, .operation = GetChildren{"/t", true}});
  both({.session = 2, .operation = GetData{"/t/a", true}});
  // So many times 20 ms or more it is still there.
  int times = 0;
  auto told = server->events_until_closed(2, 20);
  for (; !told && times < 500; ++times) told = server->events_until_closed(2, 20);
  CHECK(times >= 2 * kTick / 20 - 3);
  CHECK(times <= 4 * kTick / 20);

  // It is told nothing itself: its connection is closed before anything is written to it. (Which is a race: perhaps it
  // is told.)
  REQUIRE(told);
  CHECK((told->empty() || described(*told) == Heard{"NodeDeleted /t/a"}));
  engine.drop_watches(2);
  engine.close(2);
  expected.take(engine);
  CHECK(sorted(described(server->events_of(1))) == sorted(expected.of(1)));
  // All of it was one transaction, and the session cannot be had back.
  both({.session = 1, .operation = GetChildren{"/t", false, true}});
  server->hang_up(2);
  CHECK_FALSE(server->reconnect(2));
}

TEST_CASE("ZooKeeper: a session outlives its connection, and hears then what it has missed if it asks") {
  const auto server = started();
  if (server == nullptr) return;
  Engine engine;
  Expected expected;
  const auto both = [&](const Step& step) {
    INFO(describe(step));
    const Answer answer = carry_out(engine, step);
    expected.take(engine);
    const RealZooKeeper::Outcome outcome = server->carry_out(step);
    CHECK(describe(outcome.answer) == describe(answer));
    CHECK(described(outcome.events) == expected.of(step.session));
    return answer.zxid;
  };
  both({.kind = Step::Kind::open, .session = 1});
  both({.kind = Step::Kind::open, .session = 2});
  for (const char* path : {"/t", "/t/a", "/t/b"}) both({.session = 1, .operation = Create{path}});
  both({.session = 2, .operation = Create{.path = "/t/mine", .mode = CreateMode::ephemeral}});
  const Zxid seen = both({.session = 2, .operation = GetData{"/t/a", true}});
  both({.kind = Step::Kind::reconnect, .session = 2});
  both({.session = 1, .operation = Delete{"/t/a"}});
  CHECK(server->events_of(2).empty());
  both({.session = 2, .operation = SetWatches{.relative_zxid = seen, .data = {"/t/a", "/t/b"}, .child = {"/t"}}});
  both({.session = 2, .operation = GetData{"/t/mine"}});
  both({.session = 1, .operation = SetData{"/t/b"}});
  CHECK(described(server->events_of(2)) == expected.of(2));
}

}  // namespace lockstep::models::zookeeper::conformance
