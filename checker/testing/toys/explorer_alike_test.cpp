// Processes that are alike come in the order of their names: what is lost by that is the same with other names.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <string>

#include "checker/explorer/explorer.hpp"
#include "checker/testing/toys/toy_world.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::explorer_alike_test {
namespace {

using Mutant = SearchMutant;
using Outcomes = std::set<std::string>;
using Kind = ExploredFault::Kind;
using namespace sim::literals;

const std::uint64_t kWorlds = sim::cases<std::uint64_t>(400, 40);

constexpr toy::Size kSize{.servers = 2, .processes = 5, .puts = 3, .steps = 3, .latency_us = 2, .alike = true};
constexpr toy::Size kSmall{.servers = 1, .processes = 3, .puts = 2, .steps = 2, .latency_us = 2, .alike = true};

/// An outcome is what each client saw, then what each server was asked; a client's values begin with its number.
std::string renamed(const std::string& outcome, const std::vector<std::size_t>& name_of) {
  std::vector<std::string> parts(1);
  std::size_t i = 0;
  while (i < outcome.size()) {
    std::size_t value = 0;
    std::size_t digits = 0;
    while (i + digits < outcome.size() && std::isdigit(static_cast<unsigned char>(outcome[i + digits])) != 0)
      value = value * 10 + static_cast<std::size_t>(outcome[i + digits++] - '0');
    if (digits > 0) {
      if (value >= 10) value = (name_of[value / 10 - 1] + 1) * 10 + value % 10;
      parts.back() += std::to_string(value);
      i += digits;
      continue;
    }
    parts.back() += outcome[i];
    if (outcome[i] == '|') parts.emplace_back();
    // "A's part| B's part| ": the blank goes with what stands before it.
    if (outcome[i++] == '|' && i < outcome.size()) parts[parts.size() - 2] += outcome[i++];
  }
  std::string all;
  for (std::size_t client = 0; client < name_of.size(); ++client) {
    const auto former = std::find(name_of.begin(), name_of.end(), client) - name_of.begin();
    all += parts[static_cast<std::size_t>(former)];
  }
  for (std::size_t part = name_of.size(); part < parts.size(); ++part) all += parts[part];
  return all;
}

/// All that an outcome is with other names.
std::vector<std::string> with_all_names(const std::string& outcome, std::size_t clients) {
  std::vector<std::size_t> name_of(clients);
  std::iota(name_of.begin(), name_of.end(), 0);
  std::vector<std::string> all;
  do all.push_back(renamed(outcome, name_of));
  while (std::next_permutation(name_of.begin(), name_of.end()));
  return all;
}

struct Question {
  toy::Size size = kSize;
  std::vector<FaultBudget> faults;  ///< of any client
  bool of_first_alone = false;      ///< instead: of the first one
};

struct Found {
  Outcomes outcomes;
  ExplorerCounts counts;
  std::size_t clients = 0;
};

Found explored(std::uint64_t seed, const Question& question, ExplorerOptions options, bool alike,
               Mutant mutant = Mutant::none) {
  Found found;
  {
    Explorer nobody({});
    const toy::World world(seed, nobody, question.size);
    found.clients = world.clients().size();
    if (alike) options.alike = {world.clients()};
    options.faults = question.faults;
    for (FaultBudget& budget : options.faults) {
      budget.who = world.clients();
      if (question.of_first_alone) budget.who.resize(1);
    }
  }
  Explorer explorer(options);
  ExplorerForTests::break_search(explorer, mutant);
  toy::World world(seed, explorer, question.size);
  found.counts = explorer.explore(world, [&](Explorer&) {
    found.outcomes.insert(world.outcome());
    return true;
  });
  return found;
}

Outcomes with_all_names(const Found& found) {
  Outcomes all;
  for (const std::string& outcome : found.outcomes)
    all.merge(Outcomes([&] {
      const std::vector<std::string> names = with_all_names(outcome, found.clients);
      return Outcomes(names.begin(), names.end());
    }()));
  return all;
}

struct Compared {
  std::size_t worlds = 0;
  std::size_t different = 0;
  std::uint64_t ordered = 0;  ///< traces in which they come in their order
  std::uint64_t all = 0;      ///< traces
};

/// The reduced search in which they come in the order of their names against the one, reduced or not, in which they come anyhow.
Compared compare(const Question& question, Mutant mutant = Mutant::none, bool reduction = true) {
  Compared compared;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    ExplorerOptions options;
    options.max_traces = 3'000;
    options.reduction = reduction;
    const Found any = explored(seed, question, options, false);
    if (any.clients < 2 || !any.counts.complete) continue;
    options.reduction = true;
    const Found ordered = explored(seed, question, options, true, mutant);
    ++compared.worlds;
    compared.different += with_all_names(ordered) != any.outcomes || !ordered.counts.complete ? 1 : 0;
    compared.ordered += ordered.counts.traces;
    compared.all += any.counts.traces;
  }
  return compared;
}

FaultBudget budget(Kind kind, sim::DurationRange range = {}) {
  FaultBudget budget;
  budget.kind = kind;
  budget.range = range;
  return budget;
}

}  // namespace

TEST_CASE("explorer: processes that are alike come in one order, and nothing is lost but names") {
  for (const bool reduction : {true, false}) {
    const Compared compared = compare({}, Mutant::none, reduction);
    WARN("traces of " << compared.worlds << " worlds: " << compared.all << ", in order " << compared.ordered);
    CHECK(compared.worlds > kWorlds / 4);
    CHECK(compared.different == 0);
    CHECK(compared.ordered < compared.all);
  }
}

TEST_CASE("explorer: whatever may befall any of those who are alike, nothing is lost but names") {
  FaultBudget restart = budget(Kind::crash);
  restart.restart_after = sim::DurationRange{0_us, 3_us};
  FaultBudget at_work = budget(Kind::pause, {1_us, 4_us});
  at_work.during = sim::Activity::work;
  FaultBudget twice = budget(Kind::lose);
  twice.times = 2;
  for (const FaultBudget& fault :
       {budget(Kind::pause, {1_us, 4_us}), at_work, budget(Kind::crash), restart, budget(Kind::lose), twice,
        budget(Kind::skew, {-3_us, 3_us}), budget(Kind::jump, {3_us, 3_us})}) {
    INFO("fault " << static_cast<int>(fault.kind));
    const Compared compared = compare({.size = kSmall, .faults = {fault}});
    CHECK(compared.worlds > kWorlds / 8);
    CHECK(compared.different == 0);
    // Ordering starts saves little: of few worlds, nothing.
    CHECK(compared.ordered <= compared.all);
    if (kWorlds >= 400) CHECK(compared.ordered < compared.all);
  }
}

TEST_CASE("explorer: processes that are taken to be alike and are not lose outcomes, and are found out") {
  toy::Size odd = kSize;
  odd.odd = true;
  CHECK(compare({.size = odd}).different > 0);
  CHECK(compare({.size = kSmall, .faults = {budget(Kind::pause, {1_us, 4_us})}, .of_first_alone = true}).different > 0);
  CHECK(compare({.size = kSmall, .faults = {budget(Kind::crash)}, .of_first_alone = true}).different > 0);
  CHECK(compare({}, Mutant::strictly_alike).different > 0);
}

}  // namespace lockstep::checker::explorer_alike_test
