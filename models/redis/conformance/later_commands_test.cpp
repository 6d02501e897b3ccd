// What Redis 8.4 and Valkey 8.1 and 9.0 added for compare-and-set and compare-and-delete, point by point: neither is a
// package of Debian 12, so each row is one assertion of the servers' own tests, by the test's name.
// Redis: tests/unit/type/string.tcl of redis/redis at 03a80521; what was still changed before the release (digests of 16
// digits, of either case) is that of src/db.c and src/t_string.c of 8.4 and later, where the name begins with "src/".
// Valkey: tests/unit/type/string.tcl of valkey-io/valkey at 05fb2e6b.

#include <catch2/catch.hpp>

#include <span>
#include <string_view>

#include "models/redis/conformance/test_server.hpp"

namespace lockstep::models::redis::later_commands_test {
namespace {

struct Point {
  std::string_view of;  ///< the test; empty: as above
  std::string_view sent;
  std::string_view reply;
};

void check_points(Version version, std::span<const Point> points) {
  TestServer server;
  server.database.set_version(version);
  std::string_view of;
  for (const Point& point : points) {
    if (!point.of.empty()) of = point.of;
    INFO(of << ": " << point.sent);
    CHECK(server.resp(point.sent) == point.reply);
  }
}

constexpr std::string_view kWrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
constexpr std::string_view kNoString = "-ERR Key should be of string type if conditions are specified\r\n";
constexpr std::string_view kNoCondition = "-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE\r\n";
constexpr std::string_view kNoDigest = "-ERR must be exactly 16 hexadecimal characters\r\n";
constexpr std::string_view kWrongNumber = "-ERR wrong number of arguments for 'delex' command\r\n";

}  // namespace

TEST_CASE("DIGEST replies as Redis 8.4 does") {
  static constexpr Point kPoints[] = {
      {"DIGEST basic usage with plain string", "SET mykey hello", "+OK\r\n"},
      {"", "DIGEST mykey", "$16\r\n9555e8555c62dcfd\r\n"},
      {"redis/docs content/commands/digest.md", "SET key1 \"Hello world\"", "+OK\r\n"},
      {"", "DIGEST key1", "$16\r\nb6acb9d84a38ff74\r\n"},
      {"DIGEST with empty string", "SET mykey \"\"", "+OK\r\n"},
      {"", "DIGEST mykey", "$16\r\n2d06800538d394c2\r\n"},
      {"DIGEST with integer-encoded value", "SET mykey 122", "+OK\r\n"},
      {"", "INCR mykey", ":123\r\n"},
      {"", "DIGEST mykey", "$16\r\n404a763b3f4c8c9a\r\n"},
      {"src/t_string.c stringDigest: %016", "SET mykey v8", "+OK\r\n"},
      {"", "DIGEST mykey", "$16\r\n0cc76dbb41381419\r\n"},
      {"DIGEST with very long string", "SETRANGE zeros 300 x", ":301\r\n"},
      {"", "DIGEST zeros", "$16\r\n805a42f34dc87bfb\r\n"},
      {"DIGEST against non-existing key", "DIGEST nonexistent", "$-1\r\n"},
      {"DIGEST against wrong type (list)", "LPUSH mylist element", ":1\r\n"},
      {"", "DIGEST mylist", kWrongType},
      {"DIGEST against wrong type (hash)", "HSET myhash field value", ":1\r\n"},
      {"", "DIGEST myhash", kWrongType},
      {"DIGEST wrong number of arguments", "DIGEST", "-ERR wrong number of arguments for 'digest' command\r\n"},
      {"", "DIGEST key1 key2", "-ERR wrong number of arguments for 'digest' command\r\n"},
  };
  check_points(Version::redis_8_4, kPoints);
}

TEST_CASE("DELEX replies as Redis 8.4 does") {
  static constexpr Point kPoints[] = {
      {"DELEX basic usage without conditions", "SET mykey hello", "+OK\r\n"},
      {"", "DELEX mykey", ":1\r\n"},
      {"", "DELEX mykey", ":0\r\n"},
      {"", "HSET myhash f v", ":1\r\n"},
      {"", "DELEX myhash", ":1\r\n"},
      {"", "ZADD mystr 1 m", ":1\r\n"},
      {"", "DELEX mystr", ":1\r\n"},
      {"DELEX basic usage with IFEQ", "SET mykey hello", "+OK\r\n"},
      {"", "DELEX mykey IFEQ world", ":0\r\n"},
      {"", "GET mykey", "$5\r\nhello\r\n"},
      {"", "DELEX mykey IFEQ hello", ":1\r\n"},
      {"", "EXISTS mykey", ":0\r\n"},
      {"DELEX basic usage with IFNE", "SET mykey hello", "+OK\r\n"},
      {"", "DELEX mykey IFNE hello", ":0\r\n"},
      {"", "GET mykey", "$5\r\nhello\r\n"},
      {"", "DELEX mykey IFNE world", ":1\r\n"},
      {"", "EXISTS mykey", ":0\r\n"},
      {"DELEX basic usage with IFDEQ", "SET mykey hello", "+OK\r\n"},
      {"", "DELEX mykey IFDEQ 9555e8555c62dcfe", ":0\r\n"},
      {"", "GET mykey", "$5\r\nhello\r\n"},
      {"", "DELEX mykey IFDEQ 9555e8555c62dcfd", ":1\r\n"},
      {"", "EXISTS mykey", ":0\r\n"},
      {"DELEX basic usage with IFDNE", "SET mykey hello", "+OK\r\n"},
      {"", "DELEX mykey IFDNE 9555e8555c62dcfd", ":0\r\n"},
      {"", "GET mykey", "$5\r\nhello\r\n"},
      {"", "DELEX mykey IFDNE 9555e8555c62dcfe", ":1\r\n"},
      {"", "EXISTS mykey", ":0\r\n"},
      {"DELEX with non-existing key", "DELEX nonexistent IFEQ hello", ":0\r\n"},
      {"", "DELEX nonexistent IFNE hello", ":0\r\n"},
      {"", "DELEX nonexistent IFDEQ 1234567890", ":0\r\n"},
      {"", "DELEX nonexistent IFDNE 1234567890", ":0\r\n"},
      {"DELEX with empty string value", "SET mykey \"\"", "+OK\r\n"},
      {"", "DELEX mykey IFEQ notempty", ":0\r\n"},
      {"", "DELEX mykey IFEQ \"\"", ":1\r\n"},
      {"DELEX with negative integer", "SET mykey -999", "+OK\r\n"},
      {"", "DELEX mykey IFEQ -999", ":1\r\n"},
      {"DELEX with integer that looks like string", "SET key1 0123", "+OK\r\n"},
      {"", "DELEX key1 IFEQ 123", ":0\r\n"},
      {"", "DELEX key1 IFEQ 0123", ":1\r\n"},
      {"DELEX with binary data", "SET mykey \"\\x00\\x01\\xff\\xfe\"", "+OK\r\n"},
      {"", "DELEX mykey IFEQ \"\\x00\\x01\\xff\\xff\"", ":0\r\n"},
      {"", "DELEX mykey IFEQ \"\\x00\\x01\\xff\\xfe\"", ":1\r\n"},
      {"DELEX against wrong type", "LPUSH mylist element", ":1\r\n"},
      {"", "DELEX mylist IFEQ element", kNoString},
      {"", "SADD myset member", ":1\r\n"},
      {"", "DELEX myset IFDNE member", kNoString},
      {"DELEX wrong number of arguments", "SET key1 x", "+OK\r\n"},
      {"", "DELEX key1 IFEQ", kWrongNumber},
      {"", "DELEX key1 IFEQ value1 extra", kWrongNumber},
      {"src/db.c delexCommand: argc is looked at first", "DELEX missing IFEQ", kWrongNumber},
      {"DELEX invalid condition", "SET mykey hello", "+OK\r\n"},
      {"", "DELEX mykey INVALID hello", kNoCondition},
      {"", "DELEX mykey EQ hello", kNoCondition},
      {"src/db.c delexCommand: the key is looked at before", "DELEX missing INVALID hello", ":0\r\n"},
      {"", "DELEX mylist INVALID hello", kNoString},
      {"src/t_string.c validateHexDigest: the length alone", "DELEX mykey IFDEQ 9555e8555c62dcf", kNoDigest},
      {"", "DELEX mykey IFDEQ zzzzzzzzzzzzzzzz", ":0\r\n"},
      {"", "DELEX mykey IFDNE \"\"", kNoDigest},
      {"a digest without a letter is no number", "SET key2 n1067", "+OK\r\n"},
      {"", "DELEX key2 IFDNE 7065344192563511", ":0\r\n"},
      {"", "DELEX key2 IFDEQ 7065344192563511", ":1\r\n"},
      {"src/db.c delexCommand: strcasecmp", "DELEX mykey IFDNE 9555E8555C62DCFD", ":0\r\n"},
      {"", "DELEX mykey ifdeq 9555E8555C62DCFD", ":1\r\n"},
  };
  check_points(Version::redis_8_4, kPoints);
}

TEST_CASE("SET with a condition replies as Redis 8.4 does") {
  static constexpr Point kPoints[] = {
      {"Extended SET with IFEQ - key doesn't exist", "SET mykey world IFEQ hello", "$-1\r\n"},
      {"", "EXISTS mykey", ":0\r\n"},
      {"Extended SET with IFEQ and GET - key doesn't exist", "SET mykey world IFEQ hello GET", "$-1\r\n"},
      {"", "EXISTS mykey", ":0\r\n"},
      {"Extended SET with IFDEQ - key doesn't exist", "SET mykey world IFDEQ 1234567890", "$-1\r\n"},
      {"", "EXISTS mykey", ":0\r\n"},
      {"Extended SET with IFNE - key doesn't exist", "SET mykey world IFNE hello", "+OK\r\n"},
      {"", "GET mykey", "$5\r\nworld\r\n"},
      {"Extended SET with IFDNE and GET - key doesn't exist", "DEL mykey", ":1\r\n"},
      {"", "SET mykey hello IFDNE 1234567890 GET", "$-1\r\n"},
      {"", "GET mykey", "$5\r\nhello\r\n"},
      {"Extended SET with IFEQ - key exists but doesn't match", "SET mykey world IFEQ different", "$-1\r\n"},
      {"Extended SET with IFEQ and GET - key exists but doesn't match", "SET mykey world IFEQ different GET",
       "$5\r\nhello\r\n"},
      {"Extended SET with IFNE - key exists and matches", "SET mykey world IFNE hello", "$-1\r\n"},
      {"Extended SET with IFNE and GET - key exists and matches", "SET mykey world IFNE hello GET", "$5\r\nhello\r\n"},
      {"Extended SET with IFDEQ - key exists but digest doesn't match", "SET mykey world IFDEQ 9555e8555c62dcfe",
       "$-1\r\n"},
      {"Extended SET with IFDNE - key exists and digest matches", "SET mykey world IFDNE 9555e8555c62dcfd", "$-1\r\n"},
      {"", "GET mykey", "$5\r\nhello\r\n"},
      {"Extended SET with IFEQ and GET - key exists and matches", "SET mykey world IFEQ hello GET", "$5\r\nhello\r\n"},
      {"", "GET mykey", "$5\r\nworld\r\n"},
      {"Extended SET with IFNE - key exists and doesn't match", "SET mykey hello IFNE different", "+OK\r\n"},
      {"Extended SET with IFDEQ and expiration", "SET mykey hello IFDEQ 9555e8555c62dcfd EX 10", "+OK\r\n"},
      {"", "TTL mykey", ":10\r\n"},
      {"Extended SET with IFDNE - key exists and digest doesn't match", "SET mykey world IFDNE 9555e8555c62dcfe",
       "+OK\r\n"},
      {"", "GET mykey", "$5\r\nworld\r\n"},
      {"", "TTL mykey", ":-1\r\n"},
      {"Extended SET with IFEQ against wrong type", "LPUSH mylist element", ":1\r\n"},
      {"", "SET mylist value IFEQ element", kWrongType},
      {"Extended SET with IFDNE against wrong type", "SET mylist value IFDNE 1234567890", kWrongType},
      {"Extended SET with integer-encoded value and IFEQ", "SET mykey 12345", "+OK\r\n"},
      {"", "SET mykey world IFEQ 12345", "+OK\r\n"},
      {"Extended SET with empty string and IFNE", "SET mykey \"\"", "+OK\r\n"},
      {"", "SET mykey world IFNE \"\"", "$-1\r\n"},
      {"Extended SET with empty string and IFEQ", "SET mykey hello IFEQ \"\"", "+OK\r\n"},
      {"Extended SET case insensitive conditions", "SET mykey world IfEq hello", "+OK\r\n"},
      {"src/t_string.c: conditions exclude each other", "SET mykey v IFEQ world NX", "-ERR syntax error\r\n"},
      {"", "SET mykey v XX IFEQ world", "-ERR syntax error\r\n"},
      {"", "SET mykey v IFEQ world IFNE other", "-ERR syntax error\r\n"},
      {"", "SET mykey v IFEQ", "-ERR syntax error\r\n"},
      {"src/t_string.c: of the same one the last counts", "SET mykey v IFEQ other IFEQ world", "+OK\r\n"},
      {"src/t_string.c: KEEPTTL beside a condition", "SET mykey v EX 10", "+OK\r\n"},
      {"", "SET mykey w IFEQ v KEEPTTL", "+OK\r\n"},
      {"", "TTL mykey", ":10\r\n"},
      {"src/t_string.c validateHexDigest", "SET mykey v IFDEQ 12", kNoDigest},
  };
  check_points(Version::redis_8_4, kPoints);
}

TEST_CASE("SET with IFEQ and DELIFEQ reply as Valkey 9.0 does") {
  static constexpr Point kPoints[] = {
      {"SET with IFEQ conditional", "SET foo initial_value", "+OK\r\n"},
      {"", "SET foo new_value ifeq initial_value", "+OK\r\n"},
      {"", "SET foo should_not_set ifeq wrong_value", "$-1\r\n"},
      {"", "GET foo", "$9\r\nnew_value\r\n"},
      {"SET with IFEQ conditional - with get", "SET foo x ifeq new_value get", "$9\r\nnew_value\r\n"},
      {"", "DEL foo", ":1\r\n"},
      {"", "SET foo new_value ifeq initial_value get", "$-1\r\n"},
      {"", "GET foo", "$-1\r\n"},
      {"SET with IFEQ conditional - with xx", "SET foo new_value ifeq initial_value xx", "-ERR syntax error\r\n"},
      {"SET with IFEQ conditional - with nx", "SET foo new_value ifeq initial_value nx", "-ERR syntax error\r\n"},
      {"SET with IFEQ conditional - non-string current value", "SADD foo some_set_value", ":1\r\n"},
      {"", "SET foo new_value ifeq some_set_value", kWrongType},
      {"SET with IFEQ conditional - non string current value with get", "SET foo new_value ifeq initial_value get",
       kWrongType},
      {"DELIFEQ existing key, non-string value", "DELIFEQ foo test", kWrongType},
      {"DELIFEQ non-existing key", "DEL foo", ":1\r\n"},
      {"", "DELIFEQ foo test", ":0\r\n"},
      {"DELIFEQ existing key, non-matching value", "SET foo nope", "+OK\r\n"},
      {"", "DELIFEQ foo test", ":0\r\n"},
      {"DELIFEQ existing key, matching value", "DELIFEQ foo nope", ":1\r\n"},
      {"", "EXISTS foo", ":0\r\n"},
      {"src/commands/delifeq.json: arity 3", "DELIFEQ foo", "-ERR wrong number of arguments for 'delifeq' command\r\n"},
  };
  check_points(Version::valkey_9_0, kPoints);
}

TEST_CASE("a server has the commands of its version, and no other's") {
  constexpr std::string_view kSyntax = "-ERR syntax error\r\n";
  struct Row {
    std::string_view version;
    std::string_view set_ifeq, set_ifne;
    bool has_delex, has_delifeq;
    std::string_view in_info;
  };
  for (const Row& row : {Row{"7.0", kSyntax, kSyntax, false, false, "redis_version:7.0.15\r\n"},
                         Row{"8.4", "$-1\r\n", "+OK\r\n", true, false, "redis_version:8.4.0\r\n"},
                         Row{"valkey-8.1", "$-1\r\n", kSyntax, false, false, "valkey_version:8.1.0\r\n"},
                         Row{"valkey-9.0", "$-1\r\n", kSyntax, false, true, "valkey_version:9.0.0\r\n"}}) {
    INFO(row.version);
    TestServer server;
    server.database.set_version(version_of(row.version));
    CHECK(server.resp("SET k v IFEQ x") == row.set_ifeq);
    CHECK(server.resp("SET k v IFNE x") == row.set_ifne);
    server.send("DEL k");
    CHECK(server.resp("DELEX k") ==
          (row.has_delex ? ":0\r\n" : "-ERR unknown command 'DELEX', with args beginning with: 'k' \r\n"));
    CHECK(server.resp("DIGEST k") ==
          (row.has_delex ? "$-1\r\n" : "-ERR unknown command 'DIGEST', with args beginning with: 'k' \r\n"));
    CHECK(server.resp("DELIFEQ k v") ==
          (row.has_delifeq ? ":0\r\n" : "-ERR unknown command 'DELIFEQ', with args beginning with: 'k' 'v' \r\n"));
    CHECK((server.resp("COMMAND INFO delex") == "*1\r\n$-1\r\n") == !row.has_delex);
    CHECK((server.eval("return redis.pcall('DELIFEQ', 'k', 'v')").is_error()) == !row.has_delifeq);
    CHECK(server.resp("INFO server").find(row.in_info) != std::string::npos);
  }
}

TEST_CASE("what a conditional command has done is replicated as what it did; what it has not done is not") {
  TestServer server;
  server.database.set_version(Version::redis_8_4);
  server.database.record_effects(true);
  server.send("SET foo bar");
  // DELEX propagate as DEL command to replica; DELEX does not propagate when condition not met.
  server.send("DELEX foo IFEQ baz");
  CHECK(server.database.effects().empty());
  server.send("SET foo bar2 IFEQ bar");
  REQUIRE(server.database.effects().size() == 1);
  CHECK(server.database.effects()[0].command == Command{"SET", "foo", "bar2"});
  server.send("DELEX foo IFEQ bar2");
  REQUIRE(server.database.effects().size() == 1);
  CHECK(server.database.effects()[0].command == Command{"DEL", "foo"});
  server.database.set_version(Version::valkey_9_0);
  server.send("SET foo bar");
  server.send("DELIFEQ foo bar");
  REQUIRE(server.database.effects().size() == 1);
  CHECK(server.database.effects()[0].command == Command{"DEL", "foo"});
}

TEST_CASE("an expired key holds nothing that could be compared") {
  TestServer server;
  server.database.set_version(Version::redis_8_4);
  server.send("SET foo bar PX 100");
  server.advance(sim::Duration::milliseconds(101));
  CHECK(server.resp("DELEX foo IFEQ bar") == ":0\r\n");
  CHECK(server.changes() == "expire foo, read foo");
  server.send("SET foo bar PX 100");
  server.advance(sim::Duration::milliseconds(101));
  CHECK(server.resp("SET foo baz IFEQ bar") == "$-1\r\n");
  CHECK(server.resp("DIGEST foo") == "$-1\r\n");
}

}  // namespace lockstep::models::redis::later_commands_test
