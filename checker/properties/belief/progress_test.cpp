// Each violation beside its nearest innocent neighbour; then random histories against a sweep that counts nanoseconds.

#include "checker/properties/belief/progress.hpp"

#include <catch2/catch.hpp>

#include "checker/testing/forged_history.hpp"
#include "checker/testing/progress_sweep.hpp"
#include "checker/testing/symbolic_history.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::progress_test {
namespace {

using namespace sim::literals;

Finding judged(const ForgedHistory& h, Duration within = 50_ms, std::span<const std::int64_t> attempts = {},
               std::optional<sim::Instant> end = {}) {
  return progress(h.history(), forged_names(), {.within = within, .attempts = attempts, .end = end});
}

bool breaks(const ForgedHistory& h, Duration within = 50_ms, std::span<const std::int64_t> attempts = {}) {
  return judged(h, within, attempts).verdict == Verdict::violated;
}

/// Attempts of a round, each of 1 ms, every 10 ms; the last one ends so.
void tries(ForgedHistory& h, sim::ProcessId who, Duration from, Duration to, Phase last) {
  for (Duration at = from; at < to; at += 10_ms) {
    h.operation(who, "acquire", at, at + 1_ms, at + 10_ms < to ? Phase::fail : last);
  }
}

TEST_CASE("progress: nobody may try for longer than the bound while nobody holds") {
  ForgedHistory h;
  tries(h, A, 0_ms, 60_ms, Phase::ok);
  CHECK_FALSE(breaks(h, 51_ms));
  const Finding finding = judged(h, 51_ms - 1_ns);
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{A});
  CHECK(finding.at->offset() == 51_ms - 1_ns);
  CHECK(finding.why == "A has tried since 0ms, and from 0ms on nobody held it for longer than 50.999999ms");
  CHECK(judged(h, 51_ms).why == "nobody tried for longer than 51ms while nobody held it (51ms allowed)");
}

TEST_CASE("progress: two that take it from each other get nowhere, and one that gets it is progress") {
  for (const Phase middle : {Phase::fail, Phase::ok}) {
    ForgedHistory h;
    tries(h, A, 0_ms, 100_ms, Phase::fail);
    tries(h, B, 2_ms, 40_ms, Phase::fail);
    const auto got = h.operation(B, "acquire", 42_ms, 45_ms, middle);
    if (middle == Phase::ok) h.release(B, got, 50_ms);
    CHECK(breaks(h) == (middle == Phase::fail));
  }
}

TEST_CASE("progress: a dead holder's time counts from its death") {
  ForgedHistory h;
  h.acquire(A, 0_ms);
  tries(h, B, 10_ms, 100_ms, Phase::ok);
  h.crash(A, 41_ms);
  CHECK_FALSE(breaks(h));
  ForgedHistory earlier;
  earlier.acquire(A, 0_ms);
  tries(earlier, B, 10_ms, 100_ms, Phase::ok);
  earlier.crash(A, 41_ms - 1_ns);
  CHECK(breaks(earlier));
}

TEST_CASE("progress: a deadline frees the lock when it is noticed") {
  for (const bool paused : {false, true}) {
    ForgedHistory h;
    h.acquire(A, 0_ms, 20_ms);
    tries(h, B, 10_ms, 80_ms, Phase::ok);
    if (paused) h.pause(A, 15_ms, 30_ms);
    CHECK(breaks(h) == !paused);
  }
}

TEST_CASE("progress: a holder that does not give back for longer than the bound") {
  ForgedHistory h;
  const auto held = h.acquire(A, 0_ms);
  tries(h, B, 10_ms, 70_ms, Phase::ok);
  h.release(A, held, 60_ms);
  CHECK_FALSE(breaks(h));
  ForgedHistory later;
  const auto kept = later.acquire(A, 0_ms);
  tries(later, B, 10_ms, 70_ms, Phase::ok);
  later.release(A, kept, 60_ms + 1_ns);
  const Finding finding = judged(later);
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{A, B});
  CHECK(finding.at->offset() == 60_ms);
}

TEST_CASE("progress: whoever is stopped neither tries nor blocks wrongly meanwhile") {
  ForgedHistory waiter;
  tries(waiter, A, 0_ms, 80_ms, Phase::ok);
  CHECK(breaks(waiter));
  waiter.pause(A, 30_ms, 31_ms);
  CHECK_FALSE(breaks(waiter));

  ForgedHistory holder;
  const auto held = holder.acquire(A, 0_ms);
  tries(holder, B, 0_ms, 80_ms, Phase::ok);
  holder.release(A, held, 75_ms);
  CHECK(breaks(holder));
  holder.pause(A, 20_ms, 60_ms);
  CHECK_FALSE(breaks(holder));
}

