#include "checker/linearizability/near_linear/lock_tries.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "checker/testing/linearizability_generator.hpp"
#include "checker/testing/linearizability_oracle.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::lock_tries_test {
namespace {

const std::uint64_t histories_per_model = sim::cases<std::uint64_t>(6'000, 200);
const std::uint64_t long_histories_per_model = sim::cases<std::uint64_t>(150, 10);
constexpr std::string_view kLocks[] = {
    "mutex",           "owner-mutex", "reentrant-mutex", "fenced-mutex", "reentrant-fenced-mutex",
    "read-write-lock", "semaphore"};

std::string show(const OperationHistory& h, const Model& model) {
  std::string text;
  for (std::size_t i = 0; i < h.operations.size(); ++i) {
    const HistoryOperation& o = h.operations[i];
    text += std::to_string(i) + ": p" + std::to_string(o.process) + " " + model.describe(h, o) + " " +
            std::to_string(o.invoked) + ".." + std::to_string(o.returned) +
            (o.is_unknown()                ? " info"
             : o.phase == sim::Phase::fail ? " fail"
                                           : "") +
            "\n";
  }
  return text;
}

/// A try comes at another time, or what was taken was not, or the other way round.
void disturb(OperationHistory& h, sim::Random& random, std::int64_t width) {
  if (h.operations.empty()) return;
  HistoryOperation& o = h.operations[random.below(h.operations.size())];
  switch (random.below(4)) {
    case 0: {
      const std::int64_t length = random.between(0, width);
      o.invoked = std::max<std::int64_t>(0, o.invoked + random.between(-2 * width, 2 * width));
      o.returned = o.invoked + length;
      break;
    }
    case 1: o.returned = o.invoked + random.between(0, (o.returned - o.invoked) / 2); break;
    case 2:
      if (o.function % 2 == 0) o.phase = o.phase == sim::Phase::ok ? sim::Phase::fail : sim::Phase::ok;
      o.out_known = false;
      break;
    default: o.invoked = random.between(o.invoked, o.returned); break;
  }
}

std::size_t tries_of(const OperationHistory& h) {
  return static_cast<std::size_t>(std::count_if(h.operations.begin(), h.operations.end(), [](const auto& o) {
    return o.phase == sim::Phase::fail && o.function % 2 == 0;
  }));
}

}  // namespace

// Brute force over all orders, which shares nothing with the checker, says what is right; the search alone has to agree.
TEST_CASE("lock tries: what failed is judged as brute force does, and nearly always without a search") {
  for (const std::string_view name : kLocks) {
    const Model& model = *find_model(name);
    std::uint64_t held = 0;
    std::uint64_t violated = 0;
    std::uint64_t by_try = 0;
    std::uint64_t searched = 0;
    std::uint64_t searched_rigid = 0;
    std::uint64_t tries = 0;
    for (std::uint64_t seed = 0; seed < histories_per_model; ++seed) {
      sim::Random random(seed + 77);
      oracle::Shape shape;
      shape.operations = 2 + random.below(7);
      shape.processes = static_cast<std::uint32_t>(2 + random.below(3));
      shape.width = random.between(1, 8);
      shape.unknown_one_in = random.one_in(3) ? 6 : 0;
      shape.is_sequential = !random.one_in(8);
      LinearizabilityOptions options{.permits = random.between(1, 3), .check_failed = true};
      if (random.one_in(10)) options.reentrancy_max = 2;
      OperationHistory h = oracle::true_history(model, random, shape, options);
      for (std::uint64_t i = 0; i < seed % 4; ++i) disturb(h, random, shape.width);
      tries += tries_of(h);
      INFO(name << ", seed " << seed << "\n" << show(h, model));
      const bool expected = oracle::is_linearizable(h, name, options);
      const LinearizabilityResult fast = check_linearizable(h, model, options);
      REQUIRE(fast.verdict == (expected ? Verdict::holds : Verdict::violated));
      if (seed % 4 == 0) REQUIRE(expected);
      LinearizabilityOptions alone = options;
      alone.search_only = true;
      const LinearizabilityResult slow = check_linearizable(h, model, alone);
      REQUIRE(slow.verdict == fast.verdict);
      REQUIRE(slow.at == fast.at);
      const bool is_searched = fast.statistics.searched_keys != 0;
      searched += is_searched ? 1 : 0;
      searched_rigid += is_searched && shape.unknown_one_in == 0 && shape.is_sequential && seed % 4 == 0 ? 1 : 0;
      if (expected) {
        ++held;
        REQUIRE(oracle::is_linearization(h, name, options, fast.order));
        continue;
      }
      ++violated;
      by_try += h.operations[*fast.culprit].phase == sim::Phase::fail ? 1 : 0;
      REQUIRE(h.operations[*fast.culprit].returned == *fast.at);
      REQUIRE_FALSE(oracle::is_linearizable(oracle::until(h, *fast.at), name, options));
      REQUIRE(oracle::is_linearizable(oracle::until(h, *fast.at - 1), name, options));
      REQUIRE(oracle::is_linearization(h, name, options, fast.prefix, fast.key, *fast.at));
      REQUIRE(oracle::is_conflict(h, name, options, fast.conflict));
      REQUIRE(fast.is_minimal);
      for (std::size_t i = 0; i < fast.conflict.size(); ++i) {
        std::vector<std::uint32_t> fewer = fast.conflict;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        REQUIRE_FALSE(oracle::is_conflict(h, name, options, fewer));
      }
      // Also the conflict that is given where it is not made smaller.
      LinearizabilityOptions as_found = options;
      as_found.minimize_conflict = false;
      REQUIRE(oracle::is_conflict(h, name, options, check_linearizable(h, model, as_found).conflict));
    }
    WARN(name << ": " << held << " hold, " << violated << " violated, " << by_try << " of them by a try; " << tries
              << " tries, " << searched << " searched, of true ones without unknown outcomes " << searched_rigid);
    CHECK(tries * 2 > histories_per_model);
    CHECK(held > histories_per_model / 4);
    CHECK(by_try > histories_per_model / 25);
    CHECK(searched * 4 < histories_per_model);
    CHECK((name != "mutex" || searched == 0));
    CHECK((name == "semaphore" || searched_rigid == 0));
    CHECK(searched_rigid * 50 < histories_per_model);
  }
}

TEST_CASE("lock tries: on long histories it agrees with the search, and each order is proved") {
  for (const std::string_view name : kLocks) {
    const Model& model = *find_model(name);
    std::uint64_t searched = 0;
    std::uint64_t violated = 0;
    for (std::uint64_t seed = 0; seed < long_histories_per_model; ++seed) {
      sim::Random random(seed);
      oracle::Shape shape;
      shape.operations = 60 + random.below(200);
      shape.processes = static_cast<std::uint32_t>(3 + random.below(6));
      shape.width = random.between(2, 12);
      shape.unknown_one_in = 0;
      const LinearizabilityOptions options{.permits = random.between(1, 4), .check_failed = true};
      OperationHistory h = oracle::true_history(model, random, shape, options);
      if (seed % 2 == 1) disturb(h, random, shape.width);
      INFO(name << ", seed " << seed);
      const LinearizabilityResult fast = check_linearizable(h, model, options);
      LinearizabilityOptions alone = options;
      alone.search_only = true;
      const LinearizabilityResult slow = check_linearizable(h, model, alone);
      REQUIRE(fast.verdict != Verdict::unknown);
      REQUIRE(slow.verdict == fast.verdict);
      REQUIRE(slow.at == fast.at);
      searched += fast.statistics.searched_keys != 0 && seed % 2 == 0 ? 1 : 0;
      violated += fast.verdict == Verdict::violated ? 1 : 0;
      if (fast.verdict == Verdict::holds) REQUIRE(oracle::is_linearization(h, name, options, fast.order));
      if (seed % 2 == 0) REQUIRE(fast.verdict == Verdict::holds);
    }
    WARN(name << ": " << violated << " of " << long_histories_per_model << " violated, " << searched << " searched");
    CHECK((name == "semaphore" || searched == 0));
    if (long_histories_per_model < 100) continue;  // too few to say that they are not vacuous
    CHECK(searched * 10 < long_histories_per_model);
    CHECK(violated > 0);
  }
}

TEST_CASE("lock tries: a try after the last release is impossible, and the conflict names both") {
  const Model& model = *find_model("owner-mutex");
  OperationHistory h;
  const auto add = [&](std::uint32_t process, std::uint16_t function, std::int64_t invoked, std::int64_t returned,
                       sim::Phase phase = sim::Phase::ok) {
    h.operations.push_back(
        {.invoked = invoked, .returned = returned, .process = process, .function = function, .phase = phase});
  };
  for (std::int64_t round = 0; round < 1'000; ++round) {
    add(0, 0, 10 * round, 10 * round + 1);
    add(0, 1, 10 * round + 3, 10 * round + 4);
  }
  add(1, 0, 10'000, 10'001, sim::Phase::fail);
  const LinearizabilityResult result = check_linearizable(h, model, {.check_failed = true});
  REQUIRE(result.verdict == Verdict::violated);
  CHECK(result.statistics.searched_keys == 0);
  CHECK(result.culprit == 2'000U);
  CHECK(result.conflict == std::vector<std::uint32_t>{1'999, 2'000});
  CHECK(result.is_minimal);
  // Somebody else who wants it by then may have it: nothing is wrong, and the order has that acquire before its time.
  add(2, 0, 10'001, 10'050);
  const LinearizabilityResult early = check_linearizable(h, model, {.check_failed = true});
  REQUIRE(early.verdict == Verdict::holds);
  CHECK(early.statistics.searched_keys == 0);
  CHECK(oracle::is_linearization(h, "owner-mutex", {.check_failed = true}, early.order));
}

}  // namespace lockstep::checker::lock_tries_test
