// What a crash leaves of a server's keys, and what its replicas make of the restart.

#include "models/redis/conformance/replicated_story.hpp"
#include "sim/schedules/decisions.hpp"

namespace lockstep::models::redis::persistence_test {

using namespace sim::literals;
using AppendOnly = PersistenceSettings::AppendOnly;
using Seen = std::vector<std::string>;

namespace {

/// SET k0, k1, … at 0, 300, … 1500 ms; the machine loses power at 1600 ms.
std::string survivors(AppendOnly policy, std::uint64_t answer) {
  ReplicatedStory story(1);
  story.decide(answer);
  story.node(1).set_persistence({.append_only = policy, .save = {}});
  for (int i = 0; i <= 5; ++i) story.say(300_ms * i, 1, "SET k" + std::to_string(i) + " v");
  story.crash(1, 1600_ms, 10_ms);
  story.run();
  std::string out;
  for (const Entry& entry : story.node(1).database().keys().entries()) out += entry.key + " ";
  return out;
}

}  // namespace

TEST_CASE("an append-only file that is written always loses nothing that was answered") {
  CHECK(survivors(AppendOnly::always, 0) == "k0 k1 k2 k3 k4 k5 ");
}

TEST_CASE("everysec loses at most what came in the last second, and any end of it") {
  // 601 ms, when the third was handled, is 999 ms before the crash.
  CHECK(survivors(AppendOnly::everysec, 0) == "k0 k1 ");
  CHECK(survivors(AppendOnly::everysec, 1) == "k0 k1 k2 ");
  CHECK(survivors(AppendOnly::everysec, 4) == "k0 k1 k2 k3 k4 k5 ");
}

TEST_CASE("fsync no may lose all of the last half minute") {
  CHECK(survivors(AppendOnly::no, 0).empty());
  CHECK(survivors(AppendOnly::no, 3) == "k0 k1 k2 ");
}

TEST_CASE("without persistence a crash loses everything, and with keep nothing") {
  CHECK(survivors(AppendOnly::off, 0).empty());
  ReplicatedStory story(1);
  story.say(0_ms, 1, "SET k v");
  story.crash(1, 10_ms, 10_ms, true);
  story.run();
  CHECK(story.keys(1) == "k=v");
}

TEST_CASE("a snapshot is made when its time has passed and enough has changed") {
  ReplicatedStory story(1);
  story.node(1).set_persistence({.append_only = AppendOnly::off, .save = {{.after = 10_s, .changes = 2}}});
  story.say(0_ms, 1, "SET a 1");
  story.say(11_s, 1, "SET b 2");  // the second change: from now on a snapshot is due
  story.say(12_s, 1, "SET c 3");
  story.crash(1, 15_s, 10_ms);
  story.run();
  CHECK(story.keys(1) == "a=1, b=2");
}

TEST_CASE("SAVE makes a snapshot, and what comes after it is lost") {
  ReplicatedStory story(1);
  story.say(0_ms, 1, "SET a 1", "SAVE", "SET b 2");
  story.crash(1, 1_s, 10_ms);
  CHECK(story.run() == Seen{"OK; OK; OK"});
  CHECK(story.keys(1) == "a=1");
}

TEST_CASE(
    "replicas of a primary that was restarted from a snapshot continue, and after an append-only file begin anew") {
  const bool from_snapshot = GENERATE(true, false);
  ReplicatedStory story;
  if (!from_snapshot) story.node(1).set_persistence({.append_only = AppendOnly::always, .save = {}});
  story.say(0_ms, 1, "SET a 1", "SAVE");
  story.crash(1, 1_s, 10_ms);
  story.run();
  CHECK(story.keys(1) == "a=1");
  CHECK(story.keys(2) == "a=1");
  // Only who continues remembers the history before.
  const bool continued = story.replication(2).second_id() != std::string(40, '0');
  CHECK(continued == from_snapshot);
}

TEST_CASE("a server that reads its disk answers LOADING, but for some") {
  ReplicatedStory story(1);
  story.node(1).set_persistence({.append_only = AppendOnly::always, .save = {}});
  story.node(1).set_loading_time(100_ms);
  story.say(0_ms, 1, "SET a 1");
  story.crash(1, 50_ms, 10_ms);
  story.say(100_ms, 1, "GET a", "PING", "ECHO hello", "MULTI", "GET a", "EXEC");
  story.say(200_ms, 1, "GET a");
  CHECK(story.run() ==
        Seen{"OK",
             "(error) LOADING Redis is loading the dataset in memory; (error) LOADING Redis is loading the "
             "dataset in memory; \"hello\"; OK; (error) LOADING Redis is loading the dataset in memory; "
             "(error) EXECABORT Transaction discarded because of previous errors.",
             "\"1\""});
}

TEST_CASE("a replica waits for a primary that is loading") {
  ReplicatedStory story;
  story.node(1).set_persistence({.append_only = AppendOnly::always, .save = {}});
  story.node(1).set_loading_time(100_ms);
  story.say(0_ms, 1, "SET a 1");
  story.crash(1, 50_ms, 10_ms);
  story.say(100_ms, 2, "REPLICAOF NO ONE", "REPLICAOF redis1 6379");
  story.say(120_ms, 2, "ROLE");
  story.say(500_ms, 1, "SET b 2");
  CHECK(story.run()[2] == R"(1) "slave" 2) "redis1" 3) (integer) 6379 4) "connect" 5) (integer) -1)");
  CHECK(story.keys(2) == "a=1, b=2");
}

TEST_CASE("a restart finds the configuration file, and CONFIG REWRITE changes it") {
  const bool rewrites = GENERATE(false, true);
  ReplicatedStory story;
  story.say(0_ms, 2, "REPLICAOF NO ONE", rewrites ? "CONFIG REWRITE" : "PING");
  story.crash(2, 50_ms, 10_ms);
  story.run();
  CHECK(story.replication(2).is_replica() == !rewrites);
}

TEST_CASE("FAILOVER hands over to a replica that has everything") {
  ReplicatedStory story;
  story.say(0_ms, 1, "SET a 1", "FAILOVER", "SET b 2");
  story.say(100_ms, 2, "SET c 3");
  CHECK(story.run() == Seen{"OK; OK; (error) READONLY You can't write against a read only replica.", "OK"});
  CHECK(story.keys(1) == "a=1, c=3");
  CHECK(story.keys(2) == "a=1, c=3");
  CHECK(story.replication(1).is_replica());
  CHECK_FALSE(story.replication(2).is_replica());
}

TEST_CASE("FAILOVER gives up when its time is out, and writes go on") {
  ReplicatedStory story;
  story.cut(1, 2, 0_ms, 60_s);
  story.say(0_ms, 1, "SET a 1", "FAILOVER TIMEOUT 100", "SET b 2");
  CHECK(story.run(10_s) == Seen{"OK; OK; OK"});
  CHECK(story.keys(1) == "a=1, b=2");
  CHECK_FALSE(story.replication(1).is_replica());
}

TEST_CASE("FAILOVER can be aborted, and refuses what it cannot do") {
  ReplicatedStory story;
  story.cut(1, 2, 0_ms, 60_s);
  story.say(0_ms, 1, "FAILOVER TO nobody 1", "FAILOVER TO redis2 6379 FORCE", "FAILOVER", "FAILOVER", "FAILOVER ABORT",
            "FAILOVER ABORT", "SET a 1");
  CHECK(
      story.run(10_s) ==
      Seen{"(error) ERR FAILOVER target HOST and PORT is not a replica.; (error) ERR FAILOVER with force option "
           "requires "
           "both a timeout and target HOST and IP.; OK; (error) ERR FAILOVER already in progress.; OK; (error) ERR No "
           "failover in progress.; OK"});
}

}  // namespace lockstep::models::redis::persistence_test
