// Reports, re-entries and renewals: by hand, a violation beside the nearest innocent history; and at random against a definition that
// looks back from each operation instead of following the servers.

#include "checker/order_properties.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include "checker/faithful_renewal.hpp"
#include "checker/forged_history.hpp"
#include "checker/no_lost_wakeup.hpp"
#include "checker/symbolic_history.hpp"

namespace lockstep::checker {
namespace {

using namespace sim::literals;
using sim::Effect;
using sim::Operation;

/// A takes the lock at 10ms, and the server knows it since 9ms.
sim::OperationId grant(ForgedHistory& h, sim::ProcessId who, Duration at, Did did = Did::write) {
  const sim::OperationId id = h.operation(who, "acquire", at - 2_ms, at);
  h.effect(did, server, who, id, at - 1_ms);
  return id;
}

Verdict truthful(const ForgedHistory& h) { return truthful_reports(h.history(), forged_names()).verdict; }
Verdict reentrant(const ForgedHistory& h) { return reentrancy(h.history(), forged_names()).verdict; }
Verdict faithful(const ForgedHistory& h) { return faithful_renewal(h.history(), forged_names()).verdict; }

// --- The definition, backwards.

/// Who has the lock at this place just before the effect at `position`.
std::set<sim::ProcessId> owners_before(const sim::History& h, std::size_t position) {
  const Effect& here = h.effects[position];
  std::set<sim::ProcessId> owners;
  bool exclusive_seen = false;
  for (std::size_t i = position; i-- > 0;) {
    const Effect& e = h.effects[i];
    if (e.server != here.server || e.object != here.object) continue;
    if (e.kind == Did::remove || e.kind == Did::expire) break;
    if (e.kind != Did::write || e.operation == 0) continue;
    const Operation& o = h.operations[e.operation - 1];
    if (o.function != "acquire" && o.function != "reenter") continue;
    if (!exclusive_seen) owners.insert(o.process);
    // Whoever took it alone, and did not have it already, drove out everybody before.
    if (!o.is_shared && !owners_before(h, i).contains(o.process)) exclusive_seen = true;
  }
  return owners;
}

bool is_rightly_reported(const sim::History& h, const Operation& o) {
  const sim::ProcessId thread = o.of == 0 ? o.process : h.operations[o.of - 1].process;
  bool did_something = false;
  for (std::size_t i = 0; i < h.effects.size(); ++i) {
    const Effect& e = h.effects[i];
    if (e.operation != o.id || (e.kind != Did::write && e.kind != Did::touch && e.kind != Did::remove)) continue;
    did_something = true;
    if (owners_before(h, i).contains(thread)) return true;
  }
  return o.function == "leave" && !did_something;
}

bool has_false_report(const sim::History& h) {
  return std::any_of(h.operations.begin(), h.operations.end(), [&](const Operation& o) {
    const bool reports = o.function == "release" || o.function == "leave" || o.function == "renew";
    return reports && o.phase == sim::Phase::ok && !is_rightly_reported(h, o);
  });
}

bool has_inner_removal(const sim::History& h) {
  for (std::size_t i = 0; i < h.effects.size(); ++i) {
    const Effect& e = h.effects[i];
    if (e.kind != Did::remove || e.operation == 0) continue;
    const Operation& o = h.operations[e.operation - 1];
    if (o.function == "leave" && owners_before(h, i).contains(o.process)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("truthful-reports: a release that says ok found its own lock") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, r, 21_ms);
  CHECK(truthful(h) == Verdict::holds);
}

TEST_CASE("truthful-reports: a release that says ok though the lease had run out") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  h.effect(Did::expire, server, {}, 0, 15_ms);
  h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  const Finding finding = truthful_reports(h.history(), forged_names());
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{A});
  CHECK(finding.at->offset() == 22_ms);

  ForgedHistory honest;
  const auto b = grant(honest, A, 10_ms);
  honest.effect(Did::expire, server, {}, 0, 15_ms);
  honest.operation(A, "release", 20_ms, 22_ms, Phase::fail, b);
  CHECK(truthful(honest) == Verdict::holds);
}

TEST_CASE("truthful-reports: a release that removed the successor's lock is no success") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  h.effect(Did::expire, server, {}, 0, 15_ms);
  grant(h, B, 18_ms);
  const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, r, 21_ms);
  CHECK(truthful(h) == Verdict::violated);
}

TEST_CASE("truthful-reports: what was never got cannot be given back; a renewal is a report, too") {
  ForgedHistory h;
  h.operation(A, "release", 20_ms, 22_ms, Phase::ok);
  CHECK(truthful(h) == Verdict::violated);

  ForgedHistory renewed;
  const auto a = grant(renewed, A, 10_ms);
  const auto first = renewed.operation(D, "renew", 12_ms, 14_ms, Phase::ok, a);
  renewed.effect(Did::touch, server, D, first, 13_ms);
  CHECK(truthful(renewed) == Verdict::holds);
  renewed.operation(D, "renew", 16_ms, 18_ms, Phase::ok, a);
  CHECK(truthful(renewed) == Verdict::violated);
}

