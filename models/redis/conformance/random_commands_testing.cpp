#include "models/redis/conformance/random_commands.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::models::redis {
namespace {

// One line is one form of a request. `{kind}` stands for a word of that kind, `a|b` for one of the two, `[ a b ]` for an
// optional part, `{kind}+` for one to three of them; `_` is a blank within an alternative.
constexpr std::string_view kData[] = {
    "SET {k} {v}",
    "SET {k} {v} [ NX|XX ] [ GET ] [ EX_{sec}|PX_{ms}|EXAT_{at}|PXAT_{atms}|KEEPTTL ]",
    "SET {k} {v} {option}+",
    "SETNX {k} {v}",
    "SETEX {k} {sec} {v}",
    "PSETEX {k} {ms} {v}",
    "SETEX {k} {badtime} {v}",
    "GET {k}",
    "GETSET {k} {v}",
    "GETDEL {k}",
    "GETEX {k}",
    "GETEX {k} EX_{sec}|PX_{ms}|EXAT_{at}|PXAT_{atms}|PERSIST|EXAT_1|EX_{badtime}|NX",
    "INCR {s}",
    "DECR {s}",
    "INCRBY {s} {int}",
    "DECRBY {s} {int}",
    "INCRBYFLOAT {s} {score}",
    "INCRBYFLOAT {s} {v}",
    "HINCRBYFLOAT {h} {m} {score}",
    "COPY {k} {k} [ REPLACE ]",
    "COPY {k} {k} DB_0|DB_x|DB|REPLACE|x",
    "LPOS {l} {m} [ RANK_{int} ] [ COUNT_{count} ] [ MAXLEN_{count} ]",
    "LPOS {l} {m} {option}+",
    "SINTERCARD 2 {t} {t} [ LIMIT_{count} ]",
    "SINTERCARD {int} {t} {t}",
    "SINTERCARD 1 {t} LIMIT|x {count}",
    "APPEND {s} {v}",
    "GETRANGE {s} {index} {index}",
    "SUBSTR {k} {index} {index}",
    "SETRANGE {s} {offset} {v}",
    "MOVE {k} {db}",
    "COPY {k} {k} DB {db} [ REPLACE ]",
    "PEXPIRE {k} {badtime} [ NX|XX ]",
    "SET {k} {v} PX|EX|PXAT|EXAT {badtime}",
    "GETEX {k} PX|PXAT {badtime}",
    "LMPOP 2 {l} {l} LEFT|RIGHT [ COUNT {count} ]",
    "LMPOP {int} {l} {l} LEFT|x {option}+",
    "ZMPOP 2 {z} {z} MIN|MAX [ COUNT {count} ]",
    "ZMPOP {int} {z} {z} MIN|x {option}+",
    "ZUNION 2 {zt} {zt} [ WEIGHTS {score} {score} ] [ AGGREGATE SUM|MIN|MAX ] [ WITHSCORES ]",
    "ZINTER 2 {zt} {zt} [ WEIGHTS {score} {score} ] [ AGGREGATE SUM|MIN|MAX ] [ WITHSCORES ]",
    "ZINTER {int} {k} {zt} {option}+",
    "ZDIFF 2 {zt} {zt} [ WITHSCORES ]",
    "ZDIFF 1 {zt} {option}+",
    "ZDIFFSTORE {z} 2 {zt} {zt} [ WITHSCORES ]",
    "ZINTERCARD 2 {zt} {zt} [ LIMIT {count} ]",
    "ZINTERCARD {int} {zt} {zt} {option}",
    "ZRANGESTORE {z} {z} {index} {index} [ REV ]",
    "ZRANGESTORE {k} {z} {bound} {bound} BYSCORE [ REV ] [ LIMIT {int} {int} ]",
    "ZRANGESTORE {z} {z} {lex} {lex} BYLEX [ REV ] [ LIMIT {int} {int} ]",
    "ZRANGESTORE {z} {k} {index} {index} {option}+",
    "STRLEN {k}",
    "MGET {k}+",
    "MSET {k} {v} {k} {v}",
    "MSET {k} {v} {k}",
    "MSETNX {k} {v} {k} {v}",
    "MSETNX {new} {v} {new} {v}",
    "MSETNX {k} {v} {k}",
    "DEL {k}+",
    "UNLINK {k}+",
    "EXISTS {k}+",
    "TOUCH {k}+",
    "TYPE {k}",
    "RENAME {k} {k}",
    "RENAMENX {k} {k}",
    "EXPIRE {k} {sec} [ NX|XX|GT|LT ]",
    "PEXPIRE {k} {ms} [ NX|XX|GT|LT ]",
    "EXPIREAT {k} {at} [ NX|XX|GT|LT ]",
    "PEXPIREAT {k} {atms} [ NX|XX|GT|LT ]",
    "EXPIRE {k} {badtime}",
    "EXPIRE {k} {sec} {option}+",
    "EXPIREAT {k} 1",
    "TTL {k}",
    "PTTL {k}",
    "EXPIRETIME {k}",
    "PEXPIRETIME {k}",
    "PERSIST {k}",
    "KEYS {glob}",
    "DBSIZE",
    "SCAN 0 COUNT 10000 [ MATCH {glob} ] [ TYPE string|hash|list|set|zset|x ]",
    "SCAN {int} COUNT 0",
    "SCAN x|-",
    "HSET {h} {m} {v}",
    "HSET {h} {m} {v} {m} {v}",
    "HSET {h} {m} {v} {m}",
    "HMSET {h} {m} {v} {m} {v}",
    "HSETNX {h} {m} {v}",
    "HGET {h} {m}",
    "HMGET {h} {m}+",
    "HGETALL {h}",
    "HKEYS {h}",
    "HVALS {h}",
    "HDEL {h} {m}+",
    "HEXISTS {h} {m}",
    "HLEN {h}",
    "HSTRLEN {h} {m}",
    "HINCRBY {h} {m} {int}",
    "HSCAN {h} 0 COUNT 10000 [ MATCH {glob} ]",
    "HSCAN {h} 0|x {option}+",
    "LPUSH {l} {m}+",
    "RPUSH {l} {m}+",
    "LPUSHX {l} {m}+",
    "RPUSHX {l} {m}",
    "LPOP {l} [ {count} ]",
    "RPOP {l} [ {count} ]",
    "LLEN {l}",
    "LINDEX {l} {index}",
    "LSET {l} {index} {m}",
    "LRANGE {l} {index} {index}",
    "LTRIM {l} {index} {index}",
    "LREM {l} {index} {m}",
    "LINSERT {l} BEFORE|AFTER|x {m} {m}",
    "LMOVE {l} {l} LEFT|RIGHT|x LEFT|RIGHT",
    "RPOPLPUSH {l} {l}",
    "SADD {t} {m}+",
    "SADD {t} {m}+",
    "SREM {t} {m}+",
    "SISMEMBER {t} {m}",
    "SMISMEMBER {t} {m}+",
    "SCARD {t}",
    "SMEMBERS {t}",
    "SINTER {t}+",
    "SUNION {t}+",
    "SDIFF {t}+",
    "SINTERSTORE {t} {t}+",
    "SUNIONSTORE {t} {t}+",
    "SDIFFSTORE {t} {t}+",
    "SMOVE {t} {t} {m}",
    "SSCAN {t} 0 COUNT 10000 [ MATCH {glob} ]",
    "SRANDMEMBER {t} [ {int} ]",
    "SRANDMEMBER {t} x x",
    "ZADD {z} {score} {m}",
    "ZADD {z} {score} {m} {score} {m}",
    "ZADD {z} [ NX|XX ] [ GT|LT ] [ CH ] {score} {m} {score} {m}",
    "ZADD {z} [ NX|XX ] [ GT|LT ] [ CH ] INCR {score} {m}",
    "ZADD {z} INCR {score} {m} {score} {m}",
    "ZADD {z} NX {m}",
    "ZADD {z} {option}+ {score} {m}",
    "ZINCRBY {z} {score}|{option} {m}",
    "ZREM {z} {m}+",
    "ZSCORE {z} {m}",
    "ZMSCORE {z} {m}+",
    "ZCARD {z}",
    "ZRANK {z} {m}",
    "ZREVRANK {z} {m}",
    "ZPOPMIN {z} [ {count} ]",
    "ZPOPMAX {z} [ {count} ]",
    "ZRANGE {z} {index} {index} [ REV ] [ WITHSCORES ]",
    "ZRANGE {z} {bound} {bound} BYSCORE [ REV ] [ LIMIT {int} {int} ] [ WITHSCORES ]",
    "ZRANGE {z} {index} {index} LIMIT 0 1",
    "ZRANGE {z} {bound} {bound} {option}+",
    "ZRANGE {z} {lex} {lex} BYLEX [ REV ] [ LIMIT {int} {int} ]",
    "ZRANGE {z} {lex} {lex} BYLEX {option}+",
    "ZRANGEBYLEX {z} {lex} {lex} [ LIMIT {int} {int} ]",
    "ZREVRANGEBYLEX {z} {lex} {lex} [ LIMIT {int} {int} ]",
    "ZRANGEBYLEX {z} {lex} {lex} {option}+",
    "ZLEXCOUNT {z} {lex} {lex}",
    "ZREMRANGEBYLEX {z} {lex} {lex}",
    "ZRANDMEMBER {z} [ {int} ]",
    "ZRANDMEMBER {z} {int} WITHSCORES",
    "ZRANDMEMBER {z} {int} {option}+",
    "HRANDFIELD {h} [ {int} ]",
    "HRANDFIELD {h} {int} WITHVALUES",
    "HRANDFIELD {h} {int} {option}+",
    "ZREVRANGE {z} {index} {index} [ WITHSCORES ]",
    "ZRANGEBYSCORE {z} {bound} {bound} [ WITHSCORES ] [ LIMIT {int} {int} ]",
    "ZREVRANGEBYSCORE {z} {bound} {bound} [ WITHSCORES ] [ LIMIT {int} {int} ]",
    "ZCOUNT {z} {bound} {bound}",
    "ZREMRANGEBYSCORE {z} {bound} {bound}",
    "ZREMRANGEBYRANK {z} {index} {index}",
    "ZSCAN {z} 0 COUNT 10000 [ MATCH {glob} ]",
    "ZUNIONSTORE {z} 2 {zt} {zt} [ WEIGHTS {score} {score} ] [ AGGREGATE SUM|MIN|MAX|x ]",
    "ZINTERSTORE {z} 2 {zt} {zt} [ WEIGHTS {score} {score} ] [ AGGREGATE SUM|MIN|MAX ]",
    "ZUNIONSTORE {z} {int} {zt} {zt}",
    "ZUNIONSTORE {z} 1 {zt}",
    "ZINTERSTORE {z} 1 {zt} {option}+",
    "ECHO {v}",
    "PING [ {v} ]",
};
constexpr std::string_view kOther[] = {
    "FLUSHALL [ ASYNC|SYNC|x ]",
    "FLUSHDB",
    "TIME",
    "SELECT {db}",
    "SELECT 0",
    "SWAPDB {db} {db}",
    "RANDOMKEY",
    "INFO keyspace",
    "CLIENT UNBLOCK 99999999|x [ TIMEOUT|ERROR|x ]",
    "DEBUG SLEEP 0|x|-1",
    "DEBUG x",
    "COMMAND x",
    "COMMAND COUNT x",
    "COMMAND COUNT",
    "COMMAND DOCS get",
    "COMMAND INFO nonsense",
    "HELLO 4|x",
    "HELLO {protocol} {hello}+",
    "HELLO {protocol} SETNAME {m} AUTH default|bob {v} [ SETNAME {v} ]",
    "AUTH {v}",
    "AUTH default|bob {v}",
    "AUTH a b c",
    "ROLE",
    "WAIT 0 0",
    "CLIENT ID",
    "CLIENT SETNAME {m}",
    "CLIENT SETNAME {v}",
    "CLIENT GETNAME",
    "CLIENT KILL ID 0|x|99999999",
    "CLIENT KILL x",
    "CLIENT x",
    "CLIENT INFO x",
    "CLIENT INFO",
    "CLIENT LIST ID 99999999|x",
    "CLIENT LIST TYPE master|replica|x",
    "CLIENT LIST x [ ID ]",
    "CLIENT NO-EVICT off|x",
    "CLIENT UNPAUSE",
    "CLIENT PAUSE x|-1|0 [ ALL|WRITE|x ]",
    "CONFIG GET timeout|maxmemory|min-replicas-*|appendonly",
    "CONFIG SET min-replicas-max-lag|lua-time-limit {int}",
    "CONFIG SET min-replicas-max-lag 3 min-replicas-max-lag|lua-time-limit 4",
    "CONFIG SET notify-keyspace-events KEA|KEAmn|Kg$m|Elzn|q",
    "CONFIG SET notify-keyspace-events KEAmn",
    "CONFIG GET notify-keyspace-events",
    "CONFIG SET hash-max-listpack-value|hash-max-ziplist-entries|list-max-listpack-size {count}",
    "CONFIG GET hash-max-*|zset-max-*|list-[mc]*|set-max-*",
    "CONFIG SET x 1",
    "CONFIG SET timeout 1 x",
    "FUNCTION LOAD [ REPLACE|x ] {library}",
    "FUNCTION LOAD REPLACE {library}",
    "FUNCTION DELETE lib|x",
    "FUNCTION FLUSH [ SYNC|ASYNC|x ]",
    "FUNCTION LIST [ LIBRARYNAME l*|x ]",
    "FUNCTION LIST WITHCODE|x|LIBRARYNAME",
    "FUNCTION STATS",
    "FUNCTION KILL",
    "FUNCTION x",
    "FCALL {function} {int} {k} {v}",
    "FCALL {function} 1 {k} {v}",
    "FCALL_RO {function} 1 {k} {v}",
    "SCRIPT EXISTS {sha}+",
    "SCRIPT LOAD {script}",
    "SCRIPT FLUSH [ SYNC|ASYNC|x ]",
    "SCRIPT KILL",
    "SCRIPT x",
    "EVALSHA {sha} 0",
    "EVALSHA_RO {sha} 1 {k}",
    "EVAL {script} {int} {k} {v}",
    "EVAL_RO {script} 1 {k} {v}",
    "PUBLISH {channel} {v}",
    "PUBSUB NUMSUB {channel}+",
    "PUBSUB NUMPAT",
    "PUBSUB CHANNELS",
    "PUBSUB CHANNELS {glob}",
    "PUBSUB x",
    "NONSENSE {v}",
    "GET",
    "SPOP {t} {int} x",
};

constexpr std::string_view kScripts[] = {
    "return {KEYS, ARGV}",
    "return redis.call('get', KEYS[1])",
    "return redis.pcall('incr', KEYS[1])",
    "return redis.error_reply('MY error')",
    "return redis.status_reply('FINE')",
    "return redis.sha1hex(ARGV[1] or '')",
    "return {1, 2.9, 'x', false, true, {ok = 'y'}, {err = 'ERR z'}}",
    "return redis.call('set', KEYS[1], ARGV[1])",
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
    "return nonsense",
    "retur 1",
    "local t = redis.call('lrange', KEYS[1], 0, -1) return #t",
    "return redis.call('nonsense')",
    "return redis.call('get')",
    "return redis.call('subscribe', 'c')",
    "error('boom')",
    "error({err = 'MINE it is'})",
    "return tonumber(ARGV[1])",
    "return redis.pcall('hset', KEYS[1], 'f', 1)",
    "redis.call('lpush', KEYS[1], 1) return redis.call('lpop', KEYS[1])",
    "#!lua flags=no-writes\nreturn redis.call('set', KEYS[1], 1)",
    "#!lua\nreturn redis.call('get', KEYS[1])",
    "#!lua flags=no-writes,allow-stale,allow-oom,no-cluster,allow-cross-slot-keys\nreturn redis.call('get', 's1')",
    "#!lua flags=\nreturn 1",
    "#!lua flags=nothing\nreturn 1",
    "#!lua name=x\nreturn 1",
    "#!lua",
    "#!python\nreturn 1",
    "return redis.call('get', 's1')",
    "return redis.call('append', 's0', 'x')",
    "return cjson.encode({KEYS, ARGV, 1.5, true})",
    "return cjson.decode(ARGV[1])",
    "local ok, value = pcall(cjson.decode, redis.pcall('get', 's1')) return {tostring(ok), tostring(value)}",
    "return cjson.encode({[ARGV[1] or 'x'] = redis.call('get', 's0')})",
    "return cmsgpack.pack(KEYS, ARGV, 2^40, -3, 1.5, {x = {}})",
    "return {pcall(cmsgpack.unpack, ARGV[1])}",
    "return bit.tohex(bit.bxor(tonumber(ARGV[1]) or 0, bit.lshift(5, #KEYS)))",
    "return redis.setresp(2)",
    "return redis.setresp(4)",
    "redis.setresp(3) return {true, false, {double = 0.1}, {double = -1/0}, {map = {a = 1}}, {set = {b = true}}, "
    "{big_number = '12\n3'}, {verbatim_string = {format = ARGV[1] or 'mkd', string = 'x'}}}",
    "return {true, false, {double = 3}, {map = {a = {map = {b = 1.5}}}}, {set = {}}, {big_number = '1', map = {}}, "
    "{verbatim_string = {format = 'txt', string = 'a b'}}, {verbatim_string = {string = 'x'}}}",
    "redis.setresp(3) local h = redis.call('hgetall', KEYS[1]) return {map = {x = h.map.a or false}, h.map.b}",
    "redis.setresp(3) return redis.call('zrange', KEYS[1], 0, -1, 'withscores')",
    "redis.setresp(3) return {redis.call('zscore', KEYS[1], 'a'), redis.call('zscore', KEYS[1], 'none')}",
    "redis.setresp(3) local s = redis.call('smembers', KEYS[1]) return {s.set.a, s.set.b, s.set['1']}",
    "redis.setresp(3) return tostring(redis.call('get', 'none')) .. tostring(redis.call('exists', 'none'))",
    "redis.setresp(3) return cjson.encode(redis.call('zmscore', KEYS[1], 'a', 'b', 'none'))",
    "redis.setresp(3) redis.setresp(2) return {redis.call('zscore', KEYS[1], 'a'), true, false}",
    "return redis.call('blpop', KEYS[1], 0)"};

constexpr std::string_view kLibraries[] = {
    "#!lua name=lib\nredis.register_function('f', function(keys, args) return {#keys, args} end)",
    "#!lua name=lib\nredis.register_function('F', function(keys, args) return redis.call('set', keys[1], args[1]) end)",
    "#!lua name=lib\n\nredis.register_function{function_name = 'f', flags = {'no-writes'}, description = 'd',\n"
    "callback = function(keys, args) return redis.pcall('set', keys[1], 1) end}",
    "#!lua name=other\nlocal function g(keys) return redis.call('get', keys[1]) end\n"
    "redis.register_function{function_name = 'g', flags = {'no-writes'}, callback = g}",
    "#!lua name=other\nredis.register_function('g', function() return nonsense end)",
    "#!lua name=other\nredis.register_function('g', function() error('boom') end)",
    "#!lua name=other\nredis.register_function('g', function(keys) return redis.error_reply('MY own') end)",
    "#!lua name=other\nredis.register_function('f', function() return 1 end)",
    "#!lua name=other\nredis.register_function('g', 1)",
    "#!lua name=other\nredis.register_function('g g', function() return 1 end)",
    "#!lua name=other\nredis.register_function({function_name = 'g'})",
    "#!lua name=other\nredis.register_function('g', function() end) redis.register_function('g', function() end)",
    "#!lua name=other\nredis.call('get', 's0')",
    "#!lua name=other\nlocal x = )",
    "#!lua name=other\nx = 1",
    "#!lua name=other\nlocal x = math.random()",
    "#!lua name=other\nlocal mt = getmetatable(_G)",
    "#!lua name=other\nredis.register_function('g', function() return redis.register_function end)",
    "#!lua name=other\nredis.register_function('g', function() redis.register_function('f', nil) end)",
    "#!lua name=other\nredis.register_function('g', function() redis = 1 end)",
    "#!lua name=other\nredis.register_function('g', function() setmetatable(_G, {}) end)",
    "#!lua name=other\nredis.register_function('g', function() return KEYS end)",
    "#!lua name=other\nlocal r = redis redis.register_function('g', function() return r.call('ping') end)",
    "#!lua name=other\nlocal x = 1",
    "#!lua name=o-ther\nlocal x = 1",
    "#!lua name=other name=more\nlocal x = 1",
    "#!lua nome=other\nlocal x = 1",
    "#!python name=other\nlocal x = 1",
    "#!lua name=other",
    "#!lua\nlocal x = 1",
    "local x = 1"};

// As a time the number is far from those of {sec}: no test is so slow.
constexpr std::string_view kOptions[] = {"NX",    "XX",      "GT",      "LT",        "CH",      "EX",    "PX",
                                         "GET",   "KEEPTTL", "PERSIST", "BYSCORE",   "REV",     "LIMIT", "WITHSCORES",
                                         "MATCH", "COUNT",   "WEIGHTS", "AGGREGATE", "7777777", "x"};
constexpr std::string_view kHelloWords[] = {"SETNAME", "AUTH", "default", "x", "setname", "auth"};
constexpr std::string_view kMembers[] = {
    "a", "b", "c", "d", "1", "2", "-7", "", "long member of more than fifteen bytes"};
constexpr std::string_view kValues[] = {"v",
                                        "w",
                                        "10",
                                        "-3",
                                        "0",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "3.5",
                                        "",
                                        "a b\r\n\"c\"",
                                        "007",
                                        "some longer text that no buffer in place holds"};
constexpr std::string_view kInts[] = {
    "0", "1", "-1", "2", "3", "5", "-2", "100", "9223372036854775807", "x", "1.5", "-9223372036854775808", "", "01"};
constexpr std::string_view kIndices[] = {"0", "1", "-1", "2", "-2", "3", "-100", "100", "0", "-1", "x"};
constexpr std::string_view kCounts[] = {"0", "1", "2", "3", "100", "-1", "x"};
constexpr std::string_view kScores[] = {"0",    "1",     "2",   "3", "-1", "0.5", "1.5",   "1e3",  "0.1", "inf",
                                        "-inf", "1e308", "nan", "x", "+5", " 1",  "1e400", "0x10", "-0"};
constexpr std::string_view kBounds[] = {"0",   "1",    "2",  "(1", "(2", "-inf", "+inf", "inf",
                                        "0.5", "(0.5", "-1", "x",  "(",  "",     " 1"};
constexpr std::string_view kLexBounds[] = {"-",  "+",   "[a",    "(a", "[c", "(c", "[",   "(",
                                           "[2", "(-7", "[long", "a",  "",   "-x", "+inf"};
constexpr std::string_view kGlobs[] = {"*",   "a*", "?1", "[a-c]*", "[^a]",   "\\*",
                                       "s*1", "*[", "x",  "",       "h[0-9]", "[z-a]*"};
constexpr std::string_view kBadTimes[] = {
    "0", "-1", "x", "9223372036854775807", "-9223372036854775808", "9223372036854775", "1.5"};
constexpr std::string_view kChannels[] = {"c1", "c2", "news", "c"};

}  // namespace

