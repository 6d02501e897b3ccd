// Replicas in virtual time: latencies, crashes, partitions, clocks that drift.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "models/consensus/member.hpp"
#include "models/consensus/properties.hpp"
#include "sim/testing/test_effort.hpp"
#include "sim/testing/test_world.hpp"

namespace lockstep::models::consensus::consensus_world_test {
namespace {

using namespace sim::literals;
using sim::testing::Lines;
using sim::testing::Note;
using sim::testing::outcome;

/// Sets the register.
struct Put {
  std::int64_t value = 0;
  std::string describe() const { return "PUT " + std::to_string(value); }
  std::uint64_t digest() const { return sim::mix64(static_cast<std::uint64_t>(value)); }
  bool operator==(const Put&) const = default;
};

constexpr std::int64_t kNotLeader = -1;

/// A register: PUT, GET (linearizable), STALE (what it has).
class Server final : public sim::Process, private MemberOwner<Put> {
 public:
  Server(sim::testing::Journal& journal, Judge<Put>& judge, NodeId self, const ReplicaSettings& settings,
         const MemberTimes& times)
      : member(*this, *this, self, settings, times), journal_(journal), judge_(judge) {}

  void start() override { member.start(); }
  void receive(sim::Message& request, sim::ConnectionId connection) override {
    if (member.receive(request)) return;
    auto& note = static_cast<Note&>(request);
    const auto kept = [&] {
      Waiting waiting{connection, world().make<Note>(note.name(), note.content)};
      waiting.request->call = note.call;
      return waiting;
    };
    if (note.name() == "PUT") {
      if (const auto position = member.propose({note.content})) {
        if (position->index <= member.applied()) return answer(kept(), note.content);
        puts_.insert_or_assign(*position, kept());
      } else {
        answer(kept(), kNotLeader);
      }
    } else if (note.name() == "GET") {
      gets_.emplace(++reads, kept());
      judge_.read_began(id_of(reads));
      member.read(reads);
    } else {
      answer(kept(), value_);
    }
  }
  void crashed(bool) override {
    member.crashed();
    judge_.restarted(member.replica().self());
    forget();
  }
  void reset() override {
    member.reset();
    forget();
    reads = 0;
  }
  bool is_service() const override { return true; }

  Member<Put> member;
  ReadId reads = 0;

 private:
  struct Waiting {
    sim::ConnectionId connection;
    sim::MessagePtrOf<Note> request;
  };

  void applied(Index index, const Entry<Put>& entry) override {
    judge_.committed(member.replica().self(), member.replica().term(), index, entry);
    if (entry.command) value_ = entry.command->value;
    const auto found = puts_.find({entry.term, index});
    if (found == puts_.end()) return;
    answer(std::move(found->second), value_);
    puts_.erase(found);
  }
  void read_answered(const ReadAnswer& read) override {
    judge_.read_ended({id_of(read.id), read.index});
    const auto found = gets_.find(read.id);
    answer(std::move(found->second), read.index ? value_ : kNotLeader);
    gets_.erase(found);
  }
  void elected() override {
    const Replica<Put>& replica = member.replica();
    judge_.elected(replica.self(), replica.term(), member.disk().log);
    journal_.note(*this, "leads term " + std::to_string(replica.term()));
  }
  void deposed() override { journal_.note(*this, "leads no more"); }

  ReadId id_of(ReadId read) const { return read * kNodesMax + member.replica().self(); }
  void answer(Waiting waiting, std::int64_t content) {
    world().send_reply(waiting.connection, *waiting.request, world().make<Note>(waiting.request->name(), content));
  }
  void forget() {
    value_ = 0;
    puts_.clear();
    gets_.clear();
  }

  sim::testing::Journal& journal_;
  Judge<Put>& judge_;
  std::int64_t value_ = 0;
  std::map<Position, Waiting> puts_;
  std::map<ReadId, Waiting> gets_;
};

/// Nodes n0, n1, …, each connected with each, and clients that reach all of them.
class Ensemble {
 public:
  explicit Ensemble(const ReplicaSettings& settings, const MemberTimes& times = {}) : judge(settings.nodes) {
    build(settings, {}, times);
  }
  Ensemble(const ReplicaSettings& settings, sim::Decisions& decisions, const std::vector<std::int64_t>& drifts_ppb)
      : test(decisions), judge(settings.nodes) {
    build(settings, drifts_ppb, {});
  }