TEST_CASE("progress: readers that come and go are progress, each of them that stays is not") {
  ForgedHistory h;
  tries(h, C, 0_ms, 200_ms, Phase::fail);
  const auto a = h.acquire(A, 5_ms);
  const auto b = h.acquire(B, 50_ms);
  h.release(A, a, 95_ms);
  const auto again = h.acquire(A, 95_ms);
  h.release(B, b, 140_ms);
  h.release(A, again, 145_ms);
  h.acquire(B, 150_ms);
  CHECK_FALSE(breaks(h, 51_ms));
  CHECK(breaks(h, 40_ms));
}

TEST_CASE("progress: what never ends lasts for ever, unless whoever tries dies") {
  ForgedHistory h;
  h.operation(A, "acquire", 10_ms, 0_ms, Phase::invoke);
  CHECK(breaks(h, 24_ms * 60 * 60 * 1000));
  h.crash(A, 60_ms);
  CHECK_FALSE(breaks(h));
  CHECK(breaks(h, 50_ms - 1_ns));
}

TEST_CASE("progress: what the probe ended would not have ended") {
  ForgedHistory h;
  h.operation(A, "acquire", 10_ms, 40_ms);
  CHECK(judged(h, 1_s, {}, sim::Instant::at(40_ms)).verdict == Verdict::holds);
  CHECK(judged(h, 1_s, {}, sim::Instant::at(40_ms - 1_ns)).verdict == Verdict::violated);
}

TEST_CASE("progress: whoever comes back later has not tried in between") {
  ForgedHistory h;
  h.operation(A, "acquire", 0_ms, 1_ms, Phase::fail);
  h.operation(A, "acquire", 10_ms, 11_ms, Phase::fail);
  h.operation(A, "acquire", 90_ms, 91_ms, Phase::fail);
  h.operation(A, "acquire", 100_ms, 101_ms);
  const std::int64_t two[] = {2};
  const std::int64_t three[] = {3};
  CHECK(breaks(h));
  CHECK_FALSE(breaks(h, 11_ms, two));
  CHECK(breaks(h, 11_ms - 1_ns, two));
  CHECK(breaks(h, 90_ms, three));
}

TEST_CASE("progress: another lock is another matter") {
  ForgedHistory h;
  tries(h, A, 0_ms, 100_ms, Phase::fail);
  for (Duration at = 0_ms; at < 100_ms; at += 20_ms) {
    const auto other = h.operation(B, "acquire", at, at, Phase::ok, 0, "other");
    h.operation(B, "release", at + 5_ms, at + 6_ms, Phase::ok, other, "other");
  }
  CHECK(breaks(h));
}

TEST_CASE("progress: nobody who waits, nobody who tries") {
  ForgedHistory h;
  CHECK(judged(h).why == "nobody tried");
  h.release(A, h.acquire(A, 0_ms), 10_ms);
  CHECK(judged(h).verdict == Verdict::holds);
  CHECK(judged(h).why == "nobody waited");
}

TEST_CASE("progress: as a sweep over all nanoseconds has it") {
  const std::uint64_t histories = sim::cases<std::uint64_t>(20'000, 4'000);
  std::size_t violated = 0, held = 0;
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    const std::uint64_t locks = 1 + seed % 2;
    SymbolicHistory symbolic(7'000'000 + seed, {.has_unknown_acquires = false, .locks = locks});
    const auto times = symbolic.constraints().solution_ns();
    REQUIRE(times.has_value());
    const sim::History history = at_times(symbolic.history(), symbolic.faults(), *times);
    const Duration within = Duration::nanoseconds(static_cast<std::int64_t>(1 + seed % 13));
    const bool is_broken = sweep_progress(history, within);
    INFO("history " << seed << ", within " << sim::to_string(within));
    REQUIRE((progress(history, {}, {.within = within}).verdict == Verdict::violated) == is_broken);
    ++(is_broken ? violated : held);
  }
  CHECK(violated > histories / 10);
  CHECK(held > histories / 10);
}

}  // namespace
}  // namespace lockstep::checker::progress_test
