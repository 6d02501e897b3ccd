#include "models/value.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "models/redis/script/sha1.hpp"
#include "models/redis/wire/reply.hpp"

namespace lockstep::models::value_test {

using namespace sim::literals;
using redis::Reply;

TEST_CASE("integers are read as Redis' string2ll reads them") {
  CHECK(parse_integer("0") == 0);
  CHECK(parse_integer("-1") == -1);
  CHECK(parse_integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  for (const char* no : {"", "-", "-0", "00", "01", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "9223372036854775808",
                         "-9223372036854775809", "99999999999999999999999", "--1", "1-"}) {
    INFO(no);
    CHECK_FALSE(parse_integer(no));
  }
  CHECK_FALSE(parse_integer(std::string_view("1\0", 2)));
}

TEST_CASE("a timestamp prints as its reading in whole units, rounded down") {
  CHECK(Value::milliseconds(sim::Instant::at(1'999'999_ns)).text() == "1");
  CHECK(Value::milliseconds(sim::Instant::at(-1_ns)).text() == "-1");
  CHECK(Value(Timestamp{sim::Instant::at(5_s), sim::Duration::seconds(1)}).text() == "5");
  CHECK(Value(Timestamp{sim::Instant::at(7_ns), sim::Duration::nanoseconds(1)}).integer() == 7);
}

TEST_CASE("numbers, text and timestamps are equal when their bytes are") {
  CHECK(Value(12) == Value("12"));
  CHECK_FALSE(Value(12) == Value("012"));
  CHECK(Value("12") == Value(12));
  CHECK_FALSE(Value("12x") == Value(12));
  CHECK(Value(-12) == Value(-12));
  CHECK_FALSE(Value(12) == Value(-12));
  CHECK(Value(12) == Value::milliseconds(sim::Instant::at(12_ms)));
  CHECK_FALSE(Value::milliseconds(sim::Instant::at(12_ms)) == Value(13));
  CHECK(Value("12") == Value::milliseconds(sim::Instant::at(12_ms)));
  CHECK(Value::lasting("x") == Value(std::string("x")));
  CHECK(Value::milliseconds(sim::Instant::at(12_ms + 5_ns)) == Value("12"));
  CHECK(Value::milliseconds(sim::Instant::at(12_ms + 5_ns)) == Value::milliseconds(sim::Instant::at(12_ms)));
  CHECK(Value(12).digest() == Value("12").digest());
  CHECK(Value::milliseconds(sim::Instant::at(12_ms)).digest() == Value("12").digest());
  CHECK(Value("12").digest() != Value("13").digest());
  for (const std::int64_t n : {0L, 7L, 10L, 9'999'999L, 10'000'000L, 123'456'789'012L, -1L, -9'999'999L}) {
    CHECK(Value(n).digest() == Value(Value(n).text()).digest());
  }
}

TEST_CASE("digests tell bytes apart by each of them, by their order and by their number") {
  std::vector<std::uint64_t> seen;
  for (std::size_t length = 0; length <= 20; ++length) {
    const std::string zeros(length, '\0');
    seen.push_back(digest_bytes(zeros));
    for (std::size_t at = 0; at < length; ++at) {
      std::string one = zeros;
      one[at] = '\x80';
      seen.push_back(digest_bytes(one));
    }
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  CHECK(digest_bytes("client-a-1") != digest_bytes("client-1-a"));
  CHECK(digest_bytes("ab", digest_bytes("c")) != digest_bytes("b", digest_bytes("ca")));
  // The same on every machine and in every build.
  CHECK(digest_bytes("") == 0xf8bb92ce26585846);
  CHECK(digest_bytes("lock") == 0xb4b1f22120e70cd9);
  CHECK(digest_bytes("client-a-1") == 0xdf5a4d54fbddf7ab);
}

TEST_CASE("a symbolic timestamp is equal to itself and to no text") {
  const sim::Instant symbolic(4, 3_ms);
  CHECK(Value::milliseconds(symbolic) == Value::milliseconds(symbolic));
  CHECK_FALSE(Value::milliseconds(symbolic) == Value::milliseconds(symbolic + 5_ms));
  CHECK_FALSE(Value::milliseconds(symbolic) == Value("3"));
  CHECK(Value::milliseconds(symbolic).instant()->identical(symbolic));
}

TEST_CASE("text is read as a timestamp when it is an integer that fits") {
  CHECK(Value("1500").instant()->identical(sim::Instant::at(1500_ms)));
  CHECK(Value(2).instant(1_s)->identical(sim::Instant::at(2_s)));
  CHECK_FALSE(Value("abc").instant());
  CHECK_FALSE(Value("9223372036854775807").instant());
  CHECK(Value(Timestamp{sim::Instant::at(5_s), sim::Duration::seconds(1)})
            .instant(1_ms)
            ->identical(sim::Instant::at(5_ms)));
}

TEST_CASE("option names are compared without regard to case") {
  CHECK(Value("nX").is_word("NX"));
  CHECK_FALSE(Value("NXX").is_word("NX"));
  CHECK_FALSE(Value(5).is_word("5X"));
}

TEST_CASE("replies are written and shown as Redis and redis-cli do") {
  CHECK(Reply::ok().resp() == "+OK\r\n");
  CHECK(Reply::nil().resp() == "$-1\r\n");
  CHECK(Reply::null_array().resp() == "*-1\r\n");
  CHECK(Reply::integer(-5).resp() == ":-5\r\n");
  CHECK(Reply::bulk("a\r\nb").resp() == "$4\r\na\r\nb\r\n");
  CHECK(Reply::error("ERR a\r\nb").resp() == "-ERR a  b\r\n");
  const Reply nested =
      Reply::array({Reply::integer(1), Reply::array({Reply::bulk("x"), Reply::nil()}), Reply::array({})});
  CHECK(nested.resp() == "*3\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n*0\r\n");
  CHECK(nested.describe() == "1) (integer) 1 2) [1) \"x\" 2) (nil)] 3) [(empty array)]");
  CHECK(Reply::ok().describe() == "OK");
  CHECK(Reply::error("ERR no").describe() == "(error) ERR no");
  CHECK(Reply::bulk(std::string("a\"\\\n\x01\xff")).describe() == R"("a\"\\\n\x01\xff")");
  CHECK(Reply::unknown().describe() == "(no answer)");
}

TEST_CASE("replies are equal when their kinds and contents are") {
  CHECK(Reply::bulk(5) == Reply::bulk("5"));
  CHECK_FALSE(Reply::integer(5) == Reply::bulk("5"));
  CHECK_FALSE(Reply::nil() == Reply::null_array());
  CHECK_FALSE(Reply::status("x") == Reply::error("x"));
  CHECK(Reply::bulk(5).digest() == Reply::bulk("5").digest());
  CHECK(Reply::integer(5).digest() != Reply::bulk("5").digest());
  CHECK(Reply::array({Reply::nil()}).digest() != Reply::array({}).digest());
}

TEST_CASE("SHA-1 agrees with the standard's examples") {
  CHECK(redis::sha1_hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(redis::sha1_hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(redis::sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  CHECK(redis::sha1_hex(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  for (const std::size_t length : {55U, 56U, 63U, 64U, 65U})
    CHECK(redis::sha1_hex(std::string(length, 'x')).size() == 40);
}

}  // namespace lockstep::models::value_test
