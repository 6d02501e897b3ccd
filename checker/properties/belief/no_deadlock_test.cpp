// Circles of waits that last: by hand, against brute force over time, and in a world whose locks really block.

#include "checker/properties/belief/no_deadlock.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "checker/testing/forged_history.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_world.hpp"

namespace lockstep::checker::no_deadlock_test {
namespace {

using namespace sim::literals;
using sim::ProcessId;

class Story : public ForgedHistory {
 public:
  sim::OperationId hold(ProcessId who, const std::string& object) {
    return operation(who, "acquire", next(), next(), Phase::ok, 0, object);
  }
  sim::OperationId wait(ProcessId who, const std::string& object) {
    return operation(who, "acquire", next(), 0_ms, Phase::invoke, 0, object);
  }
  void end(ProcessId who, std::string_view function, sim::OperationId hold_id, Phase phase = Phase::ok) {
    const std::string object = of(hold_id).object;
    operation(who, function, next(), next(), phase, hold_id, object);
  }
  Duration next() { return Duration::milliseconds(++now_); }
  Finding verdict(Duration lasting = 0_ms) const { return no_deadlock(history(), forged_names(), lasting); }

 private:
  std::int64_t now_ = 0;
};

/// A holds x, B holds y.
struct Crossing : Story {
  sim::OperationId a = hold(A, "x");
  sim::OperationId b = hold(B, "y");
};

}  // namespace

TEST_CASE("no-deadlock: two locks taken in opposite orders") {
  Crossing story;
  story.wait(A, "y");
  story.wait(B, "x");
  story.wait(C, "x");
  for (const Duration lasting : {0_ms, 5_ms, 3'600'000_ms}) {
    const Finding finding = story.verdict(lasting);
    CHECK(finding.property == "no-deadlock");
    REQUIRE(finding.verdict == Verdict::violated);
    CHECK(finding.by == std::vector{A, B});
    CHECK(finding.why.starts_with("A waits for y, which B holds; B waits for x, which A holds"));
    CHECK(finding.at->offset() == 6_ms + lasting);  // B's acquire closed the circle
    CHECK(finding.evidence == std::vector<sim::Step>{2, 4, 5, 6});
    if (lasting > 0_ms) CHECK(finding.waits == std::vector<WaitFor>{{A, B, "y"}, {B, A, "x"}, {C, A, "x"}});
  }
}

TEST_CASE("no-deadlock: what had ended before is not waited for") {
  Crossing story;
  SECTION("a release, even one that is still on its way") {
    story.end(A, "release", story.a, GENERATE(Phase::ok, Phase::invoke, Phase::info));
  }
  SECTION("a notice of loss") { story.end(A, "lost", story.a); }
  SECTION("its own deadline") { story.of(story.a).valid_until = sim::Instant::at(5_ms); }
  SECTION("a crash of the holder") { story.crash(A, 5_ms, 5_ms); }
  story.wait(A, "y");
  story.wait(B, "x");
  CHECK(story.verdict().verdict == Verdict::holds);
  CHECK(story.verdict().why.find("none of them in a circle") != std::string::npos);
}

TEST_CASE("no-deadlock: a circle that is opened is one for as long as it lasted") {
  Crossing story;
  story.wait(A, "y");  // 5
  story.operation(B, "acquire", 6_ms, 8_ms, Phase::fail, 0, "x");
  SECTION("its client gives up") { story.operation(B, "release", 8_ms, 9_ms, Phase::ok, story.b, "y"); }
  SECTION("its client has nothing more to do") {}
  SECTION("its client goes on, and the other crashes") {
    story.operation(B, "acquire", 9_ms, 0_ms, Phase::invoke, 0, "x");
    story.crash(A, 8_ms);
  }
  SECTION("a lease runs out") {
    story.operation(B, "acquire", 9_ms, 0_ms, Phase::invoke, 0, "x");
    story.of(story.a).valid_until = sim::Instant::at(8_ms);
  }
  CHECK(story.verdict(0_ms).verdict == Verdict::violated);
  CHECK(story.verdict(2_ms).verdict == Verdict::violated);
  CHECK(story.verdict(2_ms).at->offset() == 8_ms);
  CHECK(story.verdict(3_ms).verdict == Verdict::holds);
  CHECK(story.verdict(3_ms).why == "no circle of waits lasts 3ms: leases or patience run out first");
}

TEST_CASE("no-deadlock: two short circles are no long one") {
  Crossing story;
  story.wait(A, "y");                                              // 5
  story.operation(B, "acquire", 6_ms, 8_ms, Phase::fail, 0, "x");  // gives up, takes something else, comes back
  story.operation(B, "acquire", 8_ms, 9_ms, Phase::fail, 0, "z");
  story.operation(B, "acquire", 9_ms, 11_ms, Phase::fail, 0, "x");
  CHECK(story.verdict(2_ms).verdict == Verdict::violated);
  CHECK(story.verdict(3_ms).verdict == Verdict::holds);
}

TEST_CASE("no-deadlock: only acquires wait, and only for the same lock") {
  Crossing story;
  story.wait(A, "y");
  story.operation(B, "read", 9_ms, 0_ms, Phase::invoke, 0, "x");
  story.wait(C, "z");
  CHECK(story.verdict().verdict == Verdict::holds);
  CHECK(story.verdict().why == "1 wait for a lock that is held, none of them in a circle");
}

TEST_CASE("no-deadlock: nobody waits") {
  const Crossing story;
  CHECK(story.verdict().verdict == Verdict::holds);
  CHECK(story.verdict().why == "nobody waits for a lock that is held");
}

TEST_CASE("no-deadlock: a lock that is taken twice by one process waits for itself") {
  Story story;
  story.hold(B, "x");
  story.wait(B, "x");
  CHECK(story.verdict().by == std::vector{B});
  CHECK(story.verdict().why == "B waits for x, which it holds itself");
}

TEST_CASE("no-deadlock: the shortest circle is told, the others are counted") {
  Story story;
  story.hold(C, "z");
  story.hold(B, "y");
  story.hold(D, "y");  // shared
  story.hold(A, "x");
  story.wait(A, "y");
  story.wait(B, "z");
  story.wait(C, "x");
  story.wait(D, "x");
  CHECK(story.verdict(100_ms).by == std::vector{A, B, C});  // it was there first
  CHECK(
      story.verdict(100_ms).why ==
      "A waits for y, which B holds; B waits for z, which C holds; C waits for x, which A holds; for 100ms or longer");
  Story together;
  together.hold(B, "y");
  together.hold(D, "y");
  together.hold(A, "x");
  together.wait(B, "x");
  together.wait(D, "x");
  together.wait(A, "y");
  CHECK(together.verdict().by == std::vector{A, B});
  CHECK(together.verdict().why == "A waits for y, which B holds; B waits for x, which A holds; and 1 other circle");
}

// --- Against brute force.

namespace {

/// A history that is written millisecond by millisecond, one happening in each, and beside it, kept by plain book-keeping, who
/// waits for whom in the time after each.
class RandomStory {
 public:
  explicit RandomStory(std::uint64_t seed) : random_(sim::combine64(0x64656164, seed)) {
    clients_.resize(2 + random_.below(3));
    const std::uint64_t length = 6 + random_.below(40);
    for (std::uint64_t i = 0; i < length; ++i) {
      act(static_cast<std::uint16_t>(random_.below(clients_.size())));
      look();
    }
    // Who never comes back had given up with its last attempt.
    for (Client& client : clients_) {
      if (client.state == State::between) forget_since(client);
    }
    for (int i = 0; i < kAfter; ++i) edges_.push_back(edges_.back());
  }
  const sim::History& history() const { return history_; }