std::string RandomCommands::key(std::string_view family) {
  // Mostly a key of the right type, sometimes whatever there is.
  constexpr std::string_view kFamilies[] = {"s", "h", "l", "t", "z"};
  if (below(12) == 0) family = kFamilies[below(5)];
  return std::string(family) + std::to_string(below(3));
}

std::string RandomCommands::word(std::string_view kind) {
  const auto one_of = [&](const auto& words) { return std::string(words[below(std::size(words))]); };
  if (kind == "k") return key(std::array<std::string_view, 6>{"s", "s", "h", "l", "t", "z"}[below(6)]);
  if (kind == "zt") return key(below(3) == 0 ? "t" : "z");
  if (kind.size() == 1 && std::string_view("shltz").find(kind) != std::string_view::npos) return key(kind);
  if (kind == "new") return "n" + std::to_string(below(1000));
  if (kind == "v") return one_of(kValues);
  if (kind == "m") return one_of(kMembers);
  if (kind == "int") return one_of(kInts);
  if (kind == "index") return one_of(kIndices);
  if (kind == "offset") return one_of(std::array<std::string_view, 6>{"0", "3", "10", "-1", "536870912", "x"});
  if (kind == "db") {
    return one_of(std::array<std::string_view, 12>{"0", "0", "0", "1", "1", "1", "15", "16", "-1", "x", "01",
                                                   "123456789012345678"});
  }
  if (kind == "count") return one_of(kCounts);
  if (kind == "score") return one_of(kScores);
  if (kind == "bound") return one_of(kBounds);
  if (kind == "lex") return one_of(kLexBounds);
  if (kind == "glob") return one_of(kGlobs);
  if (kind == "option") return one_of(kOptions);
  if (kind == "hello") return one_of(kHelloWords);
  if (kind == "protocol") return settings_.resp3 && below(4) != 0 ? "3" : "2";
  if (kind == "badtime") return one_of(kBadTimes);
  if (kind == "channel") return one_of(kChannels);
  if (kind == "script") return one_of(kScripts);
  if (kind == "library") return one_of(kLibraries);
  if (kind == "function") return one_of(std::array<std::string_view, 5>{"f", "F", "g", "g", "none"});
  if (kind == "sha") {
    return one_of(std::array<std::string_view, 4>{"e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "x",
                                                  "0000000000000000000000000000000000000000",
                                                  "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB"});
  }
  // Times far from each other and from now: what a test takes to run must not matter, nor which of two came later.
  const std::uint64_t seconds = 10'000 + 100 * (++times_ * 7919 % 10'007);
  if (kind == "sec") return std::to_string(seconds);
  if (kind == "ms") return std::to_string(seconds * 1000);
  if (kind == "at") return std::to_string(settings_.now_seconds + seconds);
  if (kind == "atms") return std::to_string((settings_.now_seconds + seconds) * 1000);
  throw std::logic_error(std::string("no such kind of word: ") + std::string(kind));
  return "";
}

