#include "checker/properties/ownership.hpp"

#include <catch2/catch.hpp>

#include "checker/testing/forged_history.hpp"

namespace lockstep::checker::ownership_test {
namespace {

using namespace sim::literals;

OwnershipInterval only(const ForgedHistory& forged) {
  const auto intervals = ownership_intervals(forged.history());
  REQUIRE(intervals.size() == 1);
  return intervals.front();
}

void require_end(const OwnershipInterval& interval, BeliefEnd end, Duration to) {
  CHECK(interval.end == end);
  REQUIRE(interval.to);
  CHECK(sim::to_string(interval.to->offset()) == sim::to_string(to));
}

TEST_CASE("ownership: a hold begins with the completion of its acquire and ends with the invocation of its release") {
  ForgedHistory h;
  const auto hold = h.operation(A, "acquire", 10_ms, 20_ms);
  h.operation(A, "release", 50_ms, 60_ms, Phase::info, hold);
  const OwnershipInterval i = only(h);
  CHECK(i.from.offset() == 20_ms);
  require_end(i, BeliefEnd::released, 50_ms);
}

TEST_CASE("ownership: only an acquire that ended ok is a hold") {
  ForgedHistory h;
  h.operation(A, "acquire", 0_ms, 1_ms, Phase::fail);
  h.operation(A, "acquire", 2_ms, 3_ms, Phase::info);
  h.operation(A, "acquire", 4_ms, 4_ms, Phase::invoke);
  h.operation(A, "read", 5_ms, 6_ms);
  CHECK(ownership_intervals(h.history()).empty());
}

TEST_CASE("ownership: a hold that nothing ends goes on for ever") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  const OwnershipInterval i = only(h);
  CHECK(i.end == BeliefEnd::never);
  CHECK_FALSE(i.to);
  CHECK(i.contains(sim::Instant::at(Duration::forever())));
}

TEST_CASE("ownership: of several releases of one hold the first counts, and another hold's release does not") {
  ForgedHistory h;
  const auto first = h.acquire(A, 10_ms);
  h.release(A, first, 20_ms);
  h.release(A, first, 30_ms);
  const auto second = h.acquire(A, 40_ms);
  h.release(A, first, 50_ms);
  h.release(A, second, 60_ms);
  const auto intervals = ownership_intervals(h.history());
  REQUIRE(intervals.size() == 2);
  require_end(intervals[0], BeliefEnd::released, 20_ms);
  require_end(intervals[1], BeliefEnd::released, 60_ms);
}

TEST_CASE("ownership: who learns that the lock is lost stops believing, even if it releases later") {
  ForgedHistory h;
  const auto hold = h.acquire(A, 10_ms);
  h.operation(A, "lost", 25_ms, 25_ms, Phase::ok, hold);
  h.release(A, hold, 30_ms);
  require_end(only(h), BeliefEnd::lost, 25_ms);
}

TEST_CASE("ownership: the own deadline ends a hold when the client can look at its clock") {
  ForgedHistory h;
  h.acquire(A, 20_ms, 100_ms);
  require_end(only(h), BeliefEnd::deadline, 100_ms);
}

TEST_CASE("ownership: a deadline in a pause is noticed at the end of the pause") {
  ForgedHistory h;
  h.acquire(A, 20_ms, 100_ms);
  h.pause(A, 50_ms, 430_ms);
  require_end(only(h), BeliefEnd::deadline, 430_ms);
}

TEST_CASE("ownership: a pause that begins exactly at the deadline hides it, one that ends there does not") {
  ForgedHistory begins;
  begins.acquire(A, 20_ms, 100_ms);
  begins.pause(A, 100_ms, 200_ms);
  require_end(only(begins), BeliefEnd::deadline, 200_ms);

  ForgedHistory ends;
  ends.acquire(A, 20_ms, 100_ms);
  ends.pause(A, 50_ms, 100_ms);
  require_end(only(ends), BeliefEnd::deadline, 100_ms);
  CHECK(only(ends).to_step == sim::no_step);
}

TEST_CASE("ownership: pauses that follow each other without a gap are one, also when they overlap") {
  ForgedHistory h;
  h.acquire(A, 20_ms, 100_ms);
  h.pause(A, 50_ms, 110_ms);
  h.pause(A, 110_ms, 200_ms);
  h.pause(A, 150_ms, 300_ms);
  h.pause(A, 301_ms, 400_ms);
  require_end(only(h), BeliefEnd::deadline, 300_ms);
}

TEST_CASE("ownership: a pause of another process does not stop this one from looking at its clock") {
  ForgedHistory h;
  h.acquire(A, 20_ms, 100_ms);
  h.pause(B, 50_ms, 430_ms);
  require_end(only(h), BeliefEnd::deadline, 100_ms);
}

TEST_CASE("ownership: a process that is paused for ever believes for ever, unless it dies") {
  ForgedHistory h;
  h.acquire(A, 20_ms, 100_ms);
  h.pause(A, 50_ms, {});
  CHECK(only(h).end == BeliefEnd::never);
  h.crash(A, 500_ms);
  require_end(only(h), BeliefEnd::crashed, 500_ms);
}

TEST_CASE("ownership: a crash in the step in which the lock was got ends the hold at once") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  h.crash(A, 20_ms);
  sim::History same_step = h.history();
  same_step.interruptions[0].step = same_step.operations[0].completed_in;
  const std::vector<OwnershipInterval> intervals = ownership_intervals(same_step);
  REQUIRE(intervals.size() == 1);
  require_end(intervals[0], BeliefEnd::crashed, 20_ms);
  CHECK(intervals[0].is_empty());
}

TEST_CASE("ownership: a crash ends the holds before it and none after the restart") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  h.crash(A, 30_ms, 40_ms);
  h.acquire(A, 50_ms);
  const auto intervals = ownership_intervals(h.history());
  REQUIRE(intervals.size() == 2);
  require_end(intervals[0], BeliefEnd::crashed, 30_ms);
  CHECK(intervals[1].end == BeliefEnd::never);
}

TEST_CASE("ownership: an acquire whose validity was over before it completed is an empty hold") {
  ForgedHistory h;
  h.acquire(A, 120_ms, 100_ms);
  const OwnershipInterval i = only(h);
  CHECK(i.is_empty());
  CHECK_FALSE(i.contains(i.from));
}

}  // namespace
}  // namespace lockstep::checker::ownership_test