  /// The first moment from which the same waits, some of them in a circle, have lasted for so many milliseconds.
  std::optional<std::int64_t> first_deadlock(std::size_t lasting) const {
    const std::size_t length = std::max<std::size_t>(lasting, 1);
    for (std::size_t i = 0; i + length <= edges_.size(); ++i) {
      Edges same = edges_[i];
      for (std::size_t j = i + 1; j < i + length; ++j) {
        std::erase_if(same, [&](const Edge& edge) { return !edges_[j].contains(edge); });
      }
      if (!has_topological_order(same)) return static_cast<std::int64_t>(i + 1 + lasting);
    }
    return std::nullopt;
  }

  static constexpr int kAfter = 50;

 private:
  enum class State : std::uint8_t { idle, attempting, between };
  struct Edge {
    std::uint16_t waiter, holder;
    sim::OperationId want, hold;
    auto operator<=>(const Edge&) const = default;
  };
  using Edges = std::set<Edge>;
  struct Client {
    State state = State::idle;
    std::string object;
    sim::OperationId want = 0;     ///< its first attempt
    sim::OperationId attempt = 0;  ///< its last
    std::map<sim::OperationId, std::string> holds;
    std::size_t failed = 0;  ///< in which millisecond
  };

  sim::Instant now() { return sim::Instant::at(Duration::milliseconds(static_cast<std::int64_t>(edges_.size()) + 1)); }