TEST_CASE("truthful-reports: readers have the lock together") {
  ForgedHistory again;
  for (const sim::ProcessId who : {A, B}) {
    const auto id = again.operation(who, "acquire", 8_ms, 10_ms);
    again.of(id).is_shared = true;
    again.effect(Did::write, server, who, id, 9_ms);
  }
  const auto r = again.operation(A, "release", 20_ms, 22_ms, Phase::ok, 1);
  again.effect(Did::write, server, A, r, 21_ms);
  CHECK(truthful(again) == Verdict::holds);
}

TEST_CASE("reentrancy: the last release frees, and only that") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto again = h.operation(A, "reenter", 12_ms, 14_ms, Phase::ok, a);
  h.effect(Did::write, server, A, again, 13_ms);
  const auto inner = h.operation(A, "leave", 16_ms, 18_ms, Phase::ok, a);
  h.effect(Did::write, server, A, inner, 17_ms);
  const auto outer = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, outer, 21_ms);
  CHECK(reentrant(h) == Verdict::holds);
}

TEST_CASE("reentrancy: an inner release that frees") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto inner = h.operation(A, "leave", 16_ms, 18_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, inner, 17_ms);
  const Finding finding = reentrancy(h.history(), forged_names());
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.at->offset() == 17_ms);
}

TEST_CASE("reentrancy: a last release that does not free") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto outer = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::write, server, A, outer, 21_ms);
  CHECK(reentrant(h) == Verdict::violated);

  // One more acquire than releases: then it is right that it is not free.
  ForgedHistory balanced;
  const auto b = grant(balanced, A, 10_ms);
  const auto again = balanced.operation(A, "reenter", 12_ms, 14_ms, Phase::ok, b);
  balanced.effect(Did::write, server, A, again, 13_ms);
  const auto only = balanced.operation(A, "release", 20_ms, 22_ms, Phase::ok, b);
  balanced.effect(Did::write, server, A, only, 21_ms);
  CHECK(reentrant(balanced) == Verdict::holds);
}

TEST_CASE("reentrancy: whoever holds it is not refused, unless the hold is not certain") {
  for (const bool expires : {false, true}) {
    ForgedHistory h;
    const auto a = grant(h, A, 10_ms);
    h.operation(A, "reenter", 12_ms, 14_ms, Phase::fail, a);
    if (expires) h.effect(Did::expire, server, {}, 0, 18_ms);
    const auto outer = h.operation(A, "release", 20_ms, 22_ms, expires ? Phase::fail : Phase::ok, a);
    if (!expires) h.effect(Did::remove, server, A, outer, 21_ms);
    CHECK(reentrant(h) == (expires ? Verdict::holds : Verdict::violated));
  }
}

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

TEST_CASE("faithful-renewal: an expiry that is noticed after the release harms nobody") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  h.of(a).is_renewed = true;
  h.operation(A, "release", 14_ms, 22_ms, Phase::fail, a);
  h.effect(Did::expire, server, {}, 0, 15_ms);
  CHECK(faithful(h) == Verdict::holds);
}

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

TEST_CASE("no-lost-wakeup: a wait that never ended counts until its process crashed, or to the end") {
  for (const bool crashes : {false, true}) {
    ForgedHistory h;
    const auto a = grant(h, A, 10_ms);
    const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
    h.operation(B, "acquire", 5_ms, 0_ms, Phase::invoke);
    h.effect(Did::remove, server, A, r, 21_ms);
    if (crashes) h.crash(B, 30_ms);
    const WakeupQuestion question{.server = server, .object = "lock", .within = 20_ms, .end = sim::Instant::at(100_ms)};
    CHECK(no_lost_wakeup(h.history(), forged_names(), question).verdict ==
          (crashes ? Verdict::holds : Verdict::violated));
  }
  CHECK(no_lost_wakeup({}, forged_names(), {}).verdict == Verdict::unknown);
}

TEST_CASE("reports and inner releases: following the servers gives what looking back from each effect gives") {
  std::size_t false_reports = 0;
  std::size_t removals = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    SymbolicHistory symbolic(seed, {.has_nested = true});
    const auto times = symbolic.constraints().solution_ns();
    REQUIRE(times);
    const sim::History h = at_times(symbolic.history(), symbolic.faults(), *times);
    const std::vector<Breach> breaches = order_breaches(h.operations, h.effects, h);
    const auto has = [&](std::string_view property, std::string_view function) {
      return std::any_of(breaches.begin(), breaches.end(), [&](const Breach& breach) {
        return breach.property == property &&
               (function.empty() || h.operations[breach.operation - 1].function == function);
      });
    };
    INFO("history " << seed);
    REQUIRE(has("truthful-reports", "") == has_false_report(h));
    REQUIRE(has("reentrancy", "leave") == has_inner_removal(h));
    false_reports += has("truthful-reports", "") ? 1 : 0;
    removals += has_inner_removal(h) ? 1 : 0;
  }
  CHECK(false_reports > 300);
  CHECK(removals > 30);
}

}  // namespace lockstep::checker
