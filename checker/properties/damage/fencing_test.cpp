#include "checker/properties/damage/fencing.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "checker/testing/forged_history.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::fencing_test {
namespace {

using namespace sim::literals;

constexpr std::array resources{resource};

Finding judge(const ForgedHistory& h) { return fencing(h.history(), forged_names(), resources); }

void grant(ForgedHistory& h, sim::ProcessId who, Duration at, Duration replied) {
  const auto id = h.operation(who, "acquire", at, replied);
  h.effect(Did::write, server, who, id, at);
}
sim::OperationId write(ForgedHistory& h, sim::ProcessId who, Duration sent, Duration applied,
                       std::optional<std::int64_t> token = {}, Did did = Did::write) {
  const auto id = h.operation(who, "write", sent, applied);
  h.effect(did, resource, who, id, applied, "register").token = token;
  return id;
}

TEST_CASE("fencing: a write with an older token after one with a newer is caught; the same token again is innocent") {
  for (const std::int64_t late : {33, 34}) {
    ForgedHistory h;
    write(h, B, 10_ms, 11_ms, 34);
    write(h, A, 5_ms, 20_ms, late);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::violated) == (late == 33));
    if (late == 33) {
      CHECK(finding.by == std::vector{A, B});
      CHECK(finding.at->offset() == 20_ms);
      CHECK(finding.why == "A's write with token 33 was applied at 20ms, after B's with token 34 at 11ms");
    }
  }
}

TEST_CASE("fencing: a refused write is fencing at work, and is counted") {
  ForgedHistory h;
  write(h, B, 10_ms, 11_ms, 34);
  write(h, A, 5_ms, 20_ms, 33, Did::reject);
  write(h, B, 21_ms, 22_ms, 34);
  const Finding finding = judge(h);
  CHECK(finding.verdict == Verdict::holds);
  CHECK(finding.why == "2 writes applied, never back to an older grant; 1 refused");
}

TEST_CASE("fencing: a step back to the newest of several is caught, not only to the one just before") {
  ForgedHistory h;
  write(h, C, 1_ms, 2_ms, 3);
  write(h, B, 3_ms, 4_ms, 3);
  write(h, A, 5_ms, 6_ms, 2);
  CHECK(judge(h).verdict == Verdict::violated);
}

TEST_CASE("fencing: without tokens the order of the grants decides, not that of their replies") {
  for (const bool in_order : {true, false}) {
    ForgedHistory h;
    grant(h, A, 10_ms, 30_ms);  // the reply is slow
    grant(h, B, 20_ms, 21_ms);
    if (in_order) write(h, A, 31_ms, 32_ms);
    write(h, B, 33_ms, 34_ms);
    if (!in_order) write(h, A, 31_ms, 40_ms);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::holds) == in_order);
    if (!in_order) {
      CHECK(finding.by == std::vector{A, B});
      CHECK(finding.why == "A's write was applied at 40ms, after that at 34ms of B, who was granted the lock later");
    }
  }
}

TEST_CASE("fencing: who asked first and was granted later is the newer one") {
  ForgedHistory h;
  const auto b = h.operation(B, "acquire", 1_ms, 25_ms);
  grant(h, A, 10_ms, 11_ms);
  h.effect(Did::write, server, B, b, 20_ms);
  write(h, B, 26_ms, 27_ms);
  write(h, A, 12_ms, 30_ms);
  CHECK(judge(h).by == std::vector{A, B});
}

TEST_CASE("fencing: a late write counts for the hold in which it was sent, not for the next of the same process") {
  for (const bool sent_late : {false, true}) {
    ForgedHistory h;
    grant(h, A, 10_ms, 11_ms);
    grant(h, B, 20_ms, 21_ms);
    write(h, B, 22_ms, 23_ms);
    grant(h, A, 30_ms, 31_ms);
    write(h, A, sent_late ? 31_ms : 29_ms, 40_ms);
    CHECK((judge(h).verdict == Verdict::holds) == sent_late);
  }
}

TEST_CASE("fencing: objects are separate, a write without token or grant is left out") {
  ForgedHistory h;
  write(h, B, 10_ms, 11_ms, 34);
  h.effect(Did::write, resource, A, h.operation(A, "write", 12_ms, 13_ms), 13_ms, "register");
  h.effect(Did::write, resource, A, h.operation(A, "write", 12_ms, 13_ms), 13_ms, "other").token = 33;
  const Finding finding = judge(h);
  CHECK(finding.verdict == Verdict::holds);
  CHECK(finding.why == "2 writes applied, never back to an older grant; 1 outside any hold");
}

TEST_CASE("fencing: without a resource nothing is known") {
  CHECK(fencing(ForgedHistory{}.history(), forged_names(), {}).why == "no resource in this story");
}

TEST_CASE("fencing: the running maxima agree with the comparison of all pairs on 20,000 random histories") {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    sim::Random random(seed);
    ForgedHistory h;
    struct Write {
      std::optional<std::int64_t> token;
      int grant;  // -1: none
      Duration at;
    };
    std::vector<Write> writes;
    std::array<int, 3> last_grant{-1, -1, -1};
    for (int n = 0; n < 8; ++n) {
      const auto who = random.below(3);
      const sim::ProcessId process{static_cast<std::uint16_t>(who)};
      const Duration at = Duration::milliseconds(n);
      if (random.one_in(2)) {
        grant(h, process, at, at);
        last_grant[who] = n;
      } else {
        std::optional<std::int64_t> token;
        if (random.one_in(2)) token = random.between(1, 4) + n / 2;
        write(h, process, at, at, token);
        writes.push_back({token, last_grant[who], at});
      }
    }
    std::optional<Duration> expected;
    for (std::size_t j = 0; j < writes.size() && !expected; ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const bool both = writes[i].token && writes[j].token;
        const bool back =
            both ? *writes[i].token > *writes[j].token : writes[j].grant >= 0 && writes[i].grant > writes[j].grant;
        if (back) expected = writes[j].at;
      }
    }
    const Finding finding = judge(h);
    INFO("seed " << seed << ": " << finding.why);
    REQUIRE((finding.verdict == Verdict::violated) == expected.has_value());
    if (expected) REQUIRE(finding.at->offset() == *expected);
    violated += expected ? 1 : 0;
  }
  CHECK(violated > 3'000);
  CHECK(violated < 17'000);
}

}  // namespace
}  // namespace lockstep::checker::fencing_test
