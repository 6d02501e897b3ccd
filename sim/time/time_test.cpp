// Durations as text and as numbers; instants.

#include "sim/time/time.hpp"

#include <limits>

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

namespace lockstep::sim::time_test {
namespace {

using namespace literals;

TEST_CASE("time: a duration prints as the shortest exact decimal with a unit") {
  CHECK(to_string(Duration::zero()) == "0ms");
  CHECK(to_string(71_ms) == "71ms");
  CHECK(to_string(1500_us) == "1.5ms");
  CHECK(to_string(2_s) == "2s");
  CHECK(to_string(90_s) == "90s");
  CHECK(to_string(10_ns) == "10ns");
  CHECK(to_string(-10_ns) == "-10ns");
  CHECK(to_string(9_us) == "9us");
  CHECK(to_string(10_us) == "0.01ms");
  CHECK(to_string(Duration::nanoseconds(1'000'001)) == "1.000001ms");
  CHECK(to_string(DurationRange{1_ms, 5_ms}) == "1ms..5ms");
  CHECK(to_string(DurationRange::exactly(5_ms)) == "5ms");
}

TEST_CASE("time: every unit can be read") {
  CHECK(parse_duration("91ms") == 91_ms);
  CHECK(parse_duration("1.5s") == 1500_ms);
  CHECK(parse_duration("-20us") == -20_us);
  CHECK(parse_duration("10ns") == 10_ns);
  CHECK(parse_duration("2min") == 120_s);
  CHECK(parse_duration("0.5min") == 30_s);
  CHECK(parse_duration("007ms") == 7_ms);
  CHECK(parse_duration("0s") == Duration::zero());
  CHECK(parse_duration("9223372036854775807ns") == Duration::nanoseconds(std::numeric_limits<std::int64_t>::max()));
}

TEST_CASE("time: what is no duration is refused") {
  for (const char* text :
       {"",      "ms",         "5",     "5 ms",    " 5ms",  "5ms ",  "5MS",   "5m",  "5h",    "+5ms",
        "--5ms", ".5ms",       "5.ms",  "1.2.3ms", "1e3ms", "0x5ms", "five",  "ms5", "-",     "-ms",
        "5msms", "\xff\xffms", "5\0ms", ".ms",     "..ms",  "5,5ms", "1_0ms", "∞s",  "nan s", "5 min"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).has_value());
  }
}

TEST_CASE("time: what a nanosecond or 64 bits cannot hold is refused, not rounded") {
  CHECK_FALSE(parse_duration("0.5ns").has_value());
  CHECK_FALSE(parse_duration("1.0000001ms").has_value());
  CHECK_FALSE(parse_duration("1.0000000ms").has_value());
  CHECK_FALSE(parse_duration("9223372036854775808ns").has_value());
  CHECK_FALSE(parse_duration("9223372036.854775808s").has_value());
  CHECK_FALSE(parse_duration("153722868min").has_value());
  CHECK_FALSE(parse_duration(std::string(100'000, '9') + "s").has_value());
  CHECK(parse_duration(std::string(100'000, '0') + "1s") == 1_s);
}

TEST_CASE("time: whole milliseconds round down, also below zero") {
  CHECK((1999_us).floor_ms() == 1);
  CHECK((-1_ns).floor_ms() == -1);
  CHECK((-1_ms).floor_ms() == -1);
  CHECK((-1001_us).floor_ms() == -2);
}

TEST_CASE("time: printing and reading give the same duration") {
  rc::prop("any number of nanoseconds", [] {
    // Of every magnitude: plain arbitrary integers would nearly all be years.
    const auto size = static_cast<std::int64_t>(*rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(1, 64));
    const Duration d = Duration::nanoseconds(*rc::gen::arbitrary<bool>() ? size : -size);
    RC_ASSERT(parse_duration(to_string(d)) == d);
  });
  rc::prop("round ones", [] {
    const Duration unit = *rc::gen::element(1_ns, 10_ns, 1_us, 10_us, 1_ms, 10_ms, 1_s, 60_s);
    const Duration d = unit * *rc::gen::inRange<std::int64_t>(-100'000, 100'000);
    RC_ASSERT(parse_duration(to_string(d)) == d);
  });
}

TEST_CASE("time: reading never crashes, and whatever it reads it can print and read again") {
  rc::prop("strings of the characters that durations are made of", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.-+msunie \t")));
    if (const auto d = parse_duration(text)) RC_ASSERT(parse_duration(to_string(*d)) == d);
  });
}

TEST_CASE("time: instants move by durations and keep their anchor") {
  const Instant event(7, 5_ms);
  CHECK((event + 3_ms).identical(Instant(7, 8_ms)));
  CHECK((event - 3_ms).identical(Instant(7, 2_ms)));
  CHECK_FALSE(event.identical(Instant::at(5_ms)));
  CHECK(Instant::origin().identical(Instant(0, 0_ms)));
  CHECK((Instant::origin() + Duration::forever() + Duration::forever()).offset() > Duration::forever());
}

}  // namespace
}  // namespace lockstep::sim::time_test
