// Clocks: off, drifting, jumping.

#include "sim/time/clock.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include "sim/testing/test_world.hpp"

namespace lockstep::sim::clock_test {
namespace {

using namespace testing;

Duration reading_of(const Clock& clock, Duration true_time) {
  return clock.reading_at(Instant::at(true_time)).offset();
}

TEST_CASE("clock: it shows true time plus its offset") {
  TestWorld test;
  const Clock late(test.world, -30_ms, 0);
  CHECK(reading_of(late, 100_ms) == 70_ms);
  CHECK(late.true_time_of(Instant::at(70_ms)).identical(Instant::at(100_ms)));
  CHECK(late.true_length(5_ms) == 5_ms);
}

TEST_CASE("clock: a fast clock needs less true time, a slow one more") {
  TestWorld test;
  const Clock fast(test.world, 0_ms, 100'000'000);   // gains 10 percent
  const Clock slow(test.world, 0_ms, -100'000'000);  // loses 10 percent
  CHECK(reading_of(fast, 1_s) == 1100_ms);
  CHECK(reading_of(slow, 1_s) == 900_ms);
  CHECK(fast.true_length(1100_ms) == 1_s);
  CHECK(slow.true_length(900_ms) == 1_s);
  CHECK(fast.true_length(1_ns) == 1_ns);
  CHECK(slow.true_length(1_ns) == 2_ns);
}

TEST_CASE("clock: half a nanosecond of drift rounds down, before and after the origin") {
  TestWorld test;
  const Clock fast(test.world, 0_ms, 500'000'000);
  CHECK(reading_of(fast, 1_ns) == 1_ns);
  CHECK(reading_of(fast, 2_ns) == 3_ns);
  CHECK(reading_of(fast, -1_ns) == -2_ns);
  const Clock slow(test.world, 0_ms, -500'000'000);
  CHECK(reading_of(slow, 1_ns) == 0_ns);
  CHECK(reading_of(slow, 2_ns) == 1_ns);
}

TEST_CASE("clock: whatever its drift, it never runs backwards, and a timer by it never fires early") {
  TestWorld test;
  rc::prop("any drift, offset, moment and length", [&] {
    const auto drift = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-999'999'999, 1'000'000'000),
                                       rc::gen::inRange<std::int64_t>(-200'000, 200'000));
    const Clock clock(test.world, Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000)),
                      drift);
    const Duration start = Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000));
    const Duration length = Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000));
    const Duration step = Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 10));

    RC_ASSERT(reading_of(clock, start + step) >= reading_of(clock, start));
    RC_ASSERT(reading_of(clock, start + length) >= reading_of(clock, start));
    RC_ASSERT(reading_of(clock, start + clock.true_length(length)) - reading_of(clock, start) >= length);
    // Nor later than it must: from the origin on, a nanosecond less would be too short.
    const Duration exact = clock.true_length(length);
    if (length > 0_ns) RC_ASSERT(reading_of(clock, exact - 1_ns) - reading_of(clock, 0_ns) < length);

    const Instant reading = clock.reading_at(Instant::at(start));
    const Duration back = clock.true_time_of(reading).offset();
    RC_ASSERT(back <= start);
    RC_ASSERT(reading_of(clock, back) >= reading.offset());
  });
}

TEST_CASE("clock: ten years of drift do not overflow") {
  TestWorld test;
  const Clock clock(test.world, 0_ms, 999'999'999);
  CHECK(reading_of(clock, Duration::forever()) > Duration::forever());
  CHECK(clock.true_length(Duration::forever()) < Duration::forever());
}

TEST_CASE("clock: a process sees its jump, its monotonic clock does not") {
  TestWorld test;
  Lines seen;
  Client& client = test.add_client(
      "A",
      [&](Client& self) -> Task<void> {
        for (int i = 0; i < 3; ++i) {
          seen.push_back(to_string(self.clock().now().offset()) + " " + to_string(self.monotonic().now().offset()));
          co_await self.sleep(10_ms);
        }
      },
      {.offset = 100_ms, .drift_ppb = 0, .uptime = 7_s});
  PlannedFault jump;
  jump.kind = PlannedFault::Kind::jump;
  jump.process = client.id();
  jump.length = -50_ms;
  jump.at = 15_ms;
  test.world.plan(jump);
  test.start();
  CHECK(test.run() == Simulation::End::quiet);
  CHECK(seen == Lines{"100ms 7s", "110ms 7.01s", "70ms 7.02s"});
}

TEST_CASE("clock: a jump of a drifting clock moves its reading by just that much") {
  TestWorld test;
  rc::prop("any drift and jump", [] {
    TestWorld inner;
    const auto drift = *rc::gen::inRange<std::int64_t>(-500'000'000, 500'000'000);
    const Duration by = Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000));
    Duration before;
    Duration after;
    Duration later;
    Client& client = inner.add_client("A",
                                      [&](Client& self) -> Task<void> {
                                        co_await self.sleep(33_ms);
                                        Clock clock = self.clock();
                                        before = clock.now().offset();
                                        clock.jump(by);
                                        after = clock.now().offset();
                                        co_await self.sleep(1_s);
                                        later = clock.now().offset();
                                      },
                                      {.offset = 3_ms, .drift_ppb = drift, .uptime = 0_ms});
    static_cast<void>(client);
    inner.start();
    inner.run();
    RC_ASSERT(after - before == by);
    RC_ASSERT(later - after == 1_s + Duration::nanoseconds(drift));
  });
}

TEST_CASE("clock: reached means now or earlier, passed means earlier") {
  TestWorld test;
  bool is_checked = false;
  test.add_client("A", [&](Client& self) -> Task<void> {
    co_await self.sleep(10_ms);
    const Instant now = self.clock().now();
    is_checked = self.clock().has_reached(now) && !self.clock().has_passed(now) &&
                 self.clock().has_passed(now - 1_ns) && !self.clock().has_reached(now + 1_ns);
  });
  test.start();
  test.run();
  CHECK(is_checked);
}

}  // namespace
}  // namespace lockstep::sim::clock_test
