#include "checker/properties/belief/linearizable.hpp"

#include <catch2/catch.hpp>

#include "checker/testing/forged_history.hpp"

namespace lockstep::checker::linearizable_test {
namespace {

using namespace sim::literals;

Finding judge(const ForgedHistory& h, MutexSpecification specification = MutexSpecification::owner_mutex) {
  return linearizable(h.history(), forged_names(), specification);
}

TEST_CASE("linearizable: two holds without a release between them are named, with the step that made it impossible") {
  ForgedHistory h;
  const auto a = h.operation(A, "acquire", 10_ms, 20_ms);
  const auto b = h.operation(B, "acquire", 150_ms, 163_ms);
  h.release(A, a, 430_ms);
  const Finding finding = judge(h);
  REQUIRE(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{A, B});
  CHECK(finding.at->offset() == 163_ms);
  CHECK(finding.evidence == std::vector{h.of(a).completed_in, h.of(b).completed_in});
  CHECK(finding.why ==
        "A's acquire (10ms to 20ms) and B's acquire (150ms to 163ms) cannot all be what a mutex that only its owner "
        "releases did");
}

TEST_CASE(
    "linearizable: a hold that its client knows to be over is given back at the latest then, and not a moment before") {
  for (const Duration taken : {99_ms, 100_ms - 1_ns, 100_ms, 163_ms}) {
    for (const auto phase : {Phase::ok, Phase::fail, Phase::info}) {
      ForgedHistory h;
      const auto a = h.acquire(A, 20_ms, 100_ms);
      h.operation(B, "acquire", 90_ms, taken);
      // What it says of its unlocking long after changes nothing.
      h.operation(A, "release", 200_ms, 210_ms, phase, a);
      CHECK(judge(h).verdict == (taken < 100_ms ? Verdict::violated : Verdict::holds));
    }
  }
  ForgedHistory never_looks;
  never_looks.acquire(A, 20_ms);
  never_looks.of(1).lease_until = sim::Instant::at(100_ms);
  never_looks.acquire(B, 163_ms);
  CHECK(judge(never_looks).verdict == Verdict::violated);
}

TEST_CASE("linearizable: a deadline in a pause is noticed when the pause ends") {
  for (const Duration taken : {119_ms, 120_ms}) {
    ForgedHistory h;
    h.acquire(A, 20_ms, 100_ms);
    h.pause(A, 100_ms, 120_ms);
    h.acquire(B, taken);
    CHECK(judge(h).verdict == (taken < 120_ms ? Verdict::violated : Verdict::holds));
  }
  ForgedHistory for_ever;
  for_ever.acquire(A, 20_ms, 100_ms);
  for_ever.pause(A, 100_ms, {});
  for_ever.acquire(B, 163_ms);
  CHECK(judge(for_ever).verdict == Verdict::violated);
}

TEST_CASE("linearizable: deadlines of two holds of one client are two releases, one for each") {
  for (const Duration again : {99_ms, 100_ms}) {
    ForgedHistory h;
    const auto first = h.acquire(A, 20_ms, 100_ms);
    h.operation(A, "release", 30_ms, 40_ms, Phase::fail, first);
    h.acquire(A, again, 200_ms);
    CHECK(judge(h).verdict == (again < 100_ms ? Verdict::violated : Verdict::holds));
    h.acquire(B, 200_ms);
    CHECK(judge(h).verdict == (again < 100_ms ? Verdict::violated : Verdict::holds));
    h.acquire(A, 201_ms);
    CHECK(judge(h).verdict == Verdict::violated);
  }
}

TEST_CASE("linearizable: a hold that was over before its client knew of it is none") {
  for (const Duration over : {59_ms, 60_ms, 61_ms}) {
    ForgedHistory h;
    h.acquire(B, 10_ms);
    const auto a = h.operation(A, "acquire", 20_ms, 60_ms);
    h.of(a).valid_until = sim::Instant::at(over);
    h.release(A, a, 70_ms);
    CHECK(judge(h).verdict == (over > 60_ms ? Verdict::violated : Verdict::holds));
  }
}

TEST_CASE("linearizable: each object is judged by itself, and other functions are not looked at") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  h.operation(B, "acquire", 30_ms, 40_ms, Phase::ok, 0, "other");
  h.operation(B, "read", 41_ms, 42_ms);
  const Finding finding = judge(h);
  CHECK(finding.verdict == Verdict::holds);
  CHECK(finding.why == "2 operations in an order that a mutex that only its owner releases allows");
}

TEST_CASE("linearizable: the object that fails first is reported") {
  ForgedHistory h;
  for (const auto& [object, at] : {std::pair{"a", 50_ms}, std::pair{"b", 40_ms}}) {
    h.operation(A, "acquire", 0_ms, 10_ms, Phase::ok, 0, object);
    h.operation(B, "acquire", 20_ms, at, Phase::ok, 0, object);
  }
  CHECK(judge(h).at->offset() == 40_ms);
}

TEST_CASE(
    "linearizable: a lock that comes back after its holder crashed is a mutex still, one that came back before is "
    "not") {
  for (const Duration taken : {30_ms, 40_ms}) {
    ForgedHistory h;
    h.acquire(A, 10_ms);
    h.operation(B, "acquire", 20_ms, taken);
    h.crash(A, 35_ms);
    const Finding finding = linearizable(h.history(), forged_names());
    INFO(finding.why);
    CHECK(finding.verdict == (taken < 35_ms ? Verdict::violated : Verdict::holds));
  }
}

TEST_CASE("linearizable: an operation that a crash left open may have happened or not") {
  for (const auto phase : {Phase::invoke, Phase::fail}) {
    ForgedHistory h;
    const auto a = h.acquire(A, 20_ms);
    h.operation(A, "release", 30_ms, 31_ms, phase, a);
    h.crash(A, 35_ms);
    h.acquire(B, 50_ms);
    CHECK((judge(h).verdict == Verdict::holds) == (phase == Phase::invoke));
  }
}

TEST_CASE("linearizable: somebody else's release is caught for an owner mutex and innocent for a plain one") {
  ForgedHistory h;
  h.acquire(A, 20_ms);
  h.release(B, 0, 30_ms);
  h.acquire(C, 40_ms);
  CHECK(judge(h, MutexSpecification::owner_mutex).verdict == Verdict::violated);
  CHECK(judge(h, MutexSpecification::mutex).verdict == Verdict::holds);
}

TEST_CASE("linearizable: an empty history says that nothing took effect") {
  CHECK(judge(ForgedHistory{}).why == "no acquire or release took effect");
}

}  // namespace
}  // namespace lockstep::checker::linearizable_test
