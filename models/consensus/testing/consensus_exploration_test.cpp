// All that three replicas can do within bounds keeps all promises; and the search sees what it should.

#include <catch2/catch.hpp>

#include "models/consensus/testing/bounds.hpp"
#include "models/consensus/testing/exploration.hpp"
#include "models/consensus/testing/lab.hpp"
#include "models/consensus/testing/told.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::consensus::consensus_exploration_test {
namespace {

using namespace testing;

Explored explored(const Bounds& bounds) { return Exploration<>(bounds).run(Lab<>(bounds.replica)); }

TEST_CASE("consensus: within small bounds nothing that can happen breaks a promise") {
  for (auto [name, bounds] : small_bounds()) {
    bounds.states_max = sim::cases<std::size_t>(bounds.states_max, 20'000);
    const Explored result = explored(bounds);
    tell(name, result);
    INFO(name);
    CHECK_FALSE(result.breach);
    CHECK(result.with_leader > 0);
    if (sim::takes_few_cases()) continue;
    CHECK(result.complete);
    CHECK(result.with_committed > 0);
    if (bounds.term_max > 1) CHECK(result.with_two_leaders > 0);
    if (bounds.term_max > 1) CHECK(result.with_conflict > 0);
    if (bounds.reads > 0) CHECK(result.reads_answered > 0);
  }
}

TEST_CASE("consensus exploration: the number of states is known") {
  Bounds bounds;
  bounds.term_max = 1;
  CHECK(explored(bounds).states == 454);
  bounds.term_max = 2;
  bounds.under_way_max = 2;
  CHECK(explored(bounds).states == 12'157);
}

TEST_CASE("consensus exploration: who is who makes no difference, but to the number of states") {
  Bounds bounds;
  bounds.term_max = 1;
  bounds.proposals = 1;
  const Explored alike = explored(bounds);
  bounds.alike = false;
  const Explored apart = explored(bounds);
  CHECK(alike.depth == apart.depth);
  CHECK(alike.committed_max == apart.committed_max);
  CHECK(apart.states > 5 * alike.states);
  CHECK(apart.states <= 6 * alike.states);
}

TEST_CASE("consensus exploration: that messages are lost leads to no state of the nodes that is new") {
  Bounds bounds;
  bounds.term_max = 1;
  bounds.crashes = 1;
  bounds.alike = false;  // or it would depend on the order in which states are found who stands for whom
  const Explored without = explored(bounds);
  bounds.losses = 14;
  const Explored with = explored(bounds);
  CHECK(with.states > without.states);
  CHECK(with.node_states == without.node_states);
  CHECK(with.messages == without.messages);
}

}  // namespace
}  // namespace lockstep::models::consensus::consensus_exploration_test
