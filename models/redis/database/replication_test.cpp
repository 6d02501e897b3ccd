// A primary and its replicas: what arrives, what is lost, and who may write.

#include "models/redis/conformance/replicated_story.hpp"

namespace lockstep::models::redis::replication_test {

using namespace sim::literals;
using Seen = std::vector<std::string>;

TEST_CASE("a write reaches the replica after the network's delay, and not before") {
  ReplicatedStory story;
  story.say(0_ms, 1, "SET k v");
  story.say(500_us, 2, "GET k", "GET k");
  CHECK(story.run() == Seen{"OK", "(nil); \"v\""});
  CHECK(story.keys(2) == "k=v");
}

TEST_CASE("offsets count the bytes of the stream as Redis does") {
  // SELECT 0 and SET k v: 23 and 27 bytes.
  ReplicatedStory story;
  story.say(0_ms, 1, "SET k v");
  story.say(10_ms, 1, "ROLE");
  story.say(10_ms, 2, "ROLE");
  CHECK(story.run() == Seen{"OK", R"(1) "master" 2) (integer) 50 3) [1) [1) "redis2" 2) "6379" 3) "0"]])",
                            R"(1) "slave" 2) "redis1" 3) (integer) 6379 4) "connected" 5) (integer) 50)"});
}

TEST_CASE("a replica refuses to write, as Redis words it") {
  ReplicatedStory story;
  story.say(0_ms, 2, "SET a 1", "MULTI", "SET a 1", "EXEC", "GET a", "PUBLISH c m");
  story.say(0_ms, 2, "WAIT 1 10");
  story.say(0_ms, 2, "BLPOP l 0");
  CHECK(
      story.run() ==
      Seen{"(error) READONLY You can't write against a read only replica.; OK; (error) READONLY You can't write "
           "against a read only replica.; (error) EXECABORT Transaction discarded because of previous errors.; (nil); "
           "(integer) 0",
           "(error) ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica "
           "is configured to be writable (which is not the default) writes to replicas are just local and are not "
           "propagated.",
           "(error) READONLY You can't write against a read only replica."});
}

TEST_CASE("what a crashed primary had not sent is lost, and the promoted replica does not know of it") {
  ReplicatedStory story;
  story.say(0_ms, 1, "SET old 1");
  story.say(10_ms, 1, "SET new 1");
  story.cut(1, 2, 5_ms, 60_s);
  story.crash(1, 12_ms);
  story.say(100_ms, 2, "REPLICAOF NO ONE", "GET old", "GET new", "SET new 2", "ROLE");
  CHECK(story.run()[2] == R"(OK; "1"; (nil); OK; 1) "master" 2) (integer) 104 3) [(empty array)])");
}

TEST_CASE("expiry is the primary's: a replica hides an expired key and keeps it") {
  ReplicatedStory story;
  story.say(0_ms, 1, "SET k v PX 100");
  story.say(200_ms, 2, "GET k", "EXISTS k");
  story.run(300_ms);
  CHECK(story.keys(2) == "k=v");
  story.say(400_ms, 1, "GET k");
  CHECK(story.run() == Seen{"OK", "(nil); (integer) 0", "(nil)"});
  CHECK(story.keys(2).empty());
}

TEST_CASE("a replica whose primary restarts resynchronizes: with its keys partially, without them in full") {
  const bool keep = GENERATE(false, true);
  ReplicatedStory story;
  story.say(0_ms, 1, "SET a 1");
  story.crash(1, 50_ms, 100_ms, keep);
  story.say(200_ms, 1, "SET b 2");
  story.run();
  CHECK(story.keys(1) == (keep ? "a=1, b=2" : "b=2"));
  CHECK(story.keys(2) == story.keys(1));
  CHECK(story.replication(2).id() == story.replication(1).id());
  CHECK(story.replication(2).offset() == story.replication(1).offset());
}

TEST_CASE("a replica that was away goes on where it was") {
  ReplicatedStory story;
  story.say(0_ms, 1, "SET a 1");
  story.say(50_ms, 2, "REPLICAOF NO ONE");
  story.say(60_ms, 1, "SET b 2");
  story.say(100_ms, 2, "REPLICAOF redis1 6379");
  story.run();
  CHECK(story.keys(2) == "a=1, b=2");
}

TEST_CASE("the old primary returns as a replica and forgets what only it knew") {
  ReplicatedStory story;
  story.say(0_ms, 1, "SET a 1");
  story.say(50_ms, 2, "REPLICAOF NO ONE");
  story.say(60_ms, 1, "SET only-old 1");
  story.say(70_ms, 2, "SET only-new 1");
  story.say(100_ms, 1, "REPLICAOF redis2 6379");
  story.run();
  CHECK(story.keys(2) == "a=1, only-new=1");
  CHECK(story.keys(1) == "a=1, only-new=1");
  CHECK(story.replication(1).id() == story.replication(2).id());
}

TEST_CASE("an old primary that knew nothing more continues from the second identity") {
  ReplicatedStory story;
  story.say(0_ms, 1, "SET a 1");
  story.say(50_ms, 2, "REPLICAOF NO ONE", "SET b 2");
  story.say(100_ms, 1, "REPLICAOF redis2 6379");
  story.run();
  CHECK(story.keys(1) == "a=1, b=2");
  CHECK(story.replication(1).id() == story.replication(2).id());
  // A full resync would have forgotten it.
  CHECK(story.replication(1).second_id() != std::string(40, '0'));
}

TEST_CASE("WAIT counts who has acknowledged what its connection has done") {
  ReplicatedStory story(3);
  story.say(0_ms, 1, "SET k v", "WAIT 2 0");
  story.say(0_ms, 1, "WAIT 0 0");
  story.cut(1, 3, 40_ms, 10_s);
  story.say(50_ms, 1, "SET k w", "WAIT 2 100", "WAIT 1 100");
  CHECK(story.run() == Seen{"OK; (integer) 2", "(integer) 2", "OK; (integer) 1; (integer) 1"});
}

TEST_CASE("transactions and scripts arrive as a whole") {
  ReplicatedStory story;
  story.say(0_ms, 1, "MULTI", "SET a 1", "SET b 2", "EXEC");
  story.say(10_ms, 1, "EVAL \"redis.call('set','c',3) redis.call('del','a') return 1\" 0");
  story.run();
  CHECK(story.keys(2) == "b=2, c=3");
  // SELECT, MULTI, two SETs, EXEC; MULTI, SET, DEL, EXEC.
  CHECK(story.replication(1).offset() == 23 + (15 + 27 + 27 + 14) + (15 + 27 + 20 + 14));
}

TEST_CASE("a script cache is not replicated: after a failover the script is unknown") {
  ReplicatedStory story;
  story.say(0_ms, 1, "SCRIPT LOAD \"return 1\"", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0");
  story.say(50_ms, 2, "REPLICAOF NO ONE", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0");
  CHECK(story.run() == Seen{"\"e0e1f9fabfc9d4800c877a703b823ac0578ff8db\"; (integer) 1",
                            "OK; (error) NOSCRIPT No matching script. Please use EVAL."});
}

TEST_CASE("a primary without enough replicas refuses to write") {
  ReplicatedStory story;
  story.say(0_ms, 1, "CONFIG SET min-replicas-to-write 1", "SET a 1");
  story.say(20_ms, 2, "REPLICAOF NO ONE");
  story.say(40_ms, 1, "SET a 2", "GET a", "MULTI", "SET a 3", "EXEC");
  CHECK(story.run()[2] ==
        "(error) NOREPLICAS Not enough good replicas to write.; \"1\"; OK; (error) NOREPLICAS Not enough good replicas "
        "to "
        "write.; (error) EXECABORT Transaction discarded because of previous errors.");
}

TEST_CASE("with periodic acknowledgements a silent replica does not count after max-lag, and the run still ends") {
  ReplicatedStory story;
  for (std::size_t i = 1; i <= 2; ++i) story.node(i).set_periodic_acks(true);
  story.cut(1, 2, 5500_ms, 60_s);
  story.say(0_ms, 1, "CONFIG SET min-replicas-to-write 1 min-replicas-max-lag 3", "SET a 1");
  story.say(8_s, 1, "SET a 2");
  story.say(9_s, 1, "SET a 3");
  CHECK(story.run() == Seen{"OK; OK", "OK", "(error) NOREPLICAS Not enough good replicas to write."});
  CHECK(story.end() == sim::Simulation::End::quiet);
}

TEST_CASE("messages of channels reach subscribers of a replica") {
  ReplicatedStory story;
  std::vector<std::string> heard;
  story.say(0_ms, 2, "SUBSCRIBE news");
  story.say(10_ms, 1, "PUBLISH news x");
  CHECK(story.run()[1] == "(integer) 0");
  CHECK(story.replication(2).offset() > 0);
}

}  // namespace lockstep::models::redis::replication_test
