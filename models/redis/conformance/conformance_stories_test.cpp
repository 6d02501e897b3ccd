// Short conversations with the simulated server and a real one, where what matters is who says what when.

#include <catch2/catch.hpp>

#include "models/redis/conformance/comparison.hpp"

namespace lockstep::models::redis::conformance_stories_test {
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

TEST_CASE("a real server tells of its connections what the simulated one tells") {
  tell(R"story(
      0> CLIENT INFO
      0> CLIENT SETNAME me
      0> CLIENT INFO
      0> CLIENT NO-EVICT on
      0> CLIENT INFO
      0> CLIENT NO-EVICT off
      0> CLIENT INFO
      1> SUBSCRIBE c1 c2
      1> PSUBSCRIBE c*
      0> CLIENT LIST TYPE pubsub
      0> CLIENT LIST TYPE replica
      0> CLIENT LIST TYPE x
      0> CLIENT LIST ID 999999 888888
      0> CLIENT LIST ID x
      0> CLIENT LIST ID
      0> CLIENT LIST TYPE
      0> CLIENT LIST x y z
      0> CLIENT NO-EVICT
      0> CLIENT INFO x
      0> EVAL "return redis.pcall('client', 'info')" 0
  )story");
}

TEST_CASE("a real server's scripts may do what the simulated ones may") {
  tell(R"story(
      0> SET other there
      0> EVAL "return redis.call('get', 'other')" 0
      0> EVAL "return redis.call('set', 'other', ARGV[1])" 1 k v
      0> EVAL_RO "return redis.call('get', 'other')" 0
      0> EVAL_RO "return redis.call('set', 'other', 1)" 0
      0> EVAL_RO "return {redis.pcall('set', 'other', 1)}" 0
      0> EVAL "#!lua flags=no-writes\nreturn redis.call('get', 'other')" 0
      0> EVAL "#!lua flags=no-writes\nreturn redis.call('set', 'other', 1)" 0
      0> EVAL "#!lua flags=no-writes\nreturn redis.call('publish', 'c', 1)" 0
      0> EVAL "#!lua\nreturn redis.call('set', 'other', 1)" 0
      0> EVAL_RO "#!lua\nreturn redis.call('get', 'other')" 0
      0> EVAL_RO "#!lua flags=no-writes\nreturn redis.call('get', 'other')" 0
      0> EVAL "#!lua flags=no-writes, allow-stale\nreturn 1" 0
      0> EVAL "#!lua flags=no-writes,allow-stale,allow-oom,no-cluster,allow-cross-slot-keys\nreturn 1" 0
      0> EVAL "#!lua flags=\nreturn 1" 0
      0> EVAL "#!lua flags=NO-WRITES\nreturn 1" 0
      0> EVAL "#!lua flags=x\nreturn 1" 0
      0> EVAL "#!lua flags=no-writes flags=allow-oom\nreturn 1" 0
      0> EVAL "#!lua name=x\nreturn 1" 0
      0> EVAL "#!lua x\nreturn 1" 0
      0> EVAL "#!lua" 0
      0> EVAL "#!LUA\nreturn 1" 0
      0> EVAL "#!js\nreturn 1" 0
      0> EVAL "#!\nreturn 1" 0
      0> EVAL " #!lua\nreturn 1" 0
      0> SCRIPT LOAD "#!lua flags=no-writes\nreturn redis.call('incr', 'n')"
      0> EVALSHA 8f6a33e4d6e8a5b7b1d6a7d9c3f9a3cf2b7dbb44 0
  )story");
}

TEST_CASE("a real server's JSON is the simulated one's") {
  tell(R"story(
      0> EVAL "return cjson.encode({1, 2.5, 'x', true, false, {}, {{}}, {a = 1}})" 0
      0> EVAL "return cjson.encode({a = {b = {c = {1, 2, 3}}}})" 0
      0> EVAL "return cjson.encode('quote \" slash / back \\\\ tab \\t line \\n return \\r \\b \\f \\0 \\127 \\27 \\200')" 0
      0> EVAL "return {cjson.encode(1e15), cjson.encode(123456789012345678), cjson.encode(-0.1), cjson.encode(1/3), cjson.encode(1e300)}" 0
      0> EVAL "return {cjson.encode(nil), cjson.encode(cjson.null), cjson.encode({cjson.null}), cjson.encode(3)}" 0
      0> EVAL "return {cjson.encode({[1] = 1, [3] = 3}), cjson.encode({[5] = 5}), cjson.encode({[1.5] = 1}), cjson.encode({[0] = 1}), cjson.encode({[-1] = 1})}" 0
      0> EVAL "return cjson.encode({[1] = 1, [20] = 2})" 0
      0> EVAL "return cjson.encode({[{}] = 1})" 0
      0> EVAL "return cjson.encode({[true] = 1})" 0
      0> EVAL "return cjson.encode(1 / 0)" 0
      0> EVAL "return cjson.encode({0 / 0})" 0
      0> EVAL "return cjson.encode(pcall)" 0
      0> EVAL "return cjson.encode()" 0
      0> EVAL "return cjson.encode(1, 2)" 0
      0> EVAL "local t = {} for i = 1, 999 do t = {t} end return #cjson.encode(t)" 0
      0> EVAL "local t = {} for i = 1, 1000 do t = {t} end return #cjson.encode(t)" 0
      0> EVAL "return {tostring(cjson.null), type(cjson.null), cjson.decode('null') == cjson.null, cjson.null}" 0
      0> EVAL "return cjson.decode(ARGV[1])" 0 "[1, 2, 3.7, \"x\", true, false, [], [[4]], null, 5]"
      0> EVAL "local t = cjson.decode(ARGV[1]) return {t.a, t['b c'], t.d.e[2], tostring(t.n), #t.l}" 0 "{\"a\": 1, \"b c\" : \"two\", \"d\":{\"e\":[1,\"second\"]}, \"n\":null, \"l\":[]}"
      0> EVAL "return cjson.decode(ARGV[1])" 0 "\"\\\\u0041\\\\u00e9\\\\u20ac\\\\ud83d\\\\ude00 \\\\n\\\\t\\\\\\\\ \\\\/ \\\\\" \""
      0> EVAL "return cjson.decode(ARGV[1])" 0 "\"\\\\ud83d\""
      0> EVAL "return cjson.decode(ARGV[1])" 0 "\"\\\\ude00\""
      0> EVAL "return cjson.decode(ARGV[1])" 0 "\"\\\\u12g4\""
      0> EVAL "return cjson.decode(ARGV[1])" 0 "\"\\\\x\""
      0> EVAL "return cjson.decode(ARGV[1])" 0 "\"never ends"
      0> EVAL "return cjson.decode(ARGV[1])" 0 "\"ends with \\\\"
      0> EVAL "return {tostring(cjson.decode('1e5')), tostring(cjson.decode('-2.5')), tostring(cjson.decode('0x10')), tostring(cjson.decode('+3')), tostring(cjson.decode('inf')), tostring(cjson.decode('-Infinity')), tostring(cjson.decode('012'))}" 0
      0> EVAL "return cjson.decode('')" 0
      0> EVAL "return cjson.decode(' ')" 0
      0> EVAL "return cjson.decode('[1,]')" 0
      0> EVAL "return cjson.decode('[1 2]')" 0
      0> EVAL "return cjson.decode('[1')" 0
      0> EVAL "return cjson.decode('[,]')" 0
      0> EVAL "return cjson.decode('{\"a\":1,}')" 0
      0> EVAL "return cjson.decode('{\"a\" 1}')" 0
      0> EVAL "return cjson.decode('{\"a\":}')" 0
      0> EVAL "return cjson.decode('{a:1}')" 0
      0> EVAL "return cjson.decode('{\"a\":1 \"b\":2}')" 0
      0> EVAL "return cjson.decode('{')" 0
      0> EVAL "return cjson.decode('1 2')" 0
      0> EVAL "return cjson.decode('tru')" 0
      0> EVAL "return cjson.decode('nul')" 0
      0> EVAL "return cjson.decode('-')" 0
      0> EVAL "return cjson.decode('*')" 0
      0> EVAL "return cjson.decode('[1]\0x')" 0
      0> EVAL "return cjson.decode('a\0')" 0
      0> EVAL "return cjson.decode()" 0
      0> EVAL "return cjson.decode({})" 0
      0> EVAL "return cjson.decode(5)" 0
      0> EVAL "return #cjson.decode(string.rep('[', 1000) .. string.rep(']', 1000))" 0
      0> EVAL "return #cjson.decode(string.rep('[', 1001) .. string.rep(']', 1001))" 0
      0> EVAL "cjson.encode = nil" 0
      0> EVAL "cjson.x = 1" 0
      0> EVAL "return cjson._VERSION .. cjson._NAME" 0
      0> EVAL "return {pcall(cjson.decode, '{')}" 0
  )story");
}

TEST_CASE("a real server's MessagePack and bit operations are the simulated one's") {
  tell(R"story(
      0> EVAL "return cmsgpack.pack(1, -1, 127, 128, 255, 256, 65535, 65536, 2^32 - 1, 2^32, 2^53, -32, -33, -128, -129, -32768, -32769, -2^31, -2^31 - 1)" 0
      0> EVAL "return cmsgpack.pack(1.5, 0.1, 1e300, 1/0, -1/0, nil, true, false, 'text', '')" 0
      0> EVAL "return cmsgpack.pack(string.rep('x', 31), string.rep('y', 32), string.rep('z', 256))" 0
      0> EVAL "return #cmsgpack.pack(string.rep('x', 70000))" 0
      0> EVAL "return cmsgpack.pack({}, {1, 2, {3}}, {a = 'b'}, {[2] = 1}, {['1'] = 2}, {[1] = 1, [2] = 2, [4] = 4})" 0
      0> EVAL "local t = {} for i = 1, 20 do t[i] = i end return cmsgpack.pack(t)" 0
      0> EVAL "local t = {} for i = 1, 20 do t = {t} end return cmsgpack.pack(t)" 0
      0> EVAL "return cmsgpack.pack(pcall, cjson.null)" 0
      0> EVAL "return cmsgpack.pack()" 0
      0> EVAL "return {cmsgpack.unpack(cmsgpack.pack(1, -1, 300, -300, 70000, -70000, 2^40, -2^40, 'x', true, {1, {2}}))}" 0
      0> EVAL "return {tostring(cmsgpack.unpack(cmsgpack.pack(0.1))), tostring(cmsgpack.unpack(cmsgpack.pack(1.5))), tostring(cmsgpack.unpack(cmsgpack.pack(false)))}" 0
      0> EVAL "local t = cmsgpack.unpack(cmsgpack.pack({a = {1, 2}, b = 'c'})) return {t.a[2], t.b}" 0
      0> EVAL "return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3))}" 0
      0> EVAL "return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3), 2)}" 0
      0> EVAL "return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3), 3)}" 0
      0> EVAL "return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 2)}" 0
      0> EVAL "return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 2, 1)}" 0
      0> EVAL "return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 0)}" 0
      0> EVAL "return cmsgpack.unpack_limit('x', -1)" 0
      0> EVAL "return cmsgpack.unpack_one('x', 5)" 0
      0> EVAL "return cmsgpack.unpack_one('x', -1)" 0
      0> EVAL "return cmsgpack.unpack('')" 0
      0> EVAL "return {cmsgpack.unpack('\\193')}" 0
      0> EVAL "return {cmsgpack.unpack('\\217')}" 0
      0> EVAL "return {cmsgpack.unpack('\\217\\5abc')}" 0
      0> EVAL "return {cmsgpack.unpack('\\221\\255\\255\\255\\255\\1')}" 0
      0> EVAL "return {cmsgpack.unpack('\\129\\192\\1')}" 0
      0> EVAL "return cmsgpack.unpack()" 0
      0> EVAL "return {bit.tobit(2^31), bit.tobit(2^32 + 5), bit.tobit(-1), bit.tobit(1.5), bit.tobit(2.5), bit.tobit('0x10')}" 0
      0> EVAL "return {bit.bnot(0), bit.band(12, 10, 8), bit.bor(1, 2, 4), bit.bxor(5, 3), bit.bswap(0x12345678)}" 0
      0> EVAL "return {bit.lshift(1, 31), bit.lshift(1, 33), bit.rshift(-1, 28), bit.arshift(-16, 2), bit.rol(0x12345678, 12), bit.ror(0x12345678, 12), bit.rol(1, 0)}" 0
      0> EVAL "return {bit.tohex(255), bit.tohex(-1, 4), bit.tohex(0x1234abcd, -8), bit.tohex(1, 0), bit.tohex(1, 20), bit.tohex(1, -20)}" 0
      0> EVAL "return bit.band()" 0
      0> EVAL "return bit.lshift(1)" 0
      0> EVAL "return bit.bor('x')" 0
      0> EVAL "bit.x = 1" 0
      0> EVAL "cmsgpack.pack = nil" 0
  )story");
}

TEST_CASE("a real server's ranges by bytes are the simulated one's") {
  tell(R"story(
      0> ZADD z 0 a 0 b 0 c 0 d 0 e 0 ab
      0> ZRANGEBYLEX z - +
      0> ZRANGEBYLEX z [b (d
      0> ZRANGEBYLEX z (a + LIMIT 1 2
      0> ZRANGEBYLEX z - + LIMIT -1 2
      0> ZRANGEBYLEX z - + LIMIT 2 -1
      0> ZRANGEBYLEX z + -
      0> ZRANGEBYLEX z - -
      0> ZRANGEBYLEX z [c [c
      0> ZRANGEBYLEX z [c (c
      0> ZREVRANGEBYLEX z + [c
      0> ZREVRANGEBYLEX z (d - LIMIT 1 2
      0> ZRANGE z (d - BYLEX REV
      0> ZRANGE z - (d BYLEX LIMIT 0 2
      0> ZRANGE z - + BYLEX WITHSCORES
      0> ZRANGE z - + BYLEX BYSCORE
      0> ZRANGEBYLEX z - + WITHSCORES
      0> ZRANGEBYLEX z a +
      0> ZRANGEBYLEX z - -x
      0> ZRANGEBYLEX none a b
      0> ZLEXCOUNT z - +
      0> ZLEXCOUNT z (a [c
      0> ZREMRANGEBYLEX z (a [b
      0> ZREMRANGEBYLEX z - +
      0> EXISTS z
      0> ZADD mixed 2 a 1 b 3 c
      0> ZRANGEBYLEX mixed [a +
      0> ZRANGEBYLEX mixed - [b
      0> ZREVRANGEBYLEX mixed [b -
      0> ZLEXCOUNT mixed (b +
      0> ZREMRANGEBYLEX mixed [a [b
      0> ZRANGE mixed 0 -1
      0> SET s x
      0> ZRANGEBYLEX s - +
      0> ZLEXCOUNT s - +
      0> ZREMRANGEBYLEX s - +
      0> ZRANDMEMBER s
      0> ZRANDMEMBER none
      0> ZRANDMEMBER none 2
      0> HRANDFIELD none
      0> HRANDFIELD none 2 WITHVALUES
      0> HSET h f v
      0> HRANDFIELD h
      0> HRANDFIELD h 5 WITHVALUES
      0> HRANDFIELD h -3 WITHVALUES
      0> HRANDFIELD h 0
      0> HRANDFIELD h -9223372036854775808
      0> HRANDFIELD h 9223372036854775807 WITHVALUES
      0> HRANDFIELD h 1 WITHSCORES
      0> HRANDFIELD h 1 WITHVALUES x
  )story");
}

}  // namespace lockstep::models::redis::conformance_stories_test
