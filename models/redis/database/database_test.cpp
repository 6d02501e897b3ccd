// Expiry, footprints and reset: what a conversation alone does not show.

#include "models/redis/conformance/test_server.hpp"

#include <rapidcheck/catch.h>

#include <map>
#include <optional>

namespace lockstep::models::redis::database_test {
namespace {

using sim::Duration;
using namespace sim::literals;

}  // namespace

TEST_CASE("a key is gone exactly when its time to live has passed, and not before") {
  TestServer server;
  server.send("SET lock a NX PX 100");
  server.advance(100_ms - 1_ns);
  CHECK(server.send("GET lock").is_bulk());
  CHECK(server.send("SET lock b NX PX 100").is_nil());
  server.advance(1_ns);
  CHECK(server.send("SET lock b NX PX 100").is_ok());
  CHECK(server.changes() == "expire lock, write lock");
}

TEST_CASE("every command sees an expired key as missing") {
  for (const std::string_view line :
       {"GET k", "EXISTS k", "TYPE k", "DEL k", "UNLINK k", "TTL k", "PTTL k", "GETDEL k", "STRLEN k", "PERSIST k",
        "EXPIRE k 10", "PEXPIREAT k 99999999999", "SET k v XX", "EXPIRETIME k"}) {
    INFO(line);
    TestServer server;
    const std::string missing = server.resp(line);
    server.send("SET k v PX 5");
    server.advance(5_ms);
    CHECK(server.resp(line) == missing);
    CHECK(server.changes() == "expire k, read k");
    CHECK(server.database.keys().size() == 0);
  }
}

TEST_CASE("a time to live is rounded as Redis rounds it") {
  TestServer server;
  server.send("SET k v PX 2500");
  CHECK(server.send("TTL k").is_integer(3));
  CHECK(server.send("PTTL k").is_integer(2500));
  server.advance(1_ms);
  CHECK(server.send("TTL k").is_integer(2));
  CHECK(server.send("PTTL k").is_integer(2499));
  server.advance(2498_ms);
  CHECK(server.send("PTTL k").is_integer(1));
  CHECK(server.send("TTL k").is_integer(0));
  // Between whole milliseconds, where Redis has no clock: the integer part of what is left.
  server.advance(999'999_ns);
  CHECK(server.send("PTTL k").is_integer(0));
  server.advance(1_ns);
  CHECK(server.send("PTTL k").is_integer(-2));
}

TEST_CASE("times since the epoch count on the server's own clock") {
  TestServer server;  // its clock stands at 1000 s
  CHECK(server.resp("TIME") == "*2\r\n$4\r\n1000\r\n$1\r\n0\r\n");
  server.send("SET k v EXAT 1010");
  CHECK(server.send("PTTL k").is_integer(10'000));
  CHECK(server.send("EXPIRETIME k").is_integer(1010));
  CHECK(server.send("PEXPIRETIME k").is_integer(1'010'000));
  CHECK(server.send("PEXPIREAT k 1000001").is_integer(1));
  server.advance(1_ms);
  CHECK(server.send("EXISTS k").is_integer(0));
  CHECK(server.send("SET k v PXAT 1000001").is_ok());
  CHECK(server.send("GET k").is_nil());
  server.send("SET k v");
  CHECK(server.send("EXPIREAT k 999").is_integer(1));
  CHECK(server.changes() == "remove k");
  server.advance(1500_us);
  CHECK(server.resp("TIME") == "*2\r\n$4\r\n1000\r\n$4\r\n2500\r\n");
}

TEST_CASE("a clock that jumps forward expires keys early, one that jumps back keeps them") {
  TestServer server;
  server.send("SET a v PX 100");
  server.send("SET b v PX 100");
  server.advance(-1_s);
  server.advance(1050_ms);
  CHECK(server.send("EXISTS a b").is_integer(2));
  server.advance(2_s);
  CHECK(server.send("EXISTS a b").is_integer(0));
}

TEST_CASE("a timestamp goes through the server unrounded") {
  TestServer server;
  const sim::Instant deadline = server.clock.now() + 12'700_us;
  server.send(Command{"SET", "k", Value::milliseconds(deadline)});
  const Reply reply = server.send("GET k");
  REQUIRE(reply.is_bulk());
  CHECK(reply.value().instant()->identical(deadline));
  CHECK(reply.resp() == "$7\r\n1000012\r\n");
  CHECK(server.eval("return redis.call('get', 'k')").resp() == "$7\r\n1000012\r\n");
  CHECK(server.send(Command{"PEXPIREAT", "k", Value::milliseconds(deadline)}).is_integer(1));
  server.advance(12'699_us);
  CHECK(server.send("EXISTS k").is_integer(1));
  server.advance(1_us);
  CHECK(server.send("EXISTS k").is_integer(0));
}

TEST_CASE("symbolic instants are stored and served without being looked at") {
  TestServer server;
  const sim::Instant symbolic(7, 100_ms);
  CHECK(server.send(Command{"SET", "k", Value::milliseconds(symbolic), "PX", 100}).is_ok());
  CHECK(server.send("GET k").value().instant()->identical(symbolic));
  CHECK(
      server.send(Command{"GETSET", "k", Value::milliseconds(symbolic + 1_ms)}).value().instant()->identical(symbolic));
}

TEST_CASE("changes tell what a command really did, not what it might have done") {
  TestServer server;
  const auto after = [&](std::string_view line) {
    server.send(line);
    return server.changes();
  };
  CHECK(after("GET lock") == "read lock");
  CHECK(after("SET lock a NX") == "write lock");
  CHECK(after("SET lock b NX") == "read lock");
  CHECK(after("SETNX lock b") == "read lock");
  CHECK(after("SET other v XX") == "read other");
  CHECK(after("GETSET lock c") == "write lock");
  CHECK(after("SET lock d") == "write lock");
  CHECK(after("INCR lock") == "read lock");
  CHECK(after("PERSIST lock") == "read lock");
  CHECK(after("EXPIRE lock 10") == "touch lock");
  CHECK(after("EXPIRE lock 20 NX") == "read lock");
  CHECK(after("EXPIRE none 20") == "read none");
  CHECK(after("DEL none lock") == "read none, remove lock");
  CHECK(after("INCR n") == "write n");
  CHECK(after("APPEND n 1") == "write n");
  CHECK(after("EXPIRE n 0") == "remove n");
  CHECK(after("PING") == "");
  CHECK(after("GET") == "");
  CHECK(after("SET a v") == "write a");
  CHECK_FALSE(server.database.touched_more_than_keys());
  server.send("SET b v");
  CHECK(after("FLUSHALL") == "remove a, remove b");
  CHECK(server.database.touched_more_than_keys());
}

TEST_CASE("changes of a script are those of its calls, in order") {
  TestServer server;
  const std::string_view release =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
  server.send("SET lock mine");
  server.send(Command{"EVAL", release, 1, "lock", "other"});
  CHECK(server.changes() == "read lock");
  CHECK(server.database.touched_more_than_keys());  // it is in the script cache now
  server.send(Command{"EVAL", release, 1, "lock", "mine"});
  CHECK(server.changes() == "read lock, remove lock");
  CHECK_FALSE(server.database.touched_more_than_keys());
  server.send("SET lock mine PX 10");
  server.advance(10_ms);
  server.send(Command{"EVAL", release, 1, "lock", "mine"});
  CHECK(server.changes() == "expire lock, read lock");
}

TEST_CASE("a script sees the changes that its own commands made") {
  TestServer server;
  CHECK(
      server.eval("redis.call('set','k','1','px',10) return {redis.call('incr','k'), redis.call('pttl','k')}").resp() ==
      "*2\r\n:2\r\n:10\r\n");
}

TEST_CASE("after reset the same commands get the same replies") {
  TestServer server;
  const auto story = [&] {
    std::string replies;
    for (const std::string_view line :
         {"SET lock a NX PX 100", "GET lock", "SET lock b NX", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0",
          "EVAL \"return 1\" 0", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0",
          "EVAL \"return math.random(1000)\" 0", "INCR n", "DEL lock lock", "TTL n"}) {
      replies += server.resp(line);
    }
    return replies;
  };
  const std::string first = story();
  const std::uint64_t digest = server.database.digest();
  CHECK(first.find("NOSCRIPT") != std::string::npos);
  for (int i = 0; i < 3; ++i) {
    server.database.reset();
    CHECK(server.database.digest() == 0);
    CHECK(server.database.changes().empty());
    CHECK(story() == first);
    CHECK(server.database.digest() == digest);
  }
}

TEST_CASE("a restart with its keys forgets the script cache") {
  TestServer server;
  server.send("SET k v");
  server.send("EVAL \"return 1\" 0");
  server.database.restart_with_keys();
  CHECK(server.send("GET k").is_bulk());
  CHECK(server.resp("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0") ==
        "-NOSCRIPT No matching script. Please use EVAL.\r\n");
}

TEST_CASE("an engine that ran nothing holds no memory") {
  TestServer server;
  server.send("SET k v");
  CHECK(server.engine.memory_bytes() == 0);
}

TEST_CASE("one engine serves several servers, each with its own script cache") {
  TestServer server;
  Database other(server.engine);
  server.send("EVAL \"return 1\" 0");
  CHECK(other.execute(Command{"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", 0}, server.clock).is_error());
  CHECK(other.execute(Command{"EVAL", "return redis.call('get', 'k')", 0}, server.clock).is_nil());
}

TEST_CASE("keys behave as a map, however many come and go") {
  rc::prop("against std::map", [](const std::vector<std::pair<std::uint8_t, std::uint16_t>>& steps) {
    TestServer server;
    std::map<int, int> expected;
    for (const auto& [action, raw] : steps) {
      const int key = raw % 61;
      if (action % 3 == 0) {
        RC_ASSERT(server.send(Command{"DEL", key}).integer() == static_cast<std::int64_t>(expected.erase(key)));
      } else if (action % 3 == 1) {
        server.send(Command{"SET", key, action});
        expected[key] = action;
      } else {
        const Reply reply = server.send(Command{"GET", key});
        RC_ASSERT(reply.is_nil() == !expected.contains(key));
        if (reply.is_bulk()) RC_ASSERT(reply.value().integer() == expected[key]);
      }
      RC_ASSERT(server.database.keys().size() == expected.size());
    }
  });
}

TEST_CASE("thousands of keys are found again") {
  TestServer server;
  for (int i = 0; i < 5000; ++i) server.send(Command{"SET", "key:" + std::to_string(i), i});
  for (int i = 0; i < 5000; i += 2) server.send(Command{"DEL", "key:" + std::to_string(i)});
  for (int i = 0; i < 5000; ++i) {
    const Reply reply = server.send(Command{"GET", "key:" + std::to_string(i)});
    REQUIRE(reply.is_nil() == (i % 2 == 0));
  }
  CHECK(server.send("FLUSHALL").is_ok());
  CHECK(server.database.changes().size() == 2500);
}

TEST_CASE("what the host throws passes through a script") {
  class Failing final : public ScriptHost {
    Reply call_from_script(const Command&, bool) override { throw std::runtime_error("the explorer gave up"); }
    bool knows_command(const Command&) const override { return true; }
  };
  Failing host;
  ScriptEngine engine;
  const auto script = std::get<ScriptId>(engine.compile("pcall(redis.call, 'get', 'k') return 1"));
  CHECK_THROWS_WITH(engine.run(script, {}, {}, host), "the explorer gave up");
  const auto other = std::get<ScriptId>(engine.compile("return 2"));
  CHECK(engine.run(other, {}, {}, host).reply.is_integer(2));
}

}  // namespace lockstep::models::redis::database_test
