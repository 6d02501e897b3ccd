// Sentinels among servers that do what the test says: who fails over, when, to whom, and who must not.

#include "models/redis/sentinel/sentinel.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "models/redis/sentinel/sentinel_world.hpp"

namespace lockstep::models::redis::sentinel_test {
namespace {

using namespace sim::literals;
using Fault = sim::PlannedFault::Kind;

SentinelSettings quick(std::size_t quorum) {
  SentinelSettings settings;
  settings.quorum = quorum;
  settings.down_after = 300_ms;
  settings.failover_timeout = 3_s;
  return settings;
}

/// At most one leader per epoch among all sentinels, as their announcements tell.
void check_one_leader_per_epoch(SentinelWorld& story) {
  std::set<std::string> epochs;
  for (std::size_t i = 1; i <= story.sentinels(); ++i) {
    std::string epoch;
    for (const std::string& line : story.sentinel(i).announced()) {
      if (line.starts_with("+new-epoch ")) epoch = line;
      if (line.starts_with("+elected-leader ")) CHECK(epochs.insert(epoch).second);
    }
  }
}

}  // namespace

TEST_CASE("a dead primary is replaced, by one sentinel, and all agree on the replica") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(3, 3, quick(2), decisions);
  story.server(3).offset = 10;
  story.server(2).offset = 9;
  story.crash(story.server(1), 5_s);
  story.run(10_s);
  CHECK(story.primaries() == "redis3 redis3 redis3");
  CHECK(story.announced("+elected-leader") == 1);
  CHECK(story.announced("+switch-master mymaster redis1 6379 redis3 6379") == 3);
  CHECK(story.server(3).orders == std::vector<std::string>{"NO"});
  CHECK(story.server(2).orders == std::vector<std::string>{"redis3"});
  CHECK(story.sentinel(1).configuration_epoch() == 1);
  CHECK(story.sentinel(3).configuration_epoch() == 1);
  check_one_leader_per_epoch(story);
}

TEST_CASE("a primary that answers in time is left alone") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(2), decisions);
  // Shorter than down-after, with what a ping may already have waited.
  story.strike(Fault::pause, story.server(1), 5_s, 100_ms);
  story.run(60_s);
  CHECK(story.announced("+sdown") == 0);
  CHECK(story.primaries() == "redis1 redis1 redis1");
}

TEST_CASE("one sentinel's suspicion is not enough for a quorum of two") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(2), decisions);
  story.isolate({story.sentinel(1).id()}, 5_s, 20_s);
  story.run(40_s);
  CHECK(SentinelWorld::announced(story.sentinel(1), "+sdown master") == 1);
  CHECK(story.announced("+odown") == 0);
  CHECK(story.announced("+try-failover") == 0);
  CHECK(story.announced("-sdown master") == 1);
}

TEST_CASE("with quorum 1 a minority finds the primary down but elects nobody") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(1), decisions);
  // A sentinel and the replica, on the wrong side of a partition.
  story.isolate({story.sentinel(1).id(), story.server(2).id()}, 5_s, 60_s);
  story.run(50_s);
  CHECK(SentinelWorld::announced(story.sentinel(1), "+odown") >= 1);
  CHECK(SentinelWorld::announced(story.sentinel(1), "+try-failover") >= 2);
  CHECK(SentinelWorld::announced(story.sentinel(1), "-failover-abort-not-elected") >= 2);
  CHECK(story.announced("+elected-leader") == 0);
  CHECK(story.server(2).orders.empty());
  CHECK(story.primaries() == "redis1 redis1 redis1");
}

TEST_CASE("a lone sentinel with quorum 1 fails over by itself") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 1, quick(1), decisions);
  story.crash(story.server(1), 5_s);
  story.run(10_s);
  CHECK(story.primaries() == "redis2");
}

