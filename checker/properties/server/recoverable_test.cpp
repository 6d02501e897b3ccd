#include "checker/properties/server/recoverable.hpp"

#include <catch2/catch.hpp>

#include "checker/testing/forged_history.hpp"

namespace lockstep::checker::recoverable_test {
namespace {

using namespace sim::literals;

Finding judge(const ForgedHistory& h, Duration probed_until, sim::ProcessId probe = D) {
  return recoverable(h.history(), forged_names(),
                     {probe, sim::Instant::at(500_ms), 10_s, sim::Instant::at(probed_until)});
}

TEST_CASE("recoverable: getting the lock exactly at the bound is innocent, a nanosecond later is caught") {
  for (const Duration late : {0_ns, 1_ns}) {
    ForgedHistory h;
    const auto a = h.acquire(A, 20_ms);
    h.crash(A, 30_ms);
    h.operation(D, "acquire", 600_ms, 10'500_ms + late);
    const Finding finding = judge(h, 20_s);
    CHECK((finding.verdict == Verdict::holds) == (late == 0_ns));
    if (late == 0_ns) {
      CHECK(finding.why == "D got the lock 10s after everything had come to rest at 500ms (10s allowed)");
    } else {
      CHECK(finding.at->offset() == 10'500_ms);
      CHECK(finding.by == std::vector{A});
      CHECK(finding.evidence == std::vector{h.of(a).completed_in, h.of(2).completed_in});
    }
  }
}

TEST_CASE("recoverable: never getting it is as good as for ever, and the last holder is named") {
  ForgedHistory h;
  const auto b = h.acquire(B, 10_ms);
  h.release(B, b, 15_ms);
  h.acquire(A, 20_ms);
  h.crash(A, 30_ms);
  h.operation(D, "acquire", 600_ms, 11_s, Phase::fail);
  h.operation(D, "acquire", 11_s, 12_s, Phase::info);
  h.operation(D, "acquire", 12_s, 12_s, Phase::invoke);
  const Finding finding = judge(h, 10'500_ms);
  REQUIRE(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{A});
  CHECK(finding.why ==
        "D still could not get the lock 10s after all others had ended at 500ms (10s allowed); the last to hold it and "
        "not give it back was A, from 20ms on");
}

TEST_CASE("recoverable: who has given the lock back is not blamed; who tried in vain is") {
  for (const Phase phase : {Phase::ok, Phase::fail, Phase::info, Phase::invoke}) {
    ForgedHistory h;
    const auto b = h.acquire(B, 10_ms);
    const auto a = h.acquire(A, 20_ms);
    h.operation(A, "release", 25_ms, 30_ms, phase, a);
    const Finding finding = judge(h, 10'500_ms);
    REQUIRE(finding.verdict == Verdict::violated);
    CHECK(finding.by == std::vector{phase == Phase::ok ? B : A});
    h.release(B, b, 40_ms);
    if (phase == Phase::ok) CHECK(judge(h, 10'500_ms).by.empty());
  }
}

TEST_CASE("recoverable: another client's success does not help the probe") {
  ForgedHistory h;
  h.acquire(C, 600_ms);
  CHECK(judge(h, 20_s).verdict == Verdict::violated);
}

TEST_CASE("recoverable: the first success counts, whatever comes later") {
  ForgedHistory h;
  h.acquire(D, 600_ms);
  h.acquire(D, 19_s);
  CHECK(judge(h, 20_s).verdict == Verdict::holds);
}

TEST_CASE("recoverable: silence before the bound proves nothing, and without a probe nothing is known") {
  CHECK(judge(ForgedHistory{}, 10'499_ms).verdict == Verdict::unknown);
  CHECK(judge(ForgedHistory{}, 10'500_ms).verdict == Verdict::violated);
  CHECK(judge(ForgedHistory{}, 20_s, sim::ProcessId{}).verdict == Verdict::unknown);
  CHECK(judge(ForgedHistory{}, 20_s, sim::ProcessId{99}).verdict == Verdict::unknown);
}

}  // namespace
}  // namespace lockstep::checker::recoverable_test
