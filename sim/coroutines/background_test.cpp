// What services do for ever keeps no run from ending, unless somebody waits for it.

#include <catch2/catch.hpp>

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

}  // namespace lockstep::sim::testing::background_test
