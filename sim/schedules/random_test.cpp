// The portable generator. The numbers pinned here are the same on every compiler and machine for ever: whoever has to
// change them invalidates every seed and every digest that anybody wrote down.

#include "sim/schedules/random.hpp"

#include <array>
#include <limits>

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

namespace lockstep::sim::random_test {
namespace {

TEST_CASE("random: the first numbers of a seed are those of SplitMix64") {
  Random zero(0);
  CHECK(zero.next() == 0xe220a8397b1dcdafULL);
  CHECK(zero.next() == 0x6e789e6aa1b965f4ULL);
  CHECK(zero.next() == 0x06c45d188009454fULL);
  // Vigna's reference output for seed 1234567.
  Random reference(1234567);
  CHECK(reference.next() == 6457827717110365317ULL);
  CHECK(reference.next() == 3203168211198807973ULL);
  CHECK(reference.next() == 9817491932198370423ULL);
  CHECK(reference.next() == 4593380528125082431ULL);
  CHECK(reference.next() == 16408922859458223821ULL);
}

TEST_CASE("random: numbers in a range are pinned too") {
  Random random(42);
  std::array<std::uint64_t, 8> below_ten{};
  for (auto& n : below_ten) n = random.below(10);
  CHECK(below_ten == std::array<std::uint64_t, 8>{7, 1, 2, 3, 0, 8, 2, 8});
  CHECK(random.between(-1'000'000, 1'000'000) == -320138);
}

TEST_CASE("random: hashes are pinned") {
  CHECK(mix64(0) == 0);
  CHECK(mix64(1) == 0x5692161d100b05e5ULL);
  CHECK(combine64(0, 0) == 0xe220a8397b1dcdafULL);
  CHECK(combine64(1, 2) == 0x885d9e34f64ff357ULL);
  CHECK(combine64(combine64(0, 1), 2) != combine64(combine64(0, 2), 1));
}

TEST_CASE("random: everything can be computed at compile time") {
  static_assert(Random(0).next() == 0xe220a8397b1dcdafULL);
  static_assert(Random(7).below(1) == 0);
}

TEST_CASE("random: a number below n is below n, and one in a range is in it") {
  rc::prop("any n, any seed", [](std::uint64_t seed) {
    Random random(seed);
    const auto n = (*rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64)) | 1;
    for (int i = 0; i < 20; ++i) RC_ASSERT(random.below(n) < n);
    const auto a = *rc::gen::arbitrary<std::int64_t>();
    const auto b = *rc::gen::arbitrary<std::int64_t>();
    const std::int64_t x = random.between(std::min(a, b), std::max(a, b));
    RC_ASSERT(std::min(a, b) <= x);
    RC_ASSERT(x <= std::max(a, b));
  });
  Random random(1);
  CHECK(random.between(5, 5) == 5);
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  bool is_negative_seen = false;
  for (int i = 0; i < 100; ++i) is_negative_seen = is_negative_seen || random.between(lowest, highest) < 0;
  CHECK(is_negative_seen);
  CHECK(random.below(std::numeric_limits<std::uint64_t>::max()) < std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("random: small ranges come out evenly") {
  for (const std::uint64_t n : {2ULL, 3ULL, 6ULL, 10ULL}) {
    Random random(n);
    std::array<int, 10> counts{};
    constexpr int kDraws = 60'000;
    for (int i = 0; i < kDraws; ++i) ++counts[random.below(n)];
    const int mean = kDraws / static_cast<int>(n);
    for (std::uint64_t i = 0; i < n; ++i) CHECK(std::abs(counts[i] - mean) < mean / 20);
  }
}

TEST_CASE("random: a huge range is not biased towards its lower part") {
  // With 3/4 of 2^64 numbers, scaling without rejection would give each third number twice as often.
  constexpr std::uint64_t kRange = 3ULL << 62;
  Random random(99);
  std::array<int, 3> residues{};
  for (int i = 0; i < 60'000; ++i) ++residues[random.below(kRange) % 3];
  for (const int count : residues) CHECK(std::abs(count - 20'000) < 1'000);
}

TEST_CASE("random: one in n strikes about that often, and one in one always") {
  Random random(5);
  int strikes = 0;
  for (int i = 0; i < 50'000; ++i) strikes += random.one_in(50) ? 1 : 0;
  CHECK(std::abs(strikes - 1'000) < 150);
  for (int i = 0; i < 10; ++i) CHECK(random.one_in(1));
}

}  // namespace
}  // namespace lockstep::sim::random_test
