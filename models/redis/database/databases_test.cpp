// Databases, deadlines far away, functions, and keys that end by themselves.

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

#include "models/redis/conformance/test_server.hpp"
#include "models/redis/server/node.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/time/clock.hpp"
#include "sim/worlds/process.hpp"

namespace lockstep::models::redis::databases_test {
namespace {

using namespace sim::literals;

/// What a watcher hears of.
class Heard final : public KeyWatcher {
 public:
  void key_accessed(std::uint64_t key, bool) override { keys.insert(key); }
  std::set<std::uint64_t> keys;
};

std::set<std::uint64_t> heard(TestServer& server, std::string_view line) {
  Heard heard;
  server.database.set_watcher(&heard);
  server.send(line);
  server.database.set_watcher(nullptr);
  return heard.keys;
}

}  // namespace

TEST_CASE("a watcher hears of other keys in each database, and of both where a command reaches into another") {
  TestServer server;
  const std::set<std::uint64_t> first = heard(server, "SET k v");
  CHECK(heard(server, "MOVE k 3").size() > first.size());
  server.send("SELECT 3");
  const std::set<std::uint64_t> third = heard(server, "SET k v");
  CHECK(first.size() == third.size());
  for (const std::uint64_t key : third) CHECK_FALSE(first.contains(key));
  server.send("SWAPDB 0 1");
  CHECK(server.database.touched_every_key());
}

TEST_CASE("a deadline of millions of years is kept to the millisecond") {
  constexpr Exchange kExchanges[] = {
      {"SET k v PX 9223372036854775", "+OK\r\n"},
      {"EXISTS k", ":1\r\n"},
      {"PTTL k", ":9223372036854775\r\n"},
      {"PEXPIRETIME k", ":9223372037854775\r\n"},
      {"PEXPIRE k 9223372036854774 GT", ":0\r\n"},
      {"PEXPIRE k 5 LT", ":1\r\n"},
      {"PTTL k", ":5\r\n"},
      {"PEXPIRE k 9223372036854775807", "-ERR invalid expire time in 'pexpire' command\r\n"}};
  check_conversation(kExchanges);
}

TEST_CASE("effects say in which database they happened, and a script's SELECT ends with it") {
  TestServer server;
  server.database.record_effects(true);
  server.send(Command{"EVAL", "redis.call('select', 5) return redis.call('set', 'k', 'v')", 0});
  REQUIRE(server.database.effects().size() == 1);
  CHECK(server.database.effects()[0].database == 5);
  server.send("SET k v");
  CHECK(server.database.effects()[0].database == 0);
  CHECK(server.database.keys().entries(5).size() == 1);
}

TEST_CASE("what a library keeps does not reach from one call to the next") {
  TestServer server;
  const Reply loaded =
      server.send(Command{"FUNCTION", "LOAD",
                          "#!lua name=counts\nlocal calls = 0\n"
                          "redis.register_function('count', function() calls = calls + 1 return calls end)"});
  CHECK(loaded.describe() == "\"counts\"");
  CHECK(server.send("FCALL count 0").is_integer(1));
  CHECK(server.send("FCALL count 0").is_integer(1));
  Keyspace copy;
  copy.load(server.database.keys());
  CHECK(copy.libraries().size() == 1);
}

TEST_CASE("a client that is blocked is unblocked by another, with a timeout's reply or an error") {
  TestServer server;
  const std::int64_t id = server.database.execute(1, Command{"CLIENT", "ID"}, server.clock)->integer();
  for (const auto& [reason, reply] :
       {std::pair("TIMEOUT", "*-1\r\n"), std::pair("ERROR", "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n")}) {
    CHECK_FALSE(server.database.execute(1, Command{"BZPOPMIN", "z", 0}, server.clock));
    CHECK(server.send(Command{"CLIENT", "UNBLOCK", id, reason}).is_integer(1));
    REQUIRE(server.database.deliveries().size() == 1);
    CHECK(server.database.deliveries()[0].reply.resp() == reply);
  }
  CHECK(server.send(Command{"CLIENT", "UNBLOCK", id}).is_integer(0));
}

}  // namespace lockstep::models::redis::databases_test
