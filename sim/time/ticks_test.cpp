#include "sim/time/ticks.hpp"

#include <catch2/catch.hpp>
#include <vector>

namespace lockstep::sim::ticks_test {
namespace {

std::vector<std::int64_t> points(std::int64_t lo, std::int64_t hi, std::int64_t tick) {
  const Ticks ticks({Duration::nanoseconds(lo), Duration::nanoseconds(hi)}, Duration::nanoseconds(tick));
  std::vector<std::int64_t> all;
  for (std::uint64_t i = 0; i < ticks.count(); ++i) all.push_back(ticks[i].count_ns());
  return all;
}

}  // namespace

TEST_CASE("ticks: the multiples within a range, and its ends, each once") {
  for (std::int64_t lo = -9; lo <= 9; ++lo) {
    for (std::int64_t hi = lo; hi <= 12; ++hi) {
      for (std::int64_t tick = 1; tick <= 5; ++tick) {
        std::vector<std::int64_t> expected;
        for (std::int64_t t = lo; t <= hi; ++t) {
          if (t == lo || t == hi || t % tick == 0) expected.push_back(t);
        }
        INFO(lo << ".." << hi << " by " << tick);
        CHECK(points(lo, hi, tick) == expected);
      }
    }
  }
}

}  // namespace lockstep::sim::ticks_test
