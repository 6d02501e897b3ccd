#include "reports/text/figures.hpp"

#include <catch2/catch.hpp>

namespace lockstep::reports::figures_test {
namespace {

using namespace sim::literals;
using sim::Duration;
using sim::Instant;

std::string rounded(const char* exact) { return sim::to_string(rounded_for_reading(*sim::parse_duration(exact))); }

TEST_CASE("figures: three figures or whole milliseconds, and a hair's breadth stays") {
  CHECK(rounded("222.197163ms") == "222ms");
  CHECK(rounded("12.345678ms") == "12.3ms");
  CHECK(rounded("1.2345ms") == "1.23ms");
  CHECK(rounded("116693.905929ms") == "116694ms");
  CHECK(rounded("12003ms") == "12003ms");
  CHECK(rounded("29.000001ms") == "29.000001ms");
  CHECK(rounded("101001.999999ms") == "101001.999999ms");
  CHECK(rounded_for_reading(-12345678_ns) == -12300_us);
}

TEST_CASE("figures: in a sentence moments are rounded, lengths to three figures, and two that differ look different") {
  CHECK(with_rounded_times("B got the lock at 222.197163ms while A, who got it at 1ms, still believed") ==
        "B got the lock at 222ms while A, who got it at 1ms, still believed");
  CHECK(with_rounded_times("at 222.197163ms, until 222.4ms.") == "at 222.197163ms, until 222.4ms.");
  CHECK(with_rounded_times(
            "probe got the lock 123.064111278s after everything had come to rest at 442ms (50ms allowed)") ==
        "probe got the lock 123s after everything had come to rest at 442ms (50ms allowed)");
  CHECK(with_rounded_times("A-1 wrote v1.2345ms2 at 3") == "A-1 wrote v1.2345ms2 at 3");
}

TEST_CASE("figures: a column of times has one unit, and neighbours that differ look different") {
  const auto column = [](std::vector<Duration> times) {
    std::vector<Instant> at;
    for (const Duration time : times) at.push_back(Instant::at(time));
    return column_of(at);
  };
  using Texts = std::vector<std::string>;
  CHECK(column({0_ms, 1148_ms, 1150_ms}) == Texts{"0ms", "1148ms", "1150ms"});
  CHECK(column({0_ms, 1150_ms, 2_s}) == Texts{"0ms", "1.15s", "2s"});
  CHECK(column({250_us, 222197163_ns}) == Texts{"0.25ms", "222ms"});
  CHECK(column({222197163_ns, 222197163_ns, 222400_us}) == Texts{"222ms", "222.197163ms", "222.4ms"});
}

}  // namespace
}  // namespace lockstep::reports::figures_test
