// Short conversations with the simulated server and a real one, where what matters is who says what when.

#include <catch2/catch.hpp>

#include "models/redis/comparison.hpp"

namespace lockstep::models::redis {
namespace {

/// The same on both, in turn: "2> GET k" is client 2. `...50ms` lets time pass.
void tell(std::string_view story) {
  const auto server = real_server();
  if (server == nullptr) return;
  Comparison both(*server);
  while (!story.empty()) {
    const std::size_t end = std::min(story.find('\n'), story.size());
    std::string_view line = story.substr(0, end);
    story.remove_prefix(std::min(end + 1, story.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) continue;
    if (line.starts_with("...")) {
      both.sleep(*sim::parse_duration(line.substr(3)));
    } else if (line.substr(1).starts_with("> ")) {
      both.send(static_cast<std::size_t>(line[0] - '0'), line.substr(3));
    } else if (line.substr(1).starts_with(" gives up")) {
      both.time_out(static_cast<std::size_t>(line[0] - '0'));
    } else {
      FAIL("not a line of a story: " << line);
    }
  }
  both.require_silence();
}

}  // namespace

TEST_CASE("a real server's keys expire as the simulated ones do") {
  tell(R"story(
      0> SET a 1 PX 20
      0> SET b 1 PX 100000
      0> HSET h f v
      0> PEXPIRE h 20
      0> RPUSH l x
      0> PEXPIRE l 20
      0> WATCH a
      1> WATCH none
      2> WATCH b
      ...80ms
      0> MULTI
      0> SET won 0
      0> EXEC
      1> WATCH a
      1> MULTI
      1> SET won 1
      1> EXEC
      2> MULTI
      2> SET won 2
      2> EXEC
      0> MGET a b won
      0> EXISTS a h l
      0> TYPE l
      0> HGETALL h
      0> LPUSHX l y
      0> TTL a
      0> DBSIZE
      0> SET c 1 PX 20
      ...80ms
      1> WATCH c
      2> SET c 2
      1> MULTI
      1> GET c
      1> EXEC
      0> SET d 1 PX 20
      1> WATCH d
      2> PERSIST d
      ...80ms
      1> MULTI
      1> GET d
      1> EXEC
      0> SETNX d 2
      0> GETEX d PX 20
      0> SET e 1 PX 20 NX
      ...80ms
      0> SET e 2 XX
      0> SET e 2 NX GET
      0> RENAME d x
      0> EVAL "return {redis.call('exists', 'd'), redis.call('get', 'e')}" 0
  )story");
}

TEST_CASE("a blocked client of a real server is served as a simulated one") {
  tell(R"story(
      0> BLPOP l 0
      1> BRPOP other l 0
      2> RPUSH l a b c
      2> LRANGE l 0 -1
      0> BLPOP l 0
      1> BLPOP m 0
      2> BLPOP m l 0
      3> MULTI
      3> RPUSH m x y
      3> RPUSH l z
      3> LPOP m
      3> EXEC
      3> EXISTS l m
      0> BLMOVE from to LEFT RIGHT 0
      1> BLPOP to 0
      3> EVAL "redis.call('rpush', 'from', 'moved') return redis.call('exists', 'from', 'to')" 0
      3> EXISTS from to
      0> BLPOP a 0
      3> SET a string
      3> DEL a
      3> RPUSH b x
      3> RENAME b a
      3> EXISTS a b
      0> BLMOVE q wrong LEFT LEFT 0
      3> SET wrong type
      3> RPUSH q 1
      3> LRANGE q 0 -1
      0> BLPOP none 0.02
      ...80ms
      0 gives up
      0> BLMOVE none none LEFT LEFT 0.02
      ...80ms
      0 gives up
      0> WAIT 1 20
      ...80ms
      0 gives up
      0> MULTI
      0> BLPOP none 0
      0> BLMOVE none none LEFT LEFT 0
      0> WAIT 1 0
      0> EXEC
      0> EVAL "return redis.call('lpop', 'none')" 0
  )story");
}

TEST_CASE("a real server's messages reach whom the simulated ones reach") {
  tell(R"story(
      0> SUBSCRIBE c1 c2 c1
      1> PSUBSCRIBE c* n?ws
      2> PUBLISH c1 hello
      2> PUBLISH news hello
      2> PUBLISH nobody hello
      2> PUBSUB CHANNELS
      2> PUBSUB NUMSUB c1 x
      2> PUBSUB NUMPAT
      0> GET k
      0> PING
      0> PING x
      0> UNSUBSCRIBE c1
      0> PSUBSCRIBE c*
      2> PUBLISH c2 both
      0> UNSUBSCRIBE c2
      0> PUNSUBSCRIBE c*
      0> PING
      0> UNSUBSCRIBE
      0> PUNSUBSCRIBE
      0> PUNSUBSCRIBE x
      2> EVAL "return redis.call('publish', 'c9', 'from a script')" 0
      2> MULTI
      2> PUBLISH c1 in
      2> PUBLISH c2 order
      2> EXEC
      1> RESET
      1> GET k
      2> PUBLISH c1 gone
      0> MULTI
      0> SUBSCRIBE one
      0> EXEC
      0> GET k
      0> RESET
  )story");
}

TEST_CASE("a real server's transactions are the simulated ones") {
  tell(R"story(
      0> EXEC
      0> DISCARD
      0> MULTI
      0> MULTI
      0> WATCH a
      0> SET a 1
      0> INCR nonsense too many
      0> EXEC
      0> EXEC
      0> MULTI
      0> UNKNOWN
      0> DISCARD
      0> MULTI
      0> SET a x
      0> INCR a
      0> LPUSH a b
      0> GET a
      0> EXEC
      0> WATCH a
      0> SET a y
      0> MULTI
      0> GET a
      0> EXEC
      0> WATCH a
      1> EXPIRE a 1000
      0> UNWATCH
      0> MULTI
      0> GET a
      0> EXEC
      0> WATCH a b
      1> SET b 1
      0> MULTI
      0> FOO
      0> EXEC
      0> WATCH z
      1> ZADD z 1 m
      1> ZREM z m
      0> MULTI
      0> PING
      0> EXEC
      0> RPUSH l 1
      0> WATCH l
      1> LTRIM l 0 -1
      0> MULTI
      0> PING
      0> EXEC
      0> WATCH l
      1> LREM l 0 none
      0> MULTI
      0> PING
      0> EXEC
      0> WATCH l
      1> EVAL "return redis.call('rpush', 'l', 2)" 0
      0> MULTI
      0> PING
      0> EXEC
      0> WATCH l
      1> FLUSHALL
      0> MULTI
      0> PING
      0> EXEC
      0> MULTI
      0> EXEC x
      0> PING
      0> EXEC x
      0> MULTI
      0> EVAL "return redis.call('set', 'k', 1)" 0
      0> EVAL "return redis.call('nonsense')" 0
      0> RESET
      0> EXEC
  )story");
}

}  // namespace lockstep::models::redis
