// What the engine says, a real etcd 3.4 says as well. Without one it says SKIPPED.

#include <catch2/catch.hpp>

#include <deque>
#include <iostream>
#include <memory>
#include <utility>

#include <unistd.h>

#include "models/etcd/conformance/real_etcd.hpp"
#include "models/etcd/conformance/steps.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::etcd::conformance {
namespace {

std::unique_ptr<RealEtcd> started() {
  std::string why;
  auto etcd = RealEtcd::start(why);
  if (etcd == nullptr) {
    WARN("SKIPPED: " << why << "; nothing was compared");
    std::cout << "SKIPPED: " << why << "; nothing was compared\n";
  }
  return etcd;
}

/// A watch here and there.
struct WatchPair {
  Engine::WatchId id;
  std::unique_ptr<RealEtcd::Watch> real;
  std::vector<Event> events = {};
  Revision compact_revision = 0;
};

void hear(Engine& engine, std::deque<WatchPair>& watches) {
  for (Engine::Notice& notice : engine.take_notices()) {
    for (WatchPair& watch : watches) {
      if (watch.id != notice.watch) continue;
      for (Event& event : notice.events) watch.events.push_back(std::move(event));
      if (notice.compact_revision != 0) watch.compact_revision = notice.compact_revision;
    }
  }
}

std::string described(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) text += describe(event) + "\n";
  return text;
}

}  // namespace

TEST_CASE("etcd: a real one and the engine agree on random requests, and on what watches hear") {
  const auto etcd = started();
  if (etcd == nullptr) return;
  sim::Random random(1);
  Engine engine;
  Revision compacted = 0;
  std::deque<WatchPair> watches;
  Engine::WatchId last_watch = 0;
  std::size_t errors = 0;
  std::size_t txns = 0;
  std::size_t events = 0;
  std::size_t cancelled = 0;
  bool is_behind = false;
  const int steps = sim::cases(6'000, 200);
  const auto end_watch = [&] {
    WatchPair& watch = watches.front();
    watch.real->listen(watch.events.size(), watch.compact_revision != 0, 1);
    INFO("watch " << watch.id);
    CHECK(described(watch.real->events) == described(watch.events));
    CHECK(watch.real->compact_revision == watch.compact_revision);
    events += watch.events.size();
    cancelled += watch.compact_revision != 0;
    engine.cancel_watch(watch.id);
    watches.pop_front();
  };
  for (int i = 0; i < steps; ++i) {
    if (random.one_in(20)) {
      const Span span = random_span(random);
      const Revision start =
          random.one_in(3) ? 0 : random.between(std::max<Revision>(1, compacted - 2), engine.revision() + 2);
      watches.push_back({++last_watch, std::make_unique<RealEtcd::Watch>(*etcd, span, start)});
      engine.watch(last_watch, span, start);
      is_behind = is_behind || (start != 0 && start <= engine.revision());
      if (watches.size() > 4) end_watch();
    }
    const Step step = random_step(random, engine.revision(), compacted);
    // A watch from the past catches up every 100 ms; until then a compaction would overtake it.
    if (step.kind == Step::Kind::compact && std::exchange(is_behind, false)) usleep(150'000);
    const Outcome outcome = carry_out(engine, step);
    hear(engine, watches);
    if (step.kind == Step::Kind::compact && outcome.answer.error == Error::none) compacted = step.revision;
    errors += outcome.answer.error != Error::none;
    txns += step.kind == Step::Kind::txn;
    INFO("step " << i << ": " << describe(step));
    REQUIRE(describe(etcd->carry_out(step)) == describe(outcome));
  }
  while (!watches.empty()) end_watch();
  CHECK(errors > 0);
  CHECK(events > 0);
  if (!sim::takes_few_cases()) CHECK(cancelled > 0);
  std::cout << "etcd " << etcd->version() << ": " << steps << " requests, " << txns << " of them transactions, "
            << errors << " errors, " << engine.revision() << " revisions; " << last_watch << " watches, " << events
            << " events, " << cancelled << " cancelled by compaction: all alike\n";
}

TEST_CASE("etcd: a lease that ends deletes its keys in one revision, and a keep-alive puts its end off") {
  const auto etcd = started();
  if (etcd == nullptr) return;
  Engine engine;
  const auto both = [&](const Step& step) {
    const Outcome outcome = etcd->carry_out(step, 2);
    CHECK(describe(outcome) == describe(carry_out(engine, step)));
    return outcome;
  };
  const auto kept = [&](LeaseId lease) {
    return etcd->carry_out({.kind = Step::Kind::time_to_live, .lease = lease}).lease_lives;
  };
  /// How often it was still there, 10 ms or more apart.
  const auto wait_for_end_of = [&](LeaseId lease) {
    int times = 0;
    for (; kept(lease); ++times) usleep(10'000);
    return times;
  };
  for (const LeaseId lease : {1, 2}) both({.kind = Step::Kind::grant, .lease = lease});
  for (const char* key : {"b", "a"}) both({.operation = Put{.key = key, .lease = 1}});
  both({.operation = Put{.key = "c", .lease = 2}});
  RealEtcd::Watch watch(*etcd, {"a", "z"}, 1);
  // Each lasts 2 s, and up to half a second more.
  usleep(1'500'000);
  CHECK(kept(1));
  both({.kind = Step::Kind::keep_alive, .lease = 2});
  CHECK(wait_for_end_of(1) < 150);
  CHECK(kept(2));
  CHECK(wait_for_end_of(2) > 20);

  engine.watch(1, {"a", "z"}, 1);
  for (const LeaseId lease : {1, 2}) CHECK(engine.revoke(lease) == Error::none);
  std::vector<Event> expected;
  for (const Engine::Notice& notice : engine.take_notices())
    expected.insert(expected.end(), notice.events.begin(), notice.events.end());
  watch.listen(expected.size(), false, 20);
  CHECK(described(watch.events) == described(expected));
  both({.operation = Range{.span = {"a", "z"}}});
}

}  // namespace lockstep::models::etcd::conformance
