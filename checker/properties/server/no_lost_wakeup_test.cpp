// Waits for a free lock: by hand, one that is too long beside one that is not.

#include "checker/properties/server/no_lost_wakeup.hpp"

#include <catch2/catch.hpp>

#include <optional>

#include "checker/testing/forged_history.hpp"

namespace lockstep::checker::no_lost_wakeup_test {

using namespace sim::literals;

TEST_CASE("no-lost-wakeup: who waits for a free lock longer than the bound") {
  const auto verdict = [](Duration within, std::optional<Duration> taken, bool pause) {
    ForgedHistory h;
    const auto a = grant(h, A, 10_ms);
    const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
    h.operation(B, "acquire", 5_ms, 60_ms, Phase::fail);
    if (pause) h.pause(B, 25_ms, 55_ms);
    h.effect(Did::remove, server, A, r, 21_ms);
    if (taken) {
      const auto c = h.operation(C, "acquire", 15_ms, *taken + 1_ms);
      h.effect(Did::write, server, C, c, *taken);
    }
    return no_lost_wakeup(h.history(), forged_names(),
                          {.server = server, .object = "lock", .within = within, .end = sim::Instant::at(100_ms)})
        .verdict;
  };
  CHECK(verdict(38_ms, std::nullopt, false) == Verdict::violated);
  CHECK(verdict(39_ms, std::nullopt, false) == Verdict::holds);
  CHECK(verdict(8_ms, 30_ms, false) == Verdict::violated);
  CHECK(verdict(9_ms, 30_ms, false) == Verdict::holds);
  // Nobody can wake who is stopped: 30ms of the 39 do not count.
  CHECK(verdict(8_ms, std::nullopt, true) == Verdict::violated);
  CHECK(verdict(9_ms, std::nullopt, true) == Verdict::holds);
}

TEST_CASE("no-lost-wakeup: who sleeps between two looks waits for nobody") {
  for (const bool sleeps : {false, true}) {
    ForgedHistory h;
    const auto a = grant(h, A, 10_ms);
    const auto b = h.operation(B, "acquire", 12_ms, 72_ms);
    const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
    h.effect(Did::remove, server, A, r, 21_ms);
    h.effect(Did::write, server, B, b, 71_ms);
    if (sleeps) h.doze(b, 14_ms, 70_ms);
    const WakeupQuestion question{.server = server, .object = "lock", .within = 10_ms};
    CHECK((no_lost_wakeup(h.history(), forged_names(), question).verdict == Verdict::violated) == !sleeps);
  }
}

TEST_CASE("no-lost-wakeup: pauses that overlap stop the one who waits once") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.operation(B, "acquire", 5_ms, 60_ms, Phase::fail);
  h.effect(Did::remove, server, A, r, 21_ms);
  h.pause(B, 25_ms, 40_ms);
  h.pause(B, 30_ms, 45_ms);
  const auto verdict = [&](Duration within) {
    return no_lost_wakeup(h.history(), forged_names(), {.server = server, .object = "lock", .within = within}).verdict;
  };
  CHECK(verdict(18_ms) == Verdict::violated);  // 21 to 25, and 45 to 60
  CHECK(verdict(19_ms) == Verdict::holds);
}

TEST_CASE("no-lost-wakeup: a wait that never ends lasts until its process crashes, or for ever") {
  for (const bool crashes : {false, true}) {
    for (const bool is_ended_by_probe : {false, true}) {
      ForgedHistory h;
      const auto a = grant(h, A, 10_ms);
      const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
      // After the story, the probe may end it.
      h.operation(B, "acquire", 5_ms, is_ended_by_probe ? 31_ms : 0_ms, is_ended_by_probe ? Phase::ok : Phase::invoke);
      h.effect(Did::remove, server, A, r, 21_ms);
      if (crashes && !is_ended_by_probe) h.crash(B, 30_ms);
      const WakeupQuestion question{
          .server = server, .object = "lock", .within = 20_ms, .end = sim::Instant::at(30_ms)};
      const Finding finding = no_lost_wakeup(h.history(), forged_names(), question);
      CHECK(finding.verdict == (crashes && !is_ended_by_probe ? Verdict::holds : Verdict::violated));
      if (finding.verdict == Verdict::violated) CHECK(finding.why.find("waited for ever") != std::string::npos);
    }
  }
  CHECK(no_lost_wakeup({}, forged_names(), {}).verdict == Verdict::not_judged);
}

}  // namespace lockstep::checker::no_lost_wakeup_test
