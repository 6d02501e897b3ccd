// What services do for ever keeps no run from ending, unless somebody waits for it.

#include <catch2/catch.hpp>

#include <map>

#include "sim/testing/test_world.hpp"

namespace lockstep::sim::testing::background_test {
namespace {

/// Tells a peer every second that it is alive; the peer answers whoever has asked before when it hears of that for the third time.
class Heart final : public Process, private TimerOwner {
 public:
  bool is_service() const override { return true; }
  void beat() {
    world().set_background_timer(id(), DurationRange::exactly(Duration::seconds(1)), static_cast<TimerOwner&>(*this));
  }
  void receive(Message& request, ConnectionId connection) override {
    if (request.name() != "beat") {
      asker_ = connection;
      question_ = world().make<Note>(request.name(), 0);
      question_->call = request.call;
      return;
    }
    if (++heard == 3 && question_) world().send_reply(asker_, *question_, world().make<Note>("answer", 42));
  }

  std::optional<ConnectionId> peer;
  int heard = 0;

 private:
  void timer_fired() override {
    if (peer) world().send_request(*peer, world().make<Note>("beat", 0));
    beat();
  }
  ConnectionId asker_;
  MessagePtr question_;
};

struct Hearts {
  Hearts() {
    test.world.add(first, "first", {});
    test.world.add(second, "second", {});
    first.peer = test.world.connect(first.id(), second.id(), DurationRange::exactly(1_ms));
  }
  TestWorld test;
  Heart first;
  Heart second;
};

/// Sessions end 120 seconds after they were heard of last, and whoever asks hears of the first end.
class Sessions final : public Process {
 public:
  bool is_service() const override { return true; }
  void receive(Message& request, ConnectionId connection) override {
    if (request.name() == "ask") {
      asker_ = connection;
      question_ = world().make<Note>(request.name(), 0);
      question_->call = request.call;
      return;
    }
    Session& session = sessions_[connection.index];
    session.all = this;
    world().cancel_timer(session.end);
    session.end = world().set_timer(id(), DurationRange::exactly(Duration::seconds(120)), TimerKind::deadline, session);
  }

 private:
  struct Session final : TimerOwner {
    void timer_fired() override {
      if (all->question_) all->world().send_reply(all->asker_, *all->question_, all->world().make<Note>("ended", 42));
    }
    Sessions* all = nullptr;
    TimerRef end;
  };
  ConnectionId asker_;
  MessagePtr question_;
  std::map<std::uint32_t, Session> sessions_;
};

constexpr int kForEver = 1'000'000'000;

/// Keeps a session alive, so many times.
class Keeper final : public Process, private TimerOwner {
 public:
  explicit Keeper(int times) : times_(times) {}
  void start() override {
    world().send_request(*sessions, world().make<Note>("beat", 0));
    if (--times_ > 0) {
      world().set_timer(id(), DurationRange::exactly(Duration::seconds(40)), TimerKind::tick,
                        static_cast<TimerOwner&>(*this));
    }
  }
  std::optional<ConnectionId> sessions;

 private:
  void timer_fired() override { start(); }
  int times_;
};

}  // namespace

TEST_CASE("background: a run ends when only services go on") {
  Hearts hearts;
  Client& client = hearts.test.add_client("A", [](Client& c) -> Task<void> { co_await c.sleep(2500_ms); });
  hearts.test.start();
  hearts.first.beat();
  CHECK(hearts.test.run() == Simulation::End::quiet);
  CHECK(hearts.test.world.now().offset() == 2500_ms);
  CHECK(hearts.second.heard == 2);
  CHECK(client.name() == "A");
}

TEST_CASE("background: who waits for an answer gets it from what services do, within a minute") {
  const bool is_connected = GENERATE(true, false);
  Hearts hearts;
  std::optional<ConnectionId> asks;
  std::string got = "nothing";
  Client& client = hearts.test.add_client("A", [&](Client& c) -> Task<void> {
    const std::optional<std::int64_t> answer = co_await c.call(*asks, "ask", 0);
    got = outcome(answer);
  });
  asks = hearts.test.connect(client, hearts.second, DurationRange::exactly(1_ms));
  if (!is_connected) hearts.first.peer.reset();
  hearts.test.start();
  hearts.first.beat();
  CHECK(hearts.test.run() == Simulation::End::quiet);
  CHECK(got == (is_connected ? "42" : "nothing"));
  CHECK(hearts.test.world.now().offset() <= Duration::seconds(62));
}

TEST_CASE("background: that sessions are kept alive for ever keeps no run from ending, but who died is noticed first") {
  const int times = GENERATE(1, 2, 3, kForEver);
  TestWorld test;
  Sessions sessions;
  Keeper keeper(times);
  Keeper other(kForEver);
  test.world.add(sessions, "sessions", {});
  for (Keeper* each : {&keeper, &other}) {
    test.world.add(*each, each == &keeper ? "keeper" : "other", {});
    each->sessions = test.world.connect(each->id(), sessions.id(), DurationRange::exactly(1_ms));
  }
  std::optional<ConnectionId> asks;
  std::string got = "nothing";
  Client& client = test.add_client("A", [&](Client& c) -> Task<void> {
    const std::optional<std::int64_t> answer = co_await c.call(*asks, "ask", 0);
    got = outcome(answer);
  });
  asks = test.connect(client, sessions, DurationRange::exactly(1_ms));
  test.start();
  test.world.start(keeper.id(), DurationRange::exactly(0_ms));
  test.world.start(other.id(), DurationRange::exactly(0_ms));
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(got == (times < kForEver ? "42" : "nothing"));
  const Duration end = test.world.now().offset();
  // The last beat and the session's length after it, or the first beat that a tick makes; then the minute of patience, until
  // the other's session is renewed.
  const Duration noticed = Duration::seconds(times < kForEver ? 40 * (times - 1) + 120 : 40);
  CAPTURE(times, end.count_ns());
  CHECK(end >= noticed);
  CHECK(end <= noticed + Duration::seconds(60 + 41));
}

}  // namespace lockstep::sim::testing::background_test
