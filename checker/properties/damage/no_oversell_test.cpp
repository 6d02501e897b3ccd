#include "checker/properties/damage/no_oversell.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "checker/testing/forged_history.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::no_oversell_test {
namespace {

using namespace sim::literals;

void buy(ForgedHistory& h, sim::ProcessId who, Duration at, std::string item, std::optional<std::int64_t> left,
         Phase phase = Phase::ok) {
  sim::Operation& sale = h.of(h.operation(who, "buy", at, at, phase));
  sale.object = std::move(item);
  sale.value = left;
}

TEST_CASE("no oversell: the second sale of an item is caught, another item or a refused purchase is innocent") {
  for (const int other : {0, 1, 2}) {
    ForgedHistory h;
    buy(h, A, 10_ms, "cup", 5);
    buy(h, B, 20_ms, other == 1 ? "pot" : "cup", 5, other == 2 ? Phase::fail : Phase::ok);
    const Finding finding = no_oversell(h.history(), forged_names());
    CHECK((finding.verdict == Verdict::violated) == (other == 0));
    if (other == 0) {
      CHECK(finding.by == std::vector{A, B});
      CHECK(finding.at->offset() == 20_ms);
      CHECK(finding.why == "cup was sold to A, and at 20ms once more to B");
    }
  }
}

TEST_CASE("no oversell: 0 left is enough, less is not; who buys an item twice is blamed once") {
  ForgedHistory poor;
  buy(poor, A, 10_ms, "cup", 0);
  CHECK(no_oversell(poor.history(), forged_names()).verdict == Verdict::holds);
  buy(poor, A, 20_ms, "pot", -1);
  CHECK(no_oversell(poor.history(), forged_names()).why == "A bought pot and was left with -1");
  ForgedHistory twice;
  buy(twice, A, 10_ms, "cup", 5);
  buy(twice, A, 20_ms, "cup", 4);
  CHECK(no_oversell(twice.history(), forged_names()).by == std::vector{A});
  CHECK(no_oversell(ForgedHistory{}.history(), forged_names()).why == "no market in this story");
}

TEST_CASE("no oversell: agrees with the comparison of all pairs on 20,000 random histories, for runs and for traces") {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    sim::Random random(seed);
    ForgedHistory h;
    const std::uint64_t count = random.below(5);
    for (std::uint64_t n = 0; n < count; ++n) {
      const sim::ProcessId who{static_cast<std::uint16_t>(random.below(3))};
      std::optional<std::int64_t> left;
      if (random.one_in(2)) left = random.between(-1, 8);
      buy(h, who, Duration::milliseconds(static_cast<std::int64_t>(n)),
          std::string(1, static_cast<char>('a' + random.below(5))), left, random.one_in(4) ? Phase::info : Phase::ok);
    }
    const auto& sales = h.history().operations;
    bool expected = false;
    for (const sim::Operation& sale : sales) {
      if (sale.phase != Phase::ok) continue;
      expected = expected || (sale.value && *sale.value < 0);
      for (const sim::Operation& other : sales) {
        expected = expected || (other.id > sale.id && other.phase == Phase::ok && other.object == sale.object);
      }
    }
    const Finding finding = no_oversell(h.history(), forged_names());
    INFO("seed " << seed << ": " << finding.why);
    REQUIRE((finding.verdict == Verdict::violated) == expected);
    REQUIRE(oversales(OrderedHistory::all_of(h.history())).empty() == !expected);
    violated += expected ? 1 : 0;
  }
  CHECK(violated > 3'000);
  CHECK(violated < 17'000);
}

}  // namespace
}  // namespace lockstep::checker::no_oversell_test
