// Margins that can be worked out by hand. Times are tenths of a millisecond.

#include "checker/testing/zone_checker.hpp"

#include <catch2/catch.hpp>

#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::testing::zone_checker_test {
namespace {

constexpr std::int64_t kMs = 10;
constexpr std::int64_t kMost = 400 * kMs;

/// The world of the scenario files: two clients, a lease of 100ms, 20ms of work, 1 to 10ms from one to the other.
LockWorld lease() {
  LockWorld world;
  world.ttl = 100 * kMs;
  world.latency = {1 * kMs, 10 * kMs};
  world.start = {0, 1'000 * kMs};
  world.hold = {20 * kMs, 20 * kMs};
  world.between = {3 * kMs, 3 * kMs};
  return world;
}

/// deadline-inside-work.toml: three servers at exactly 1ms, 60ms of work, a lease of 60ms of which 57.4 are left to believe in.
LockWorld redlock() {
  LockWorld world;
  world.servers = 3;
  world.quorum = 2;
  world.gives_back_failures = true;
  world.ttl = 60 * kMs;
  world.validity = 574;
  world.latency = {1 * kMs, 1 * kMs};
  world.start = {0, 1'000 * kMs};
  world.hold = {60 * kMs, 60 * kMs};
  return world;
}

/// Whether pauses have to be longer than that. All cases search for what they have to exceed; few ask a twentieth of a millisecond
/// to either side of it, which says as much, since those that may be long may be short, too.
bool is_above(LockWorld world, std::int64_t tenths, std::int64_t most = kMost) {
  if (!sim::takes_few_cases()) return margin(world, most) == Margin{tenths, false};
  for (Ticks* ticks : {&world.latency, &world.start, &world.hold, &world.between})
    *ticks = {2 * ticks->lo, 2 * ticks->hi};
  world.ttl *= 2;
  if (world.validity) *world.validity *= 2;
  return ZoneChecker(world, 2 * tenths).is_violable() == std::optional(false) &&
         ZoneChecker(world, 2 * tenths + 1).is_violable() == std::optional(true);
}

}  // namespace

TEST_CASE("zone checker: without a pause a lease that is long enough holds, and one that is too short does not") {
  LockWorld world = lease();
  CHECK(margin(world, kMost) == std::nullopt);
  // Set as it was asked for; known 10ms later; held for 20. Another may have it 1ms after the lease.
  world.ttl = 29 * kMs;
  CHECK(margin(world, kMost) == std::nullopt);
  world.ttl = 29 * kMs - 1;
  CHECK(margin(world, kMost) == Margin{0, true});
}

TEST_CASE("zone checker: a pause of the work, or anywhere, must be longer than what the lease leaves") {
  // 10 + 20 + P > 100 + 1
  LockWorld world = lease();
  world.pauses = 1;
  CHECK(is_above(world, 710));
  std::swap(world.pauses, world.work_pauses);
  CHECK(is_above(world, 710));
  world.hold = {5 * kMs, 27 * kMs};
  CHECK(is_above(world, 640));
  world.clients = 3;
  world.rounds = 2;
  CHECK(is_above(world, 640));
}

TEST_CASE(
    "zone checker: pauses add up, of whichever kind they are (two-pauses-in-one-work, two-tables-of-work-pauses)") {
  for (const auto& [anywhere, of_work] : {std::pair(0u, 2u), std::pair(2u, 0u), std::pair(1u, 1u)}) {
    LockWorld world = lease();
    world.pauses = anywhere;
    world.work_pauses = of_work;
    CHECK(is_above(world, 355));
    CHECK(margin(world, 355) == std::nullopt);
  }
  LockWorld world = lease();
  world.ttl = 101 * kMs;  // 72ms
  world.work_pauses = 3;
  CHECK(is_above(world, 240));
}

TEST_CASE("zone checker: who has no time to ask again cannot be harmed") {
  LockWorld world = lease();
  world.pauses = 1;
  world.start = {0, 50 * kMs};
  // The other has asked by 60ms, unless it is the one that is paused; and there is one pause only.
  CHECK(margin(world, kMost) == std::nullopt);
  // Both: one is late, and so is the other. 10 + 20 + P for the owner from when it asked, 90 from then to the lease's end.
  world.pauses = 2;
  CHECK(is_above(world, 710));
}

TEST_CASE("zone checker: a deadline that comes in a pause is noticed at its end (deadline-inside-work)") {
  // The first server has it at 1ms and the second at 3, so they let go at 61 and 63; A believes from 6 to 57.4.
  // B has asked the second of those that are free, the second and third, at 63 and 65, and knows at 66.
  LockWorld world = redlock();
  CHECK(margin(world, kMost) == std::nullopt);
  world.pauses = 1;
  CHECK(is_above(world, 86));
  std::swap(world.pauses, world.work_pauses);
  CHECK(is_above(world, 86));
}

TEST_CASE("zone checker: pauses that adjoin hide a deadline as one does (adjoining-pauses-at-deadline)") {
  LockWorld world = redlock();
  world.work_pauses = 2;
  CHECK(is_above(world, 43));
  world.pauses = world.work_pauses = 1;
  CHECK(is_above(world, 43, 80));
}

TEST_CASE("zone checker: before its deadline the work of redlock ends as any other") {
  LockWorld world = redlock();
  world.hold = {20 * kMs, 20 * kMs};
  world.pauses = 1;
  // It ends at 26: 26 + P > 66.
  CHECK(is_above(world, 400));
  world.quorum = 3;
  // The third server lets go at 65 and B has asked the others before; it knows at 66.
  CHECK(is_above(world, 400));
  // One vote is no majority.
  world.quorum = 1;
  CHECK(margin(world, kMost) == Margin{0, true});
}

TEST_CASE("zone checker: who asks for more zones than are allowed does not know") {
  LockWorld world = lease();
  world.pauses = 1;
  CHECK(ZoneChecker(world, 710).is_violable() == std::optional(false));
  CHECK(ZoneChecker(world, 711).is_violable() == std::optional(true));
  CHECK(ZoneChecker(world, 710).is_violable(10) == std::nullopt);
}

}  // namespace lockstep::checker::testing::zone_checker_test