  /// The connections of a client to n0, n1, ….
  std::vector<sim::ConnectionId> add_client(std::string name, sim::testing::Client::Program program) {
    const sim::testing::Client& client = test.add_client(std::move(name), std::move(program));
    std::vector<sim::ConnectionId> connections;
    for (const Server& server : servers) connections.push_back(test.connect(client, server, latency));
    return connections;
  }
  void run(sim::Duration until) {
    test.start();
    for (const Server& server : servers) test.world.start(server.id(), sim::DurationRange::exactly(0_ms));
    test.run(until);
  }
  /// Nobody else hears of it, or is heard by it.
  void cut_off(std::size_t node, sim::Duration from, std::optional<sim::Duration> until) {
    sim::Partition partition;
    partition.sides.left.push_back(servers[node].id());
    for (const Server& server : servers) {
      if (server.id() != servers[node].id()) partition.sides.right.push_back(server.id());
    }
    partition.from = sim::Instant::at(from);
    if (until) partition.until = sim::Instant::at(*until);
    test.world.plan(std::move(partition));
  }
  Server& operator[](std::size_t node) { return servers[node]; }

  static constexpr sim::DurationRange latency{1_ms, 5_ms};
  sim::testing::TestWorld test;
  Judge<Put> judge;
  std::deque<Server> servers;