TEST_CASE("a minority with a partitioned primary must not fail over, and the majority does") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(3, 3, quick(2), decisions);
  story.isolate({story.sentinel(1).id(), story.server(1).id()}, 5_s, 20_s);
  story.run(19_s);
  CHECK(story.primaries() == "redis1 redis2 redis2");
  CHECK(story.announced("+elected-leader") == 1);
  // Then the news arrive, and the old primary is turned round after a while.
  story.run(60_s);
  CHECK(story.primaries() == "redis2 redis2 redis2");
  CHECK(story.server(1).follows == "redis2");
  CHECK(story.sentinel(1).epoch() == story.sentinel(2).epoch());
  CHECK(story.announced("+convert-to-slave slave redis1:6379 redis1 6379 @ mymaster redis2 6379") >= 1);
}

TEST_CASE("two sentinels that stand for election at the same time get no second leader, and a later epoch decides") {
  // Requests for votes take as long as a round of looking, so candidates meet.
  std::size_t collisions = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    sim::RandomDecisions decisions(seed);
    SentinelWorld story(3, 3, quick(2), decisions, {1_ms, 100_ms});
    story.crash(story.server(1), 5_s);
    story.run(60_s);
    INFO("seed " << seed);
    check_one_leader_per_epoch(story);
    if (story.announced("+try-failover") > 1) ++collisions;
    const std::string& primary = story.sentinel(1).primary();
    CHECK(primary != "redis1");
    CHECK(story.primaries() == primary + " " + primary + " " + primary);
  }
  CHECK(collisions >= 5);
}

TEST_CASE("a replica is chosen by priority, then by what it has, and never when it is unfit") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(5, 3, quick(2), decisions);
  story.server(2).offset = 100;  // has most, but
  story.server(2).priority = 1;
  story.server(2).unlinked_seconds = 60;
  story.server(3).priority = 0;  // and this one must not
  story.server(3).offset = 50;
  story.server(4).priority = 50;
  story.server(4).offset = 1;
  story.server(5).offset = 99;
  story.crash(story.server(1), 5_s);
  story.run(10_s);
  CHECK(story.primaries() == "redis4 redis4 redis4");
}

TEST_CASE("without a fit replica a failover is given up, and tried again under a new epoch") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(2), decisions);
  story.server(2).priority = 0;
  story.crash(story.server(1), 5_s);
  story.run(30_s);
  CHECK(story.announced("-failover-abort-no-good-slave") >= 2);
  CHECK(story.primaries() == "redis1 redis1 redis1");
  CHECK(story.sentinel(1).epoch() >= 2);
  CHECK(story.sentinel(1).configuration_epoch() == 0);
  check_one_leader_per_epoch(story);
}

TEST_CASE("what another sentinel has said counts for five seconds, and then no more") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 2, quick(2), decisions);
  story.server(2).priority = 0;  // so that the primary stays down
  story.crash(story.server(1), 5_s);
  story.crash(story.sentinel(2), 8_s);
  story.run(7_s);
  CHECK(story.sentinel(1).is_objectively_down());
  story.run(20_s);
  CHECK_FALSE(story.sentinel(1).is_objectively_down());
  CHECK(SentinelWorld::announced(story.sentinel(1), "-odown") == 1);
}

TEST_CASE("a replica that does not obey lets the failover time out") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(2), decisions);
  story.server(2).obeys = false;
  story.crash(story.server(1), 5_s);
  story.run(30_s);
  CHECK(story.announced("-failover-abort-slave-timeout") >= 2);
  CHECK(story.primaries() == "redis1 redis1 redis1");
}

TEST_CASE("a promoted replica that dies is replaced in its turn") {
  for (const sim::Duration later : {20_ms, 100_ms, 400_ms, 900_ms, 5_s}) {
    INFO("dies after " << sim::to_string(later));
    sim::DefaultDecisions decisions;
    SentinelWorld story(3, 3, quick(2), decisions);
    story.server(2).offset = 10;
    story.crash(story.server(1), 5_s);
    story.run(5_s);
    while (story.server(2).orders.empty()) story.run(story.world().now().offset() + 1_ms);
    // In a world that runs already a fault is armed by hand.
    sim::PlannedFault death;
    death.kind = Fault::crash;
    death.process = story.server(2).id();
    story.world().arm(death, sim::DurationRange::exactly(story.world().now().offset() + later));
    story.run(60_s);
    CHECK(story.primaries() == "redis3 redis3 redis3");
    check_one_leader_per_epoch(story);
  }
}