  sim::Operation& invoke(std::uint16_t who, std::string_view function, const std::string& object) {
    sim::Operation& o = history_.operations.emplace_back();
    o.id = static_cast<sim::OperationId>(history_.operations.size());
    o.process = ProcessId{who};
    o.function = function;
    o.object = object;
    o.invoked = now();
    o.invoked_in = ++step_;
    return o;
  }

  void act(std::uint16_t who) {
    Client& client = clients_[who];
    if (random_.one_in(20)) {
      crash(who);
    } else if (client.state == State::attempting) {
      end_attempt(client);
    } else if (client.state == State::between) {
      if (random_.one_in(4)) {
        forget_since(client);
        other(who);
      } else {
        client.attempt = invoke(who, "acquire", client.object).id;
        client.state = State::attempting;
      }
    } else if (!client.holds.empty() && random_.one_in(3)) {
      other(who);
    } else {
      client.object = std::string(1, static_cast<char>('x' + random_.below(3)));
      client.want = client.attempt = invoke(who, "acquire", client.object).id;
      client.state = State::attempting;
    }
  }

  /// Whatever is no attempt.
  void other(std::uint16_t who) {
    Client& client = clients_[who];
    client.state = State::idle;
    if (client.holds.empty()) {
      invoke(who, "read", "resource");
      return;
    }
    const auto hold = client.holds.begin();
    invoke(who, random_.one_in(2) ? "release" : "lost", hold->second).of = hold->first;
    client.holds.erase(hold);
  }

  void end_attempt(Client& client) {
    sim::Operation& o = history_.operations[client.attempt - 1];
    o.completed = now();
    o.completed_in = ++step_;
    if (random_.one_in(2)) {
      o.phase = Phase::ok;
      client.holds[o.id] = client.object;
      client.state = State::idle;
    } else {
      o.phase = random_.one_in(4) ? Phase::info : Phase::fail;
      client.state = State::between;
      client.failed = edges_.size();
    }
  }

  void crash(std::uint16_t who) {
    Client& client = clients_[who];
    if (client.state == State::between) forget_since(client);
    client.state = State::idle;
    client.holds.clear();
    history_.interruptions.push_back({sim::Interruption::Kind::crash, ProcessId{who}, now(), ++step_, std::nullopt});
  }

  /// It was not waiting any more since its last attempt failed.
  void forget_since(Client& client) {
    for (std::size_t i = client.failed; i < edges_.size(); ++i) {
      std::erase_if(edges_[i], [&](const Edge& edge) { return edge.want == client.want; });
    }
    client.state = State::idle;
  }

  void look() {
    Edges& edges = edges_.emplace_back();
    for (std::uint16_t p = 0; p < clients_.size(); ++p) {
      if (clients_[p].state == State::idle) continue;
      for (std::uint16_t q = 0; q < clients_.size(); ++q) {
        for (const auto& [hold, object] : clients_[q].holds) {
          if (object == clients_[p].object) edges.insert({p, q, clients_[p].want, hold});
        }
      }
    }
  }

  /// Takes away whoever waits for nobody, until none is left or all that are left wait.
  bool has_topological_order(Edges edges) const {
    std::set<std::uint16_t> left;
    for (std::uint16_t p = 0; p < clients_.size(); ++p) left.insert(p);
    while (!left.empty()) {
      const auto idle = std::find_if(left.begin(), left.end(), [&](std::uint16_t p) {
        return std::none_of(edges.begin(), edges.end(), [&](const Edge& edge) { return edge.waiter == p; });
      });
      if (idle == left.end()) return false;
      std::erase_if(edges, [&](const Edge& edge) { return edge.holder == *idle; });
      left.erase(idle);
    }
    return true;
  }

