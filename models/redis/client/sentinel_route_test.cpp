// Clients that know only sentinels: they find the primary, lose it, and find the next one.

#include "models/redis/client/sentinel_route.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/sentinel/sentinel.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::redis::sentinel_route_test {
namespace {

using namespace sim::literals;
using Seen = std::vector<std::string>;

/// redis1 with its replica redis2, three sentinels, and clients that ask those. A reply may take 200 ms.
class Story {
 public:
  Story() {
    for (int i = 1; i <= 2; ++i) world_.add(servers_.emplace_back(scripts_), "redis" + std::to_string(i), {});
    Node::meet(servers_[0], servers_[1], kLatency);
    servers_[1].begin_as_replica_of(servers_[0]);
    SentinelSettings settings;
    settings.quorum = 2;
    settings.down_after = 300_ms;
    settings.failover_timeout = 3_s;
    for (int i = 1; i <= 3; ++i) world_.add(sentinels_.emplace_back(settings), "sentinel" + std::to_string(i), {});
    for (std::size_t i = 0; i < sentinels_.size(); ++i) {
      for (Node& server : servers_) {
        const sim::ConnectionId requests = world_.connect(sentinels_[i].id(), server.id(), kLatency);
        sentinels_[i].connect_node(server.name(), requests, world_.connect(sentinels_[i].id(), server.id(), kLatency));
      }
      for (Sentinel& other : sentinels_) {
        if (&other == &sentinels_[i]) continue;
        sentinels_[i].connect_sentinel(other.name(), world_.connect(sentinels_[i].id(), other.id(), kLatency));
      }
      sentinels_[i].monitor("redis1");
      sentinels_[i].begin_acquainted();
      world_.start(sentinels_[i].id(), sim::DurationRange::exactly(17_ms * static_cast<std::int64_t>(i)));
    }
  }

  using Program = std::function<sim::Task<void>(Client&, Story&)>;
  Client& add(const std::string& name, Program program) {
    Client& client = clients_.emplace_back([this, program](Client& c) { return program(c, *this); });
    world_.add(client, name, {});
    std::vector<PrimaryRoute::Sentinel> sentinels;
    for (Sentinel& sentinel : sentinels_) {
      const sim::ConnectionId requests = world_.connect(client.id(), sentinel.id(), kLatency);
      sentinels.push_back({requests, world_.connect(client.id(), sentinel.id(), kLatency)});
    }
    std::vector<PrimaryRoute::Server> servers;
    for (Node& server : servers_) {
      servers.push_back({server.name(), world_.connect(client.id(), server.id(), kLatency)});
    }
    client.connect<Endpoint>().follow_primary("mymaster", std::move(sentinels), std::move(servers), 200_ms,
                                              PrimaryRoute::Begin::nobody);
    world_.start(client.id(), sim::DurationRange::exactly(1_s));
    return client;
  }
  void crash(const sim::Process& process, sim::Duration at, std::optional<sim::Duration> restart_after = std::nullopt) {
    sim::PlannedFault fault;
    fault.kind = sim::PlannedFault::Kind::crash;
    fault.process = process.id();
    fault.at = at;
    if (restart_after) fault.restart_after = sim::DurationRange::exactly(*restart_after);
    world_.plan(std::move(fault));
  }
  Node& server(std::size_t i) { return servers_[i - 1]; }
  Sentinel& sentinel(std::size_t i) { return sentinels_[i - 1]; }
  sim::World& world() { return world_; }
  void see(const Reply& reply) { seen_.push_back(reply.describe()); }
  void see(std::string what) { seen_.push_back(std::move(what)); }
  Seen run() {
    world_.arm_faults();
    end_ = simulation_.run(sim::Instant::at(600_s), 1'000'000);
    return seen_;
  }
  sim::Simulation::End end() const { return end_; }

 private:
  static constexpr sim::DurationRange kLatency = sim::DurationRange::exactly(sim::Duration::milliseconds(1));
  sim::DefaultDecisions decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};
  ScriptEngine scripts_;
  std::deque<Node> servers_;
  std::deque<Sentinel> sentinels_;
  std::deque<Client> clients_;
  Seen seen_;
  sim::Simulation::End end_ = sim::Simulation::End::quiet;
};

/// Tries the same again and again until it is answered.
sim::Task<void> insist(Client& client, Story& story, std::string line) {
  while (true) {
    const Reply reply = co_await server_of(client).call(std::get<Command>(parse_command_line(line)));
    if (reply.is_unknown()) continue;
    story.see(reply);
    co_return;
  }
}

}  // namespace

TEST_CASE("a client finds the primary, and the story ends although sentinels look for ever") {
  Story story;
  story.add("A", [](Client& client, Story& s) -> sim::Task<void> {
    s.see(co_await server_of(client).set("k", "v"));
    s.see(co_await server_of(client).get("k"));
  });
  CHECK(story.run() == Seen{"OK", "\"v\""});
  CHECK(story.end() == sim::Simulation::End::quiet);
  CHECK(story.world().now().offset() < 2_s);
  CHECK(story.server(1).database().keys().size() == 1);
}

