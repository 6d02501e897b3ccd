// Renewals: by hand, none too many and none too few.

#include "checker/properties/server/faithful_renewal.hpp"

#include <catch2/catch.hpp>

#include "checker/testing/forged_history.hpp"

namespace lockstep::checker::faithful_renewal_test {
namespace {

using namespace sim::literals;

Verdict faithful(const ForgedHistory& h) { return faithful_renewal(h.history(), forged_names()).verdict; }

}  // namespace

TEST_CASE("faithful-renewal: none after the release, none for a dead thread, none too few") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  h.operation(D, "renew", 12_ms, 14_ms, Phase::ok, a);
  h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  CHECK(faithful(h) == Verdict::holds);
  h.operation(D, "renew", 24_ms, 26_ms, Phase::fail, a);
  CHECK(faithful(h) == Verdict::violated);

  ForgedHistory dead;
  const auto b = grant(dead, A, 10_ms);
  dead.crash(A, 15_ms);
  dead.operation(D, "renew", 24_ms, 26_ms, Phase::ok, b);
  CHECK(faithful(dead) == Verdict::violated);

  for (const bool is_renewed : {false, true}) {
    ForgedHistory few;
    const auto c = grant(few, A, 10_ms);
    few.of(c).is_renewed = is_renewed;
    few.effect(Did::expire, server, {}, 0, 15_ms);
    few.operation(A, "release", 20_ms, 22_ms, Phase::fail, c);
    CHECK(faithful(few) == (is_renewed ? Verdict::violated : Verdict::holds));
  }
}

TEST_CASE("faithful-renewal: a lease has run out at its end, whether or not somebody looks") {
  enum class Then { nothing, noticed_late, renewed_in_time, lost, renewed_late };
  for (const Then then : {Then::nothing, Then::noticed_late, Then::renewed_in_time, Then::lost, Then::renewed_late}) {
    for (const Duration believes_until : {60_ms, 50_ms}) {
      ForgedHistory h;
      const auto a = h.operation(A, "acquire", 8_ms, 10_ms);
      h.of(a).is_renewed = true;
      h.effect(Did::write, server, A, a, 9_ms, "app:lock").lives_until = sim::Instant::at(50_ms);
      if (then == Then::renewed_in_time)
        h.effect(Did::touch, server, D, 0, 40_ms, "app:lock").lives_until = sim::Instant::at(90_ms);
      if (then == Then::renewed_late)
        h.effect(Did::touch, server, D, 0, 51_ms, "app:lock").lives_until = sim::Instant::at(90_ms);
      if (then == Then::lost) h.effect(Did::lose, server, {}, 0, 40_ms, "app:lock");
      h.operation(A, "release", believes_until, believes_until + 2_ms, Phase::fail, a);
      if (then == Then::noticed_late) h.effect(Did::expire, server, {}, 0, 61_ms, "app:lock");
      INFO(static_cast<int>(then) << ", " << believes_until.count_ns());
      const Finding finding = faithful_renewal(h.history(), forged_names());
      const bool runs_out = then != Then::renewed_in_time && then != Then::lost;
      CHECK((finding.verdict == Verdict::violated) == (runs_out && believes_until == 60_ms));
      if (finding.verdict == Verdict::violated) CHECK(finding.at->offset() == 50_ms);
    }
  }
}

TEST_CASE("faithful-renewal: an expiry that is noticed after the release harms nobody") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  h.of(a).is_renewed = true;
  h.operation(A, "release", 14_ms, 22_ms, Phase::fail, a);
  h.effect(Did::expire, server, {}, 0, 15_ms);
  CHECK(faithful(h) == Verdict::holds);
}

}  // namespace lockstep::checker::faithful_renewal_test