  sim::Random random_;
  sim::History history_;
  std::vector<Client> clients_;
  std::vector<Edges> edges_;  ///< by millisecond, in the time after it
  sim::Step step_ = 0;
};

}  // namespace

TEST_CASE("no-deadlock: random stories have the verdict, and its moment, that brute force over time has") {
  int violated = 0;
  int too_short = 0;
  for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
    const RandomStory story(seed);
    for (const std::size_t lasting : {0U, 1U, 3U, 9U, 40U}) {
      INFO("seed " << seed << ", lasting " << lasting);
      const std::optional<std::int64_t> expected = story.first_deadlock(lasting);
      const Finding finding =
          no_deadlock(story.history(), forged_names(), Duration::milliseconds(std::int64_t(lasting)));
      REQUIRE((finding.verdict == Verdict::violated) == expected.has_value());
      if (expected) REQUIRE(finding.at->offset() == Duration::milliseconds(*expected));
      violated += expected ? 1 : 0;
      too_short += lasting == 9 && !expected && story.first_deadlock(0) ? 1 : 0;
    }
  }
  CHECK(violated > 2'000);
  CHECK(violated < 18'000);
  CHECK(too_short > 200);
}

// --- A world whose locks block.

namespace {

using sim::testing::Note;
using sim::testing::TestWorld;

/// Grants a lock when it is free, and keeps the requests for it in a queue until then.
class BlockingLock final : public sim::Process {
 public:
  void receive(sim::Message& message, sim::ConnectionId connection) override {
    auto& note = static_cast<Note&>(message);
    const Request request{connection, note.call};
    if (note.name() == "LOCK") {
      queue_.push_back(request);
      if (queue_.size() == 1) grant();
    } else {
      queue_.pop_front();
      world().send_reply(connection, message, world().make<Note>("UNLOCK", 0));
      if (!queue_.empty()) grant();
    }
  }
  void reset() override { queue_.clear(); }

 private:
  struct Request {
    sim::ConnectionId connection;
    sim::CallRef call;
  };
  void grant() {
    Note request("LOCK", 0);
    request.call = queue_.front().call;
    world().send_reply(queue_.front().connection, request, world().make<Note>("LOCK", 1));
  }
  std::deque<Request> queue_;  ///< the first has the lock
};

/// Takes two locks, one after the other, works, and gives them back.
sim::Task<void> take_both(sim::testing::Client& self, const std::vector<sim::ConnectionId>& locks,
                          const std::vector<std::string>& names) {
  sim::World& world = self.world();
  std::vector<sim::OperationId> holds;
  for (std::size_t i = 0; i < 2; ++i) {
    const sim::OperationId id = world.invoke(self.id(), "acquire", names[i]);
    const auto granted = co_await self.call(locks[i], "LOCK", 0);
    world.complete(id, granted ? Phase::ok : Phase::info);
    holds.push_back(id);
    co_await self.sleep(5_ms);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const sim::OperationId id = world.invoke(self.id(), "release", names[i]);
    world.operation(id).of = holds[i];
    const auto released = co_await self.call(locks[i], "UNLOCK", 0);
    world.complete(id, released ? Phase::ok : Phase::info);
  }
}

Finding two_clients(bool opposite_orders) {
  TestWorld t;
  std::vector<sim::ConnectionId> of_a;
  std::vector<sim::ConnectionId> of_b;
  const std::vector<std::string> order_of_a{"lock1", "lock2"};
  std::vector<std::string> order_of_b = order_of_a;
  auto& a = t.add_client("A", [&](sim::testing::Client& c) { return take_both(c, of_a, order_of_a); });
  auto& b = t.add_client("B", [&](sim::testing::Client& c) { return take_both(c, of_b, order_of_b); });
  BlockingLock lock1;
  BlockingLock lock2;
  t.world.add(lock1, "lock1", {});
  t.world.add(lock2, "lock2", {});
  for (BlockingLock* lock : {&lock1, &lock2}) {
    of_a.push_back(t.connect(a, *lock, sim::DurationRange::exactly(1_ms)));
    of_b.push_back(t.connect(b, *lock, sim::DurationRange::exactly(1_ms)));
  }
  if (opposite_orders) {
    std::swap(of_b[0], of_b[1]);
    std::swap(order_of_b[0], order_of_b[1]);
  }
  t.start();
  REQUIRE(t.run() == sim::Simulation::End::quiet);
  return no_deadlock(t.world.history(), {"A", "B", "lock1", "lock2"}, 0_ms);
}

}  // namespace

TEST_CASE("no-deadlock: two clients of two blocking locks, in opposite orders, never come to an end") {
  const Finding finding = two_clients(true);
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.why == "A waits for lock2, which B holds; B waits for lock1, which A holds");
  REQUIRE(finding.at);
  CHECK(finding.at->offset() == 7_ms);  // a round trip of 2ms, and 5ms of sleep
}

TEST_CASE("no-deadlock: in the same order both come to an end") {
  const Finding finding = two_clients(false);
  CHECK(finding.verdict == Verdict::holds);
  CHECK(finding.why == "1 wait for a lock that is held, none of them in a circle");
}

}  // namespace lockstep::checker::no_deadlock_test
