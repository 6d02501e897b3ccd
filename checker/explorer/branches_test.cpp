// A search in pieces, explored by several in any order, against the search in one piece.

#include "checker/explorer/branches.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "checker/explorer/branches_ahead.hpp"
#include "checker/testing/toys/begun_branches.hpp"
#include "checker/testing/toys/toy_world.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::branches_test {
namespace {

using Outcomes = std::set<std::string>;
using toy::Found;

const std::uint64_t kWorlds = sim::cases<std::uint64_t>(8'000, 800);

constexpr toy::Size kFaulty{.servers = 2, .processes = 4, .puts = 4, .steps = 3, .latency_us = 2, .describes = true};
constexpr toy::Size kLarge{.servers = 1, .processes = 6, .puts = 8, .steps = 6, .latency_us = 8, .describes = true};

/// One request or reply may be lost.
FaultBudget one_loss(const toy::World& world) {
  return {.kind = ExploredFault::Kind::lose, .who = world.clients(), .range = {}, .restart_after = {}};
}

struct World {
  std::uint64_t seed = 0;
  toy::Size size;
  bool may_lose = false;

  ExplorerOptions options() const {
    ExplorerOptions options;
    options.max_traces = 3'000;
    if (may_lose) {
      Explorer nobody({});
      options.faults = {one_loss(toy::World(seed, nobody, size))};
    }
    return options;
  }
};

Found in_one(const World& of) { return toy::explored_whole(of.seed, of.size, of.options()); }

/// How a search is cut, and who explores the pieces.
struct Pieces {
  BranchLimits limits;
  std::size_t threads = 1;  ///< so many branches are begun before any of them is handed in
  bool is_written = false;  ///< now and then it is written down and read
};

/// What somebody found in a branch.
struct InBranch {
  BranchOutcome outcome;
  Outcomes outcomes;
};

Found in_pieces(const World& of, const Pieces& pieces, std::uint64_t& ahead_of_turn) {
  Explorer explorer(of.options());
  toy::World world(of.seed, explorer, of.size);
  sim::Random random(of.seed);
  Found found;
  BranchStack stack;
  BranchesAhead<InBranch> ahead;
  BegunBranches begun;
  while (!stack.is_done()) {
    const std::shared_ptr<Branch> branch = begun.next(ahead, stack, pieces.threads, random);
    ahead_of_turn += branch != stack.branches().back() ? 1 : 0;
    InBranch part;
    part.outcome = explorer.explore(world, *branch, pieces.limits, [&](Explorer&) {
      part.outcomes.insert(world.outcome());
      return true;
    });
    ahead.hand_in(*branch, std::move(part));
    while (std::optional<InBranch> next = ahead.next(stack)) {
      found.outcomes.merge(next->outcomes);
      stack.take_in(std::move(next->outcome));
    }
    if (!pieces.is_written || !random.one_in(4)) continue;
    std::stringstream file;
    stack.write(file);
    BranchStack read;
    REQUIRE(read.read(file));
    stack = std::move(read);
    ahead = {};  // what was found before its turn is not written down
    begun.clear();
  }
  REQUIRE(stack.counts().complete);
  found.counts = stack.counts();
  return found;
}

}  // namespace

TEST_CASE("branches: a search in pieces finds what it finds in one, whoever explores what, also through a file") {
  std::uint64_t ahead_of_turn = 0;
  std::uint64_t traces = 0;
  std::uint64_t traces_in_one = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const World world = seed % 4 == 0 ? World{seed, kFaulty, true} : World{seed, kLarge};
    const Found whole = in_one(world);
    if (!whole.counts.complete) continue;
    // By traces, or by events, which may end a branch after a run that is no trace.
    Pieces pieces{.limits = {.traces = 1 + seed % 7, .events = seed / 4 % 2 == 0 ? 0 : 1 + seed % 100}};
    pieces.is_written = seed / 8 % 2 == 0;
    INFO("world " << seed);
    const Found one_by_one = in_pieces(world, pieces, ahead_of_turn);
    REQUIRE(one_by_one.outcomes == whole.outcomes);
    pieces.threads = 2 + seed % 3;
    const Found in_any_order = in_pieces(world, pieces, ahead_of_turn);
    REQUIRE(in_any_order.outcomes == whole.outcomes);
    REQUIRE(in_any_order.counts.traces == one_by_one.counts.traces);
    REQUIRE(in_any_order.counts.events == one_by_one.counts.events);
    traces += one_by_one.counts.traces;
    traces_in_one += whole.counts.traces;
  }
  WARN(traces << " traces in pieces, " << traces_in_one << " in one; " << ahead_of_turn
              << " branches before their turn");
  CHECK(ahead_of_turn > kWorlds);
  CHECK(traces < traces_in_one + traces_in_one / 1'000);
}

TEST_CASE("branches: what is no checkpoint is not read") {
  for (const char* text :
       {"", "x", "1 2 3 4 0.5\n99999999999\n", "1 2 3 4 0.5\n1\n7 0 0 0 0\n0\n", "1 2 3 4 0.5\n0\n1\n3 0 5 0 0 1\n"}) {
    std::istringstream in(text);
    BranchStack stack;
    CHECK_FALSE(stack.read(in));
    CHECK_FALSE(stack.is_done());
  }
}

}  // namespace lockstep::checker::branches_test