TEST_CASE("a request in flight when the primary dies is unknown and never sent twice; the next goes to the new one") {
  Story story;
  story.add("A", [](Client& client, Story& s) -> sim::Task<void> {
    s.see(co_await server_of(client).call(Command{"INCR", "n"}));
    co_await client.sleep(1_s);
    s.see(co_await server_of(client).call(Command{"INCR", "n"}));
    CHECK(client.session().missed_reply);
    co_await insist(client, s, "INCR n");
    s.see(co_await server_of(client).call(Command{"ROLE"}));
  });
  story.crash(story.server(1), 1500_ms);
  const Seen seen = story.run();
  REQUIRE(seen.size() == 4);
  CHECK(seen[1] == "(no answer)");
  CHECK(seen[2] == "(integer) 2");
  CHECK(seen[3].starts_with("1) \"master\""));
}

TEST_CASE("without a sentinel that answers, patience ends the search") {
  Story story;
  for (std::size_t i = 1; i <= 3; ++i) story.crash(story.sentinel(i), 500_ms);
  story.add("A", [](Client& client, Story& s) -> sim::Task<void> {
    const sim::Instant begin = s.world().now();
    s.see(co_await server_of(client).get("k"));
    CHECK(s.world().now().offset() - begin.offset() == 800_ms);  // three sentinels and a server, 200 ms each
  });
  CHECK(story.run() == Seen{"(no answer)"});
}

TEST_CASE("a dead sentinel is passed over") {
  Story story;
  story.crash(story.sentinel(1), 500_ms);
  story.add("A", [](Client& client, Story& s) -> sim::Task<void> { s.see(co_await server_of(client).set("k", "v")); });
  CHECK(story.run() == Seen{"OK"});
}

TEST_CASE("a sentinel that cannot be reached costs a timeout, and the next one is asked") {
  Story story;
  sim::Partition cut{.sides = {.left = {story.sentinel(1).id()}, .right = {}},
                     .from = sim::Instant::at(500_ms),
                     .until = std::nullopt};
  const Client& client =
      story.add("A", [](Client& c, Story& s) -> sim::Task<void> { s.see(co_await server_of(c).set("k", "v")); });
  cut.sides.right = {client.id()};
  story.world().plan(std::move(cut));
  CHECK(story.run() == Seen{"OK"});
}

TEST_CASE("a server that sentinels have made a replica starts again as one: they rewrite its configuration") {
  Story story;
  story.crash(story.server(1), 1500_ms, 8_s);
  story.crash(story.server(1), 60_s, 100_ms);
  story.add("A", [](Client& client, Story& s) -> sim::Task<void> {
    co_await client.sleep(10_s);
    CHECK_FALSE(s.server(1).database().replication().is_replica());
    co_await client.sleep(40_s);
    CHECK(s.server(1).database().replication().is_replica());
    co_await client.sleep(9200_ms);  // it has been back for a tenth of a second, and no sentinel can have told it yet
    CHECK(s.server(1).database().replication().is_replica());
    s.see("looked");
  });
  CHECK(story.run() == Seen{"looked"});
}

TEST_CASE("a primary that lost its role answers READONLY, and is left") {
  Story story;
  story.add("A", [](Client& client, Story& s) -> sim::Task<void> {
    s.see(co_await server_of(client).set("k", "1"));
    // Somebody else turns the roles round, behind the sentinels' backs.
    co_await client.sleep(1_s);
    s.see(co_await server_of(client).call(Command{"REPLICAOF", "redis2", "6379"}));
    s.see(co_await server_of(client).set("k", "2"));
    // It looks for a primary, and no server of the sentinels' is one.
    s.see(co_await server_of(client).set("k", "3"));
  });
  CHECK(story.run() ==
        Seen{"OK", "OK", "(error) READONLY You can't write against a read only replica.", "(no answer)"});
}

TEST_CASE("whoever waits for messages learns that his subscription is gone") {
  Story story;
  story.add("A", [](Client& client, Story& s) -> sim::Task<void> {
    co_await server_of(client).subscribe("news");
    const std::optional<Reply> message = co_await server_of(client).next_message(std::nullopt);
    s.see(message ? message->describe() : "nothing");
    CHECK(s.world().now().offset() > 1500_ms);
    s.see((co_await server_of(client).subscribe("news")).items()[0]);
    const std::optional<Reply> next = co_await server_of(client).next_message(std::nullopt);
    s.see(next ? next->describe() : "nothing");
  });
  story.add("B", [](Client& client, Story& s) -> sim::Task<void> {
    co_await client.sleep(20_s);
    co_await insist(client, s, "PUBLISH news x");
  });
  story.crash(story.server(1), 1500_ms);
  CHECK(story.run() == Seen{"(no answer)", "\"subscribe\"", "(integer) 1", R"(1) "message" 2) "news" 3) "x")"});
}

TEST_CASE("a client that dies while it looks for the primary begins anew") {
  Story story;
  Client& client = story.add("A", [](Client& c, Story& s) -> sim::Task<void> { co_await insist(c, s, "SET k v"); });
  story.crash(client, 1001_ms, 1_s);
  CHECK(story.run() == Seen{"OK"});
}

}  // namespace lockstep::models::redis::sentinel_route_test