TEST_CASE("a failover whose promoted replica is down has no end: a lone sentinel stays in it, as the real one does") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(3, 1, quick(1), decisions);
  story.server(2).offset = 10;
  story.server(3).obeys = false;  // so that the others are not through when it dies
  story.crash(story.server(1), 5_s);
  story.run(5_s);
  while (story.announced("+promoted-slave") == 0) story.run(story.world().now().offset() + 1_ms);
  sim::PlannedFault death;
  death.kind = Fault::crash;
  death.process = story.server(2).id();
  story.world().arm(death, sim::DurationRange::exactly(story.world().now().offset() + 100_ms));
  story.run(60_s);
  CHECK(story.announced("+sdown slave redis2") == 1);
  CHECK(story.announced("+failover-end") == 0);
  CHECK(story.primaries() == "redis1");
}

TEST_CASE("a sentinel keeps its vote and its configuration in a crash") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(2), decisions);
  story.crash(story.server(1), 5_s);
  story.crash(story.sentinel(1), 12_s, 1_s);
  story.run(11_s);
  const Epoch epoch = story.sentinel(1).epoch();
  REQUIRE(epoch >= 1);
  story.run(14_s);
  CHECK(story.sentinel(1).epoch() == epoch);
  CHECK(story.sentinel(1).configuration_epoch() == story.sentinel(2).configuration_epoch());
  CHECK(story.primaries() == "redis2 redis2 redis2");
}

TEST_CASE("a sentinel whose clock jumps acts on nothing for half a minute") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 1, quick(1), decisions);
  story.strike(Fault::jump, story.sentinel(1), 5_s, 3_s);
  story.crash(story.server(1), 6_s);
  story.run(20_s);
  CHECK(story.sentinel(1).is_tilted());
  CHECK(story.announced("+tilt") == 1);
  CHECK(story.announced("+sdown") == 0);
  story.run(60_s);
  CHECK(story.announced("-tilt") == 1);
  CHECK(story.primaries() == "redis2");
}

TEST_CASE("a clock that goes back is as bad, and a jump that is short is none") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 2, quick(1), decisions);
  story.strike(Fault::jump, story.sentinel(1), 5_s, -200_ms);
  story.strike(Fault::jump, story.sentinel(2), 5_s, 1_s);
  story.run(10_s);
  CHECK(story.sentinel(1).is_tilted());
  CHECK_FALSE(story.sentinel(2).is_tilted());
}

TEST_CASE("a tilted sentinel says of nobody that it is down") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(3), decisions);
  story.crash(story.server(1), 5_s);
  story.strike(Fault::jump, story.sentinel(1), 5_s, 3_s);
  story.run(20_s);
  CHECK(story.announced("+odown") == 0);
}

TEST_CASE("a sentinel that is paused too long does not trust what it saw") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(1), decisions);
  story.strike(Fault::pause, story.sentinel(1), 5_s, 4_s);
  story.run(20_s);
  CHECK(story.sentinel(1).is_tilted());
  CHECK(SentinelWorld::announced(story.sentinel(1), "+sdown") == 0);
}

