#include "checker/properties/belief/capacity.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include "checker/properties/belief/mutual_exclusion.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/testing/forged_history.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::capacity_test {
namespace {

using namespace sim::literals;

Finding judge(const ForgedHistory& h, std::int64_t places) { return capacity(h.history(), forged_names(), places); }

TEST_CASE("capacity: the one too many is caught, and one nanosecond later he is not") {
  for (const bool touching : {false, true}) {
    ForgedHistory h;
    const auto a = h.acquire(A, 10_ms);
    h.acquire(B, 20_ms);
    h.acquire(C, 30_ms);
    h.release(A, a, touching ? 30_ms : 30_ms + 1_ns);
    const Finding finding = judge(h, 2);
    if (touching) {
      CHECK(finding.verdict == Verdict::holds);
      CHECK(finding.why == "3 holds, never more than 2 at once");
    } else {
      REQUIRE(finding.verdict == Verdict::violated);
      CHECK(finding.by == std::vector{A, B, C});
      CHECK(finding.at->offset() == 30_ms);
      CHECK(finding.why ==
            "A (since 10ms), B (since 20ms) and C (since 30ms) all believed at 30ms to hold one of 2 places");
    }
  }
}

TEST_CASE("capacity: one process twice takes one place, and another object takes none") {
  ForgedHistory h;
  h.acquire(A, 10_ms);
  h.acquire(A, 20_ms);
  h.acquire(B, 30_ms);
  const auto c = h.acquire(C, 40_ms);
  h.of(c).object = "another";
  CHECK(judge(h, 2).verdict == Verdict::holds);
  CHECK(judge(h, 1).verdict == Verdict::violated);
}

TEST_CASE("capacity: a crashed holder believes nothing, a paused one still does") {
  for (const bool crashed : {true, false}) {
    ForgedHistory h;
    h.acquire(A, 10_ms, 25_ms);
    h.acquire(B, 10_ms);
    crashed ? h.crash(A, 20_ms) : h.pause(A, 20_ms, 40_ms);
    h.acquire(C, 30_ms);
    CHECK((judge(h, 2).verdict == Verdict::holds) == crashed);
  }
}

/// Who believes at some moment, counted at every moment at which somebody begins: straight from the definition.
std::optional<Duration> first_crowd(const sim::History& history, std::size_t places) {
  std::optional<Duration> earliest;
  const auto intervals = ownership_intervals(history);
  for (const auto& moment : intervals) {
    std::set<std::uint32_t> processes;
    for (const auto& i : intervals) {
      const bool is_alive = i.from.offset() <= moment.from.offset() && (!i.to || moment.from.offset() < i.to->offset());
      if (is_alive && i.object == moment.object) processes.insert(i.process.index);
    }
    if (processes.size() > places && (!earliest || moment.from.offset() < *earliest)) earliest = moment.from.offset();
  }
  return earliest;
}

TEST_CASE("capacity: the sweep counts as the definition does, and one place is mutual exclusion") {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    sim::Random random(seed);
    ForgedHistory h;
    const auto holds = 1 + random.below(9);
    const std::int64_t spread = random.between(4, 30);
    for (std::uint64_t n = 0; n < holds; ++n) {
      const sim::ProcessId who{static_cast<std::uint16_t>(random.below(4))};
      const Duration from = Duration::nanoseconds(random.between(0, spread));
      const auto id = h.acquire(who, from);
      if (random.one_in(6)) h.of(id).object = "other";
      const Duration length = Duration::nanoseconds(random.between(0, 9));
      if (random.one_in(3)) {
        h.of(id).valid_until = sim::Instant::at(from + length);
      } else if (!random.one_in(8)) {
        h.release(who, id, from + length);
      }
      if (random.one_in(6)) h.pause(who, from, from + Duration::nanoseconds(random.between(0, 9)));
    }
    INFO("seed " << seed);
    REQUIRE(judge(h, 1).verdict == mutual_exclusion(h.history(), forged_names()).verdict);
    for (const std::int64_t places : {1, 2, 3}) {
      const auto expected = first_crowd(h.history(), static_cast<std::size_t>(places));
      const Finding finding = judge(h, places);
      REQUIRE((finding.verdict == Verdict::violated) == expected.has_value());
      if (!expected) continue;
      violated += places == 2 ? 1 : 0;
      REQUIRE(finding.at->offset() == *expected);
      REQUIRE(finding.by.size() > static_cast<std::size_t>(places));
    }
  }
  CHECK(violated > 2'000);
  CHECK(violated < 18'000);
}

}  // namespace
}  // namespace lockstep::checker::capacity_test
