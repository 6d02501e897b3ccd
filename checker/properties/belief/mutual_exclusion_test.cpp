#include "checker/properties/belief/mutual_exclusion.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <tuple>

#include "checker/properties/ownership.hpp"
#include "checker/testing/forged_history.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::mutual_exclusion_test {
namespace {

using namespace sim::literals;

Finding judge(const ForgedHistory& h) { return mutual_exclusion(h.history(), forged_names()); }

TEST_CASE("mutual exclusion: two holds that overlap by a nanosecond are caught, two that touch are innocent") {
  for (const bool touching : {false, true}) {
    ForgedHistory h;
    const auto a = h.acquire(A, 20_ms);
    const auto b = h.acquire(B, 30_ms);
    h.release(A, a, touching ? 30_ms : 30_ms + 1_ns);
    h.release(B, b, 40_ms);
    const Finding finding = judge(h);
    if (touching) {
      CHECK(finding.verdict == Verdict::holds);
      CHECK(finding.why == "2 holds, never two at once; the closest were 0ms apart");
    } else {
      REQUIRE(finding.verdict == Verdict::violated);
      CHECK(finding.by == std::vector{A, B});
      CHECK(finding.at->offset() == 30_ms);
      CHECK(finding.evidence == std::vector<sim::Step>{2, 4, 5, 7});
      CHECK(finding.why ==
            "B got the lock at 30ms while A, who got it at 20ms, still believed to hold it (until 30.000001ms)");
    }
  }
}

TEST_CASE("mutual exclusion: a paused holder still believes; one that wakes exactly when the next begins does not") {
  for (const Duration wakes : {430_ms, 163_ms}) {
    ForgedHistory h;
    h.acquire(A, 20_ms, 100_ms);
    h.pause(A, 50_ms, wakes);
    h.acquire(B, 163_ms, 250_ms);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::violated) == (wakes == 430_ms));
    if (wakes == 430_ms) {
      CHECK(finding.why ==
            "B got the lock at 163ms while A, who got it at 20ms, still believed to hold it (until 430ms)");
    }
  }
}

TEST_CASE("mutual exclusion: a crashed holder does not believe, a holder that never ends does") {
  for (const bool crashed : {true, false}) {
    ForgedHistory h;
    h.acquire(A, 20_ms);
    if (crashed) h.crash(A, 30_ms);
    h.acquire(B, 30_ms);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::holds) == crashed);
    if (!crashed) CHECK(finding.why.ends_with("still believed to hold it (and never stopped)"));
  }
}

TEST_CASE("mutual exclusion: an empty hold overlaps nothing, although it lies inside another") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  const auto b = h.acquire(B, 30_ms);
  h.release(B, b, 30_ms);
  CHECK(judge(h).verdict == Verdict::holds);
}

TEST_CASE("mutual exclusion: different objects and the same process are innocent") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  h.acquire(A, 30_ms);
  const auto b = h.acquire(B, 30_ms);
  h.of(b).object = "another lock";
  CHECK(judge(h).verdict == Verdict::holds);
}

TEST_CASE("mutual exclusion: a short hold of the same process does not hide the long one before it") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  const auto shorter = h.acquire(A, 30_ms);
  h.release(A, shorter, 35_ms);
  h.acquire(B, 40_ms);
  const Finding finding = judge(h);
  REQUIRE(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{A, B});
  CHECK(finding.at->offset() == 40_ms);
}

TEST_CASE("mutual exclusion: of three at once the pair with the smaller ids is named, the third mentioned") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  h.acquire(C, 30_ms);
  h.acquire(B, 30_ms);
  const Finding finding = judge(h);
  CHECK(finding.by == std::vector{A, C});
  CHECK(finding.why.ends_with("; so did B"));
}

TEST_CASE("mutual exclusion: when nobody got the lock it says so") {
  CHECK(judge(ForgedHistory{}).why == "nobody ever got the lock");
}

// All pairs, straight from the definition.
std::optional<std::tuple<Duration, sim::OperationId, sim::OperationId>> all_pairs(const sim::History& history) {
  std::optional<std::tuple<Duration, sim::OperationId, sim::OperationId>> earliest;
  const auto intervals = ownership_intervals(history);
  for (const auto& i : intervals) {
    for (const auto& j : intervals) {
      if (i.object != j.object || i.process == j.process || i.is_empty() || j.is_empty()) continue;
      if (std::tuple(i.from.offset(), i.acquire) > std::tuple(j.from.offset(), j.acquire)) continue;
      if (i.to && i.to->offset() <= j.from.offset()) continue;
      const std::tuple candidate(j.from.offset(), i.acquire, j.acquire);
      if (!earliest || candidate < *earliest) earliest = candidate;
    }
  }
  return earliest;
}

TEST_CASE("mutual exclusion: the sweep agrees with the comparison of all pairs on 20,000 random histories") {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    sim::Random random(seed);
    ForgedHistory h;
    const auto holds = 1 + random.below(8);
    const std::int64_t spread = random.between(4, 60);
    for (std::uint64_t n = 0; n < holds; ++n) {
      const sim::ProcessId who{static_cast<std::uint16_t>(random.below(4))};
      const Duration from = Duration::nanoseconds(random.between(0, spread));
      const auto id = h.acquire(who, from);
      if (random.one_in(4)) h.of(id).object = "other";
      const Duration length = Duration::nanoseconds(random.between(0, 6));
      if (random.one_in(3))
        h.of(id).valid_until = sim::Instant::at(from + length);
      else if (!random.one_in(8))
        h.release(who, id, from + length);
      if (random.one_in(6)) h.pause(who, from, from + Duration::nanoseconds(random.between(0, 9)));
    }
    const Finding finding = judge(h);
    const auto expected = all_pairs(h.history());
    INFO("seed " << seed << ": " << finding.why);
    REQUIRE((finding.verdict == Verdict::violated) == expected.has_value());
    if (!expected) continue;
    ++violated;
    const auto& [at, first, second] = *expected;
    REQUIRE(finding.at->offset() == at);
    REQUIRE(finding.by == std::vector{h.of(first).process, h.of(second).process});
  }
  CHECK(violated > 5'000);
  CHECK(violated < 18'000);
}

}  // namespace
}  // namespace lockstep::checker::mutual_exclusion_test
