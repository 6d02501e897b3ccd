// The order that a sorted set keeps, against one that is made from nothing each time.

#include "models/redis/data/sorted_set.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedules/decisions.hpp"
#include "sim/schedules/random.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis::sorted_set_test {
namespace {

using Ordered = std::vector<std::pair<Real, std::string>>;

Ordered in_its_order(const SortedSet& set, const sim::World& world) {
  Ordered all;
  for (const std::uint32_t position : set.order(world)) {
    const ScoredMember& member = set.member(position);
    all.emplace_back(member.score.number(), member.key);
  }
  return all;
}

Ordered sorted(const std::map<std::string, Real>& model) {
  Ordered all;
  for (const auto& [key, score] : model) all.emplace_back(score, key);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE(
    "sorted set: whatever comes, changes and goes between two questions, its order is that of scores, then of bytes") {
  sim::DefaultDecisions decisions;
  const sim::World world(decisions);
  sim::Random random(20261121);
  std::size_t largest = 0;
  for (int round = 0; round < 60; ++round) {
    SortedSet set;
    std::map<std::string, Real> model;
    const std::uint64_t names = 1 + random.below(round % 3 == 0 ? 6 : 120);
    for (int step = 0; step < 200; ++step) {
      const std::string key = "m" + std::to_string(random.below(names));
      if (random.below(4) == 0) {
        CHECK(set.erase(key) == (model.erase(key) == 1));
      } else {
        const Real score = static_cast<Real>(random.below(12)) - 3;
        set.set(key, Score(score));
        model[key] = score;
      }
      // Often enough that little is late, and seldom enough that much is.
      if (random.below(step % 50 < 25 ? 2 : 20) != 0) continue;
      REQUIRE(in_its_order(set, world) == sorted(model));
    }
    largest = std::max(largest, model.size());
  }
  CHECK(largest > 60);
}

}  // namespace lockstep::models::redis::sorted_set_test