 private:
  void build(const ReplicaSettings& settings, const std::vector<std::int64_t>& drifts_ppb, const MemberTimes& times) {
    const std::size_t nodes = settings.nodes;
    for (std::size_t i = 0; i < nodes; ++i) {
      Server& server = servers.emplace_back(test.journal, judge, static_cast<NodeId>(i), settings, times);
      sim::World::ClockSettings clock;
      if (i < drifts_ppb.size()) clock.drift_ppb = drifts_ppb[i];
      test.world.add(server, "n" + std::to_string(i), clock);
    }
    for (std::size_t from = 0; from < nodes; ++from) {
      for (std::size_t to = 0; to < nodes; ++to) {
        if (from == to) continue;
        servers[from].member.connect(static_cast<NodeId>(to), test.connect(servers[from], servers[to], latency));
      }
    }
  }
};

TEST_CASE("consensus in a world: the node whose timer runs out first leads") {
  Ensemble ensemble(ReplicaSettings{});
  ensemble.add_client("A", [](sim::testing::Client& self) -> sim::Task<void> { co_await self.sleep(3_s); });
  ensemble.run(3_s);
  CHECK(ensemble.test.journal.lines() == Lines{"1002ms n0 leads term 1"});
  CHECK(ensemble[1].member.replica().leader() == NodeId{0});
  CHECK(ensemble[2].member.applied() == 1);
}

TEST_CASE("consensus in a world: when the leader crashes another one leads within two election timeouts") {
  Ensemble ensemble(ReplicaSettings{});
  std::vector<sim::ConnectionId> to;
  to = ensemble.add_client("A", [&](sim::testing::Client& self) -> sim::Task<void> {
    co_await self.sleep(1500_ms);
    self.note("PUT " + outcome(co_await self.call(to[0], "PUT", 7)));
    co_await self.sleep(3_s);
    self.note("GET of n0 " + outcome(co_await self.call(to[0], "GET", 0)));
    self.note("GET of n1 " + outcome(co_await self.call(to[1], "GET", 0)));
    co_await self.sleep(3_s);
    self.note("STALE of n0 " + outcome(co_await self.call(to[0], "STALE", 0)));
  });
  ensemble.test.world.plan(sim::testing::crash_at(ensemble[0], 2_s, 2_s));
  ensemble.run(10_s);
  const Lines lines = ensemble.test.journal.lines();
  CHECK(lines == Lines{"1002ms n0 leads term 1", "1504ms A PUT 7", "3238.333333ms n1 leads term 2",
                       "4506ms A GET of n0 -1", "4.51s A GET of n1 7", "7512ms A STALE of n0 7"});
  CHECK_FALSE(ensemble.judge.breach());
}

/// n0 leads and has 7; from 1.6 s until 8 s nobody hears it. At 4 s n1 is asked to put 8, and then all are asked.
Lines behind_a_partition(const MemberTimes& times, const ReplicaSettings& settings = {}) {
  Ensemble ensemble(settings, times);
  std::vector<sim::ConnectionId> to;
  to = ensemble.add_client("A", [&](sim::testing::Client& self) -> sim::Task<void> {
    co_await self.sleep(1500_ms);
    co_await self.call(to[0], "PUT", 7);
    co_await self.sleep(2500_ms);
    self.note("PUT to n1 " + outcome(co_await self.call(to[1], "PUT", 8)));
    self.note("STALE of n0 " + outcome(co_await self.call(to[0], "STALE", 0)));
    self.note("GET of n1 " + outcome(co_await self.call(to[1], "GET", 0)));
    self.note("GET of n0 " + outcome(co_await self.call(to[0], "GET", 0)));
    co_await self.sleep(5_s);
    self.note("STALE of n0 " + outcome(co_await self.call(to[0], "STALE", 0)));
  });
  ensemble.cut_off(0, 1600_ms, 8_s);
  ensemble.run(20_s);
  CHECK_FALSE(ensemble.judge.breach());
  return ensemble.test.journal.lines();
}

TEST_CASE("consensus in a world: a leader behind a partition answers with old values, and believes that it leads") {
  MemberTimes times;
  times.quorum.reset();
  CHECK(behind_a_partition(times) == Lines{"1002ms n0 leads term 1", "2839.333333ms n1 leads term 2",
                                           "4008ms A PUT to n1 8", "4.01s A STALE of n0 7", "4014ms A GET of n1 8",
                                           "8001ms n0 leads no more", "8002ms A GET of n0 -1",
                                           "13004ms A STALE of n0 8"});
}

TEST_CASE("consensus in a world: a leader that no quorum answers gives up; what it has is old all the same") {
  // n0 stands for election again and again behind the partition; its term then ends that of n1, too.
  CHECK(behind_a_partition({}) == Lines{"1002ms n0 leads term 1", "2839.333333ms n1 leads term 2",
                                        "3002ms n0 leads no more", "4008ms A PUT to n1 8", "4.01s A STALE of n0 7",
                                        "4014ms A GET of n1 8", "4016ms A GET of n0 -1", "8001ms n1 leads no more",
                                        "9018ms A STALE of n0 7"});
}

TEST_CASE("consensus in a world: with pre-vote, who comes back from behind a partition leaves the leader alone") {
  ReplicaSettings settings;
  settings.pre_vote = true;
  // n1 asks first, and n2 has heard n0 a moment ago.
  CHECK(behind_a_partition({}, settings) == Lines{"1004ms n0 leads term 1", "3004ms n0 leads no more",
                                                  "3175.666666ms n2 leads term 2", "4006ms A PUT to n1 -1",
                                                  "4008ms A STALE of n0 7", "4.01s A GET of n1 -1",
                                                  "4012ms A GET of n0 -1", "9014ms A STALE of n0 7"});
}

TEST_CASE("consensus in a world: clocks that drift, crashes and partitions break no promise") {
  const std::uint64_t seeds = sim::cases<std::uint64_t>(100, 5);
  std::size_t terms = 0;
  std::size_t committed = 0;
  std::size_t answered = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sim::Random random(seed);
    sim::RandomDecisions decisions(seed);
    const std::size_t nodes = seed % 2 == 0 ? 3 : 5;
    std::vector<std::int64_t> drifts;
    for (std::size_t i = 0; i < nodes; ++i) drifts.push_back(random.between(-300'000'000, 300'000'000));
    ReplicaSettings settings;
    settings.nodes = nodes;
    settings.pre_vote = random.one_in(2);
    Ensemble ensemble(settings, decisions, drifts);
    std::vector<sim::ConnectionId> to;
    to = ensemble.add_client("A", [&](sim::testing::Client& self) -> sim::Task<void> {
      for (std::int64_t i = 1; i <= 200; ++i) {
        co_await self.sleep(100_ms);
        const std::size_t node = random.below(nodes);
        const auto answer = co_await self.call(to[node], random.one_in(3) ? "GET" : "PUT", i, 300_ms);
        answered += answer && *answer != kNotLeader ? 1 : 0;
      }
    });
    for (int i = 0; i < 4; ++i) {
      const auto at = sim::Duration::milliseconds(random.between(1'000, 20'000));
      const auto length = sim::Duration::milliseconds(random.between(100, 5'000));
      const std::size_t node = random.below(nodes);
      if (random.one_in(2)) {
        ensemble.cut_off(node, at, at + length);
      } else {
        ensemble.test.world.plan(sim::testing::crash_at(ensemble[node], at, length));
      }
    }
    ensemble.run(40_s);
    INFO(seed);
    REQUIRE_FALSE(ensemble.judge.breach());
    terms += ensemble.judge.leaders().size();
    committed += ensemble.judge.committed().size();
  }
  CHECK(terms > 2 * seeds);
  CHECK(committed > 20 * seeds);
  CHECK(answered > 20 * seeds);
}

}  // namespace
}  // namespace lockstep::models::consensus::consensus_world_test