/// Appends what one alternative of a token stands for.
void RandomCommands::append(std::string_view alternative, Command& command) {
  while (!alternative.empty()) {
    const std::size_t end = std::min(alternative.find('_'), alternative.size());
    std::string_view part = alternative.substr(0, end);
    alternative.remove_prefix(std::min(end + 1, alternative.size()));
    if (!part.starts_with('{')) {
      command.push_back(part);
      continue;
    }
    const std::size_t close = part.find('}');
    const std::size_t times = part.ends_with('+') ? 1 + below(3) : 1;
    for (std::size_t i = 0; i < times; ++i) command.push_back(word(part.substr(1, close - 1)));
  }
}

Command RandomCommands::from(std::string_view form) {
  Command command;
  bool takes = true;
  bool is_name = true;
  while (!form.empty()) {
    const std::size_t end = std::min(form.find(' '), form.size());
    const std::string_view token = form.substr(0, end);
    form.remove_prefix(std::min(end + 1, form.size()));
    if (token == "[") {
      takes = below(2) == 0;
    } else if (token == "]") {
      takes = true;
    } else if (takes && is_name) {
      command.push_back(token);  // some names have an underscore
    } else if (takes) {
      std::vector<std::string_view> alternatives;
      for (std::string_view rest = token;;) {
        const std::size_t bar = rest.find('|');
        alternatives.push_back(rest.substr(0, bar));
        if (bar == std::string_view::npos) break;
        rest.remove_prefix(bar + 1);
      }
      append(alternatives[below(alternatives.size())], command);
    }
    is_name = false;
  }
  return command;
}

Command RandomCommands::next() {
  Command command;
  if (settings_.server && below(6) == 0) {
    command = from(kOther[below(std::size(kOther))]);
    // To empty everything is fine, but not all the time.
    if (command[0] == Value("FLUSHALL") || command[0] == Value("FLUSHDB")) {
      if (below(8) != 0) command = from("DBSIZE");
    }
  } else {
    command = from(kData[below(std::size(kData))]);
  }
  if (settings_.wrong_arity && below(60) == 0) {
    command = below(2) == 0 ? Command(command[0]) : command;
    if (command.size() > 1) command.push_back("x");
  }
  return command;
}

Command RandomCommands::scripted(const Command& inner) {
  Command script{"EVAL", below(2) == 0 ? "return redis.call(unpack(ARGV))" : "return redis.pcall(unpack(ARGV))", 0};
  for (const Value& value : inner.values()) script.push_back(value);
  return script;
}

}  // namespace lockstep::models::redis
