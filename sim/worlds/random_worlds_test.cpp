// The engine under anything: random worlds with random faults, and what must be true of all of them.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include "sim/testing/test_world.hpp"

namespace lockstep::sim::random_worlds_test {
namespace {

using namespace testing;

/// What the laws are about: who handled what, when, and whether it was allowed to.
struct Witness {
  struct Sent {
    ConnectionId connection;
    bool is_reply = false;
    Duration at;
    DurationRange latency;
  };
  std::vector<Sent> sent;                                         ///< by number of the message
  std::map<std::pair<std::uint32_t, bool>, std::int64_t> latest;  ///< on each direction of a connection
  Duration now;
  std::string broken;

  void require(bool law, const std::string& what) {
    if (!law && broken.empty()) broken = what;
  }
};

/// Of a world that has one for sure: when it is planned.
enum class PartitionPlanned { beforehand, in_the_middle };

struct Shape {
  std::uint64_t seed = 0;
  bool has_faults = true;
  std::optional<PartitionPlanned> partition;  ///< then all latencies are exact
};

/// A world that follows from its seed alone; what happens in it, from the decisions.
class RandomWorld {
 public:
  RandomWorld(Shape shape, Decisions& decisions) : world(decisions), simulation(world) {
    Random random(shape.seed);
    const std::uint64_t servers = 1 + random.below(3);
    const std::uint64_t clients = 1 + random.below(4);
    for (std::uint64_t i = 0; i < servers; ++i) add(random, "S" + std::to_string(i), false);
    for (std::uint64_t i = 0; i < clients; ++i) add(random, "C" + std::to_string(i), true);
    for (const auto& node : nodes_) {
      if (!node->is_client) continue;
      for (std::uint64_t s = 0; s < servers; ++s) {
        const Duration lo = Duration::microseconds(static_cast<std::int64_t>(random.below(5)));
        // Narrow ranges make ties, wide ones overtaking.
        Duration hi =
            lo + Duration::microseconds(static_cast<std::int64_t>(random.below(random.one_in(2) ? 4 : 3'000)));
        if (shape.partition) hi = lo;
        latencies_.push_back({lo, hi});
        node->connections.push_back(world.connect(node->id(), nodes_[s]->id(), {lo, hi}));
      }
    }
    if (shape.has_faults) {
      const std::uint64_t faults = random.below(5);
      for (std::uint64_t i = 0; i < faults; ++i) plan_fault(random);
      if (!shape.partition && random.one_in(3)) plan(some_partition(random));
    }
    if (!shape.partition) return;
    if (random.one_in(2)) plan(some_partition(random));
    later_ = some_partition(random);
    later_->from = Instant::at(std::max(later_->from.offset(), 1_us));
    later_at_ = Duration::nanoseconds(random.between(0, later_->from.offset().count_ns() - 1));
    if (*shape.partition == PartitionPlanned::beforehand) plan(*std::exchange(later_, std::nullopt));
  }

  void run() {
    for (const auto& node : nodes_) world.start(node->id(), {0_us, 20_us});
    world.arm_faults();
    if (later_) {
      simulation.run(Instant::at(later_at_), 20'000);
      plan(*std::exchange(later_, std::nullopt));
    }
    end = simulation.run(Instant::at(1_s), 20'000);
    witness.require(end == Simulation::End::quiet, "a small world comes to rest");
    witness.require(world.pending_count() == 0, "and nothing is pending then");
  }

  void restart() {
    simulation.restart();
    witness = Witness();
  }

  World world;
  Simulation simulation;
  Witness witness;
  Simulation::End end = Simulation::End::quiet;

 private:
  class Node final : public Process {
   public:
    Node(RandomWorld& owner, std::uint64_t seed, bool client) : is_client(client), owner_(owner), seed_(seed) {}

    void start() override {
      owner_.look(*this);
      if (!is_client) return;
      ++lives_;
      spawn(program(*this, 0));
      if (lives_ + seed_ % 2 == 2) spawn(program(*this, 1));
    }
    void receive(Message& request, ConnectionId connection) override {
      owner_.look(*this);
      owner_.arrived(static_cast<Note&>(request).content);
      if (seed_ % 5 == 0 && world().choose(Choice::fault, 4) == 1) return;
      owner_.send(*this, connection, &request, {});
    }
    void crashed(bool) override { owner_.look(*this); }
    void reset() override { lives_ = 0; }

    std::vector<ConnectionId> connections;
    const bool is_client;

   private:
    static Task<void> program(Node& self, std::uint64_t salt) {
      // Each life and thread has its own plan; it must not depend on the decisions.
      Random plan(self.seed_ * 31 + salt * 7 + self.lives_);
      const std::uint64_t steps = 1 + plan.below(6);
      for (std::uint64_t i = 0; i < steps; ++i) {
        self.owner_.look(self);
        const auto width = static_cast<std::int64_t>(plan.below(4) * plan.below(800));
        const DurationRange range{1_us, Duration::microseconds(1 + width)};
        const ConnectionId connection = self.connections[plan.below(self.connections.size())];
        switch (plan.below(5)) {
          case 0: co_await Wait(self, range, TimerKind::sleep); break;
          case 1: co_await Wait(self, range, TimerKind::work); break;
          case 2: self.owner_.send(self, connection, nullptr, {}); break;
          default: {
            Call<Note> call = self.owner_.call(
                self, connection, Duration::microseconds(1 + static_cast<std::int64_t>(plan.below(3'000))));
            const auto answer = co_await call;
            if (answer) self.owner_.arrived(*answer);
            break;
          }
        }
      }
      self.owner_.look(self);
    }

    RandomWorld& owner_;
    const std::uint64_t seed_;
    std::uint64_t lives_ = 0;
  };
  friend class Node;

  void add(Random& random, const std::string& name, bool is_client) {
    nodes_.push_back(std::make_unique<Node>(*this, random.next(), is_client));
    world.add(*nodes_.back(), name, {});
  }

  Duration moment(Random& random) { return Duration::microseconds(static_cast<std::int64_t>(random.below(4'000))); }
  void plan_fault(Random& random) {
    PlannedFault fault;
    const auto kind = random.below(5);
    fault.kind = static_cast<PlannedFault::Kind>(kind);
    const bool of_messages = fault.kind == PlannedFault::Kind::lose || fault.kind == PlannedFault::Kind::delay;
    const auto& victim = nodes_[random.below(nodes_.size())];
    fault.process = victim->id();
    fault.length = moment(random);
    if (fault.kind == PlannedFault::Kind::crash && random.one_in(2))
      fault.restart_after = DurationRange::exactly(moment(random));
    if (!of_messages && (random.one_in(2) || !victim->is_client)) {
      fault.at = moment(random);
    } else {
      fault.step = "M";
      fault.moment = static_cast<Moment>(random.below(3));
      fault.occurrence = 1 + static_cast<std::int64_t>(random.below(4));
      fault.of_reply = random.one_in(2);
    }
    has_message_faults_ = has_message_faults_ || of_messages;
    world.plan(fault);
  }
  Partition some_partition(Random& random) {
    Partition partition;
    for (const auto& node : nodes_)
      (random.one_in(2) ? partition.sides.left : partition.sides.right).push_back(node->id());
    partition.from = Instant::at(moment(random));
    if (!random.one_in(3)) partition.until = partition.from + moment(random);
    return partition;
  }
  void plan(Partition partition) {
    has_message_faults_ = true;
    world.plan(std::move(partition));
  }

  /// Some code of this process runs: may it?
  void look(const Node& node) {
    const ProcessState& state = world.state(node.id());
    const Duration now = world.now().offset();
    witness.require(now >= witness.now, "time never goes back");
    witness.now = now;
    // In the very event that freezes or kills it, the code behind the reply still runs.
    const auto& cuts = world.history().interruptions;
    const bool is_just_struck = !cuts.empty() && cuts.back().process == node.id() && cuts.back().step == world.step();
    if (is_just_struck || state.doomed) return;
    witness.require(state.alive, "the dead handle nothing");
    witness.require(!state.was_paused || now >= state.frozen_until.offset(), "the frozen handle nothing");
  }

  std::int64_t number(const Node& from, ConnectionId connection, bool is_reply) {
    static_cast<void>(from);
    witness.sent.push_back({connection, is_reply, world.now().offset(), latencies_[connection.index]});
    return static_cast<std::int64_t>(witness.sent.size()) - 1;
  }
  void send(const Node& from, ConnectionId connection, const Message* request, CallRef) {
    const std::int64_t n = number(from, connection, request != nullptr);
    if (request != nullptr) {
      world.send_reply(connection, *request, world.make<Note>("M", n));
    } else {
      world.send_request(connection, world.make<Note>("M", n));
    }
  }
  Call<Note> call(Node& from, ConnectionId connection, Duration timeout) {
    return Call<Note>(from, connection, world.make<Note>("M", number(from, connection, false)), timeout);
  }

  void arrived(std::int64_t n) {
    const Witness::Sent& message = witness.sent[static_cast<std::size_t>(n)];
    const auto direction = std::pair(message.connection.index, message.is_reply);
    const auto before = witness.latest.find(direction);
    witness.require(before == witness.latest.end() || before->second < n, "a connection is first in, first out");
    witness.latest[direction] = n;
    const Duration delay = world.now().offset() - message.at;
    witness.require(delay >= message.latency.lo, "nothing is faster than the network");
    const ProcessId client = world.client_of(message.connection);
    const ProcessId server = world.server_of(message.connection);
    const auto& cuts = world.history().interruptions;
    const bool is_plain = !has_message_faults_ && std::none_of(cuts.begin(), cuts.end(), [&](const Interruption& cut) {
      return cut.kind == Interruption::Kind::pause && (cut.process == client || cut.process == server);
    });
    if (is_plain) {
      witness.require(delay <= message.latency.hi, "without a fault nothing is slower than the network");
    }
  }

  std::vector<DurationRange> latencies_;
  std::optional<Partition> later_;  ///< planned at `later_at_`, which is before it begins
  Duration later_at_;
  bool has_message_faults_ = false;
  std::vector<std::unique_ptr<Node>> nodes_;
};

struct Run {
  std::uint64_t digest = 0;
  std::uint64_t events = 0;
  std::vector<Decision> decisions;
};

/// Runs a random world, checks the laws in it, and returns what replaying needs.
Run run_checked(Shape shape, std::uint64_t seed) {
  RandomDecisions random(seed);
  RecordingDecisions recording(random);
  RandomWorld world(shape, recording);
  world.run();
  CAPTURE(shape.seed, seed);
  if (!world.witness.broken.empty()) FAIL(world.witness.broken);
  return {world.world.digest(), world.world.events_executed(), recording.record()};
}

constexpr std::uint64_t kWorlds = 3'000;

TEST_CASE("random worlds: FIFO, delays, the dead and the frozen, time: the laws hold, and some worlds are not dull") {
  std::uint64_t events = 0;
  std::map<Choice, std::uint64_t> asked;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const Run run = run_checked({seed, seed % 4 != 0}, seed + 1);
    events += run.events;
    for (const Decision& decision : run.decisions) ++asked[decision.choice];
  }
  CHECK(events > kWorlds * 20);
  CHECK(asked[Choice::delay] > kWorlds * 5);
  CHECK(asked[Choice::order] > kWorlds);
  CHECK(asked[Choice::fault] > 100);
}

TEST_CASE("random worlds: a partition cuts off the same whether it is planned beforehand or in the middle") {
  std::uint64_t events = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const Run before = run_checked({seed, true, PartitionPlanned::beforehand}, seed + 6);
    const Run after = run_checked({seed, true, PartitionPlanned::in_the_middle}, seed + 6);
    CAPTURE(seed);
    REQUIRE(after.digest == before.digest);
    events += before.events;
  }
  CHECK(events > kWorlds * 20);
}

TEST_CASE("random worlds: what was recorded replays to the same digest") {
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const Run run = run_checked({seed, true}, seed + 2);
    RecordedDecisions recorded(run.decisions);
    RandomWorld again({seed, true}, recorded);
    again.run();
    CAPTURE(seed, recorded.divergence());
    REQUIRE(again.world.digest() == run.digest);
    REQUIRE_FALSE(recorded.diverged());
    REQUIRE(recorded.is_used_up());
  }
}

TEST_CASE("random worlds: a record that was tampered with diverges where it was") {
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    Run run = run_checked({seed, true}, seed + 3);
    if (run.decisions.empty()) continue;
    Random random(seed);
    const std::size_t victim = random.below(run.decisions.size());
    Decision& decision = run.decisions[victim];
    switch (random.below(3)) {
      case 0: decision.options += 1; break;
      case 1: decision.event.value ^= 1ULL << random.below(64); break;
      default: decision.choice = decision.choice == Choice::delay ? Choice::order : Choice::delay; break;
    }
    RecordedDecisions recorded(run.decisions);
    RandomWorld again({seed, true}, recorded);
    again.run();
    CAPTURE(seed, victim);
    REQUIRE(recorded.diverged());
    REQUIRE(recorded.divergence().starts_with("decision " + std::to_string(victim) + ":"));
  }
}

TEST_CASE("random worlds: another answer is another run, and a shorter record is noticed") {
  std::uint64_t changed = 0;
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    Run run = run_checked({seed, true}, seed + 4);
    if (run.decisions.empty()) continue;
    Random random(seed);
    std::vector<Decision> decisions = run.decisions;
    Decision& decision = decisions[random.below(decisions.size())];
    decision.index = (decision.index + 1) % decision.options;
    RecordedDecisions other(decisions);
    RandomWorld again({seed, true}, other);
    again.run();
    ++tried;
    changed += again.world.digest() != run.digest ? 1 : 0;

    run.decisions.pop_back();
    RecordedDecisions shorter(run.decisions);
    RandomWorld cut({seed, true}, shorter);
    cut.run();
    REQUIRE(shorter.diverged());
  }
  // A delay that the first-in-first-out rule overrules, or a decision that changes nothing, may give the same run.
  CHECK(changed * 10 > tried * 8);
}

TEST_CASE("random worlds: a world that starts over is as good as a new one, also from the middle of a run") {
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const Run run = run_checked({seed, true}, seed + 5);
    RecordedDecisions recorded(run.decisions);
    struct Switch final : Decisions {
      std::uint64_t choose(Choice c, std::uint64_t options, EventId id) override { return now->choose(c, options, id); }
      Decisions* now = nullptr;
    } source;
    RandomDecisions other(seed * 3);
    source.now = &other;
    RandomWorld world({seed, true}, source);
    world.run();
    world.restart();
    source.now = &recorded;
    world.run();
    CAPTURE(seed, recorded.divergence());
    REQUIRE(world.world.digest() == run.digest);
    REQUIRE_FALSE(recorded.diverged());
  }
}

TEST_CASE("random worlds: the laws hold for any seed") {
  rc::prop("any world, any decisions",
           [](std::uint64_t shape, std::uint64_t decisions) { run_checked({shape, true}, decisions); });
}

}  // namespace
}  // namespace lockstep::sim::random_worlds_test