TEST_CASE("clients are told who is primary, and whether a failover could happen") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(2), decisions);
  std::vector<std::string> seen;
  const auto note = [&](const Reply& reply) { seen.push_back(reply.describe()); };
  story.ask(1, 5_s, Command{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"}, note);
  story.ask(1, 5_s, Command{"SENTINEL", "get-master-addr-by-name", "other"}, note);
  story.ask(1, 5_s, Command{"SENTINEL", "CKQUORUM", "mymaster"}, note);
  story.ask(1, 5_s, Command{"SENTINEL", "MASTER", "other"}, note);
  story.ask(1, 5_s, Command{"SENTINEL", "BAR"}, note);
  story.ask(1, 5_s, Command{"SENTINEL", "MASTER"}, note);
  story.ask(1, 5_s, Command{"GET", "k"}, note);
  story.ask(1, 5_s, Command{"PUBLISH", "news", "x"}, note);
  story.ask(1, 5_s, Command{"ROLE"}, note);
  story.ask(1, 5_s, Command{"PING"}, note);
  story.run(6_s);
  CHECK(seen == std::vector<std::string>{R"(1) "redis1" 2) "6379")", "(nil)",
                                         "OK 3 usable Sentinels. Quorum and failover authorization can be reached",
                                         "(error) ERR No such master with that name",
                                         "(error) ERR unknown subcommand 'BAR'. Try SENTINEL HELP.",
                                         "(error) ERR wrong number of arguments for 'sentinel|master' command",
                                         "(error) ERR unknown command 'GET', with args beginning with: 'k' ",
                                         "(error) ERR Only HELLO messages are accepted by Sentinel instances.",
                                         R"(1) "sentinel" 2) [1) "mymaster"])", "PONG"});
}

TEST_CASE("descriptions name what is known of everybody") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 2, quick(1), decisions);
  story.crash(story.sentinel(2), 5_s);
  std::vector<Reply> seen;
  const auto note = [&](const Reply& reply) { seen.push_back(reply); };
  story.ask(1, 8_s, Command{"SENTINEL", "MASTERS"}, note);
  story.ask(1, 8_s, Command{"SENTINEL", "REPLICAS", "mymaster"}, note);
  story.ask(1, 8_s, Command{"SENTINEL", "SENTINELS", "mymaster"}, note);
  story.ask(1, 8_s, Command{"SENTINEL", "CKQUORUM", "mymaster"}, note);
  story.run(9_s);
  REQUIRE(seen.size() == 4);
  const auto field = [](const Reply& instance, std::string_view name) {
    for (std::size_t i = 0; i + 1 < instance.items().size(); i += 2) {
      if (instance.items()[i] == Reply::bulk(name)) return instance.items()[i + 1].value().text();
    }
    return std::string("missing");
  };
  const Reply& primary = seen[0].items().at(0);
  CHECK(field(primary, "ip") == "redis1");
  CHECK(field(primary, "flags") == "master");
  CHECK(field(primary, "num-slaves") == "1");
  CHECK(field(primary, "num-other-sentinels") == "1");
  CHECK(field(primary, "down-after-milliseconds") == "300");
  const Reply& replica = seen[1].items().at(0);
  CHECK(field(replica, "name") == "redis2:6379");
  CHECK(field(replica, "master-link-status") == "ok");
  CHECK(field(replica, "master-host") == "redis1");
  CHECK(field(seen[2].items().at(0), "flags").starts_with("s_down,sentinel"));
  CHECK(seen[3].describe() ==
        "(error) NOQUORUM 1 usable Sentinels. Not enough available Sentinels to reach the majority and authorize a "
        "failover");
}

TEST_CASE("an operator's failover needs no agreement, but a fit replica") {
  sim::DefaultDecisions decisions;
  SentinelWorld story(2, 3, quick(3), decisions);
  std::vector<std::string> seen;
  const auto note = [&](const Reply& reply) { seen.push_back(reply.describe()); };
  story.server(2).obeys = false;  // so that it lasts
  story.ask(1, 5_s, Command{"SENTINEL", "FAILOVER", "mymaster"}, note);
  story.ask(1, 5100_ms, Command{"SENTINEL", "FAILOVER", "mymaster"}, note);
  story.run(6_s);
  CHECK(seen == std::vector<std::string>{"OK", "(error) INPROG Failover already in progress"});
  CHECK(story.server(2).orders == std::vector<std::string>{"NO"});

  SentinelWorld other(1, 3, quick(3), decisions);
  other.ask(1, 5_s, Command{"SENTINEL", "FAILOVER", "mymaster"}, note);
  other.run(6_s);
  CHECK(seen.back() == "(error) NOGOODSLAVE No suitable replica to promote");
}

}  // namespace lockstep::models::redis::sentinel_test
