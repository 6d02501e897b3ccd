// The explorer's reductions once more, with servers that say what they read and change, and with every kind of fault.

#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>

#include "checker/explorer/explorer.hpp"
#include "checker/testing/toys/toy_runs.hpp"
#include "checker/testing/toys/toy_world.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::explorer_faults_test {
namespace {

using Mutant = SearchMutant;
using Outcomes = std::set<std::string>;
using toy::Found;
using toy::Strikes;
using Kind = ExploredFault::Kind;
using sim::Duration;
using namespace sim::literals;

const std::uint64_t kWorlds = sim::cases<std::uint64_t>(400, 40);
/// In which all interleavings are played: of partitions and clocks there are thousands in each.
const std::uint64_t kInterleaved = sim::cases<std::uint64_t>(400, 16);

constexpr toy::Size kDescribed{.servers = 2, .processes = 4, .puts = 4, .steps = 3, .latency_us = 2, .describes = true};
constexpr toy::Size kSmall{.servers = 1, .processes = 3, .puts = 2, .steps = 2, .latency_us = 2, .describes = true};

constexpr Strikes kPausedCrash{.pauses = 1, .crashes = 1};
constexpr Strikes kCrashAtWork{.pauses = 1, .crashes = 1, .at_work = true};
constexpr std::array kStrikes{
    Strikes{.pauses = 1},
    Strikes{.pauses = 1, .at_work = true},
    Strikes{.crashes = 1},
    kPausedCrash,
    kCrashAtWork,
    Strikes{.losses = 1},
    Strikes{.delays = 1},
    Strikes{.partitions = 1},
    Strikes{.pauses = 1, .losses = 1},
    Strikes{.pauses = 1, .delays = 1},
    Strikes{.pauses = 1, .partitions = 1},
    Strikes{.crashes = 1, .delays = 1},
};

/// Whom a fault strikes is known only when there is a world.
enum class Whom : std::uint8_t { clients, servers };

struct May {
  FaultBudget budget;
  Whom whom;
};

FaultBudget in_world(May may, const toy::World& world) {
  may.budget.who = may.whom == Whom::clients ? world.clients() : world.servers();
  if (may.budget.kind == Kind::partition) may.budget.sides = toy::sides(world, may.whom == Whom::servers);
  return may.budget;
}

Found explored(std::uint64_t seed, toy::Size size, ExplorerOptions options, const std::vector<May>& may = {},
               Mutant mutant = Mutant::none) {
  {
    Explorer nobody({});
    const toy::World world(seed, nobody, size);
    for (const May& one : may) options.faults.push_back(in_world(one, world));
  }
  return toy::explored_whole(seed, size, options, mutant);
}

May crash(Whom whom, std::optional<sim::DurationRange> restart_after, bool keep = false) {
  return {{.kind = Kind::crash, .who = {}, .range = {}, .restart_after = restart_after, .keep = keep, .times = 1},
          whom};
}
May lose(std::uint32_t times) {
  return {{.kind = Kind::lose, .who = {}, .range = {}, .restart_after = {}, .keep = false, .times = times},
          Whom::clients};
}
May late(Kind kind, sim::DurationRange by, Whom whom = Whom::clients, std::uint32_t times = 1) {
  return {{.kind = kind, .who = {}, .range = by, .restart_after = {}, .keep = false, .times = times}, whom};
}
May clock(Kind kind, Whom whom, sim::DurationRange by) {
  return {{.kind = kind, .who = {}, .range = by, .restart_after = {}, .keep = false, .times = 1}, whom};
}
May pause(Whom whom) {
  return {{.kind = Kind::pause, .who = {}, .range = {1_us, 4_us}, .restart_after = {}, .keep = false, .times = 1},
          whom};
}

/// Compares the reduced search with all interleavings; gives how many worlds could be compared.
std::size_t compare(std::uint64_t worlds, toy::Size size, const std::vector<May>& may) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < worlds; ++seed) {
    ExplorerOptions options;
    options.max_traces = 6'000;
    const Found reduced = explored(seed, size, options, may);
    options.reduction = false;
    const Found all = explored(seed, size, options, may);
    INFO("world " << seed << ": " << reduced.counts.traces << " and " << all.counts.traces << " traces");
    if (!all.counts.complete) continue;
    ++compared;
    REQUIRE(reduced.counts.complete);
    REQUIRE(reduced.outcomes == all.outcomes);
    REQUIRE(reduced.counts.traces <= all.counts.traces);
  }
  return compared;
}

}  // namespace

TEST_CASE("explorer: servers that say what they touch are reduced further, and lose nothing") {
  std::uint64_t by_process = 0;
  std::uint64_t by_part = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    toy::Size size = kDescribed;
    by_part += explored(seed, size, {}).counts.traces;
    size.describes = false;
    size.parts = true;
    by_process += explored(seed, size, {}).counts.traces;
  }
  WARN("traces: " << by_process << " with dependence by process, " << by_part << " by what is read and changed");
  CHECK(by_part < by_process);
  CHECK(compare(kWorlds, kDescribed, {}) > kWorlds / 2);
}

TEST_CASE("explorer: crashes lose no outcome to the reduction") {
  CHECK(compare(kInterleaved, kSmall, {crash(Whom::clients, std::nullopt)}) > kInterleaved / 2);
  CHECK(compare(kInterleaved, kSmall, {crash(Whom::clients, sim::DurationRange{0_us, 3_us})}) > kInterleaved / 2);
  CHECK(compare(kInterleaved, kSmall, {crash(Whom::servers, sim::DurationRange{1_us, 3_us})}) > kInterleaved / 2);
  CHECK(compare(kInterleaved, kSmall, {crash(Whom::servers, sim::DurationRange{0_us, 2_us}, true)}) > kInterleaved / 2);
}

TEST_CASE("explorer: losses lose no outcome to the reduction") {
  CHECK(compare(kInterleaved, kDescribed, {lose(1)}) > kInterleaved / 2);
  CHECK(compare(kInterleaved, kDescribed, {lose(2)}) > kInterleaved / 2);
}

TEST_CASE("explorer: delays lose no outcome to the reduction") {
  CHECK(compare(kInterleaved, kDescribed, {late(Kind::delay, {0_us, 3_us})}) > kInterleaved / 2);
  CHECK(compare(kInterleaved, kSmall, {late(Kind::delay, {2_us, 5_us}, Whom::clients, 2)}) > kInterleaved / 2);
  CHECK(compare(kInterleaved / 2, kSmall, {late(Kind::delay, {1_us, 3_us}), lose(1)}) > kInterleaved / 8);
  CHECK(compare(kInterleaved / 2, kSmall, {late(Kind::delay, {0_us, 4_us}), pause(Whom::clients)}) > kInterleaved / 8);
}

TEST_CASE("explorer: partitions lose no outcome to the reduction") {
  CHECK(compare(kInterleaved, kDescribed, {late(Kind::partition, {0_us, 3_us})}) > kInterleaved / 3);
  CHECK(compare(kInterleaved, kDescribed, {late(Kind::partition, {2_us, 5_us}, Whom::servers)}) > kInterleaved / 3);
  CHECK(compare(kInterleaved / 2, kSmall, {late(Kind::partition, {1_us, 4_us}, Whom::clients, 2)}) > kInterleaved / 8);
  CHECK(compare(kInterleaved / 2, kSmall, {late(Kind::partition, {0_us, 4_us}), pause(Whom::clients)}) >
        kInterleaved / 8);
}

TEST_CASE("explorer: clocks that jump or are off lose no outcome to the reduction") {
  CHECK(compare(kInterleaved, kDescribed, {clock(Kind::jump, Whom::servers, {3_us, 3_us})}) > kInterleaved / 2);
  CHECK(compare(kInterleaved, kDescribed, {clock(Kind::jump, Whom::servers, {-2_us, 4_us})}) > kInterleaved / 2);
  CHECK(compare(kInterleaved, kDescribed, {clock(Kind::skew, Whom::clients, {-3_us, 3_us})}) > kInterleaved / 2);
}

TEST_CASE("explorer: faults of several kinds, and pauses of servers, lose no outcome to the reduction") {
  CHECK(compare(kWorlds / 3, kSmall, {pause(Whom::servers)}) > kWorlds / 8);
  CHECK(compare(kWorlds / 3, kSmall, {pause(Whom::clients), lose(1)}) > kWorlds / 8);
  CHECK(compare(kWorlds / 3, kSmall, {crash(Whom::servers, sim::DurationRange{1_us, 1_us}), pause(Whom::clients)}) >
        kWorlds / 8);
}

TEST_CASE("explorer: a crash in the middle of a pause loses no outcome to the reduction") {
  const sim::DurationRange soon{1_us, 1_us};
  CHECK(compare(kWorlds / 3, kSmall, {crash(Whom::servers, soon), pause(Whom::servers)}) > kWorlds / 8);
  CHECK(compare(kWorlds / 3, kSmall, {pause(Whom::clients), crash(Whom::clients, soon)}) > kWorlds / 8);
  CHECK(compare(kWorlds / 3, kSmall, {pause(Whom::servers), crash(Whom::servers, std::nullopt)}) > kWorlds / 8);
}

TEST_CASE("explorer: a crash in the middle of a pause leaves something unsaid, and only that") {
  const auto outcomes_of = [](std::uint64_t seed, Mutant mutant) {
    ExplorerOptions options;
    options.max_traces = 6'000;
    const Found found = explored(seed, kSmall, options,
                                 {crash(Whom::servers, sim::DurationRange{1_us, 1_us}), pause(Whom::servers)}, mutant);
    return found.counts.complete ? std::optional(found.outcomes) : std::nullopt;
  };
  std::size_t unsaid = 0;
  std::size_t said = 0;
  std::size_t late = 0;
  for (std::uint64_t seed = 0; seed < kWorlds / 3; ++seed) {
    const auto right = outcomes_of(seed, Mutant::none);
    const auto survives = outcomes_of(seed, Mutant::survive_pauses);
    if (!right || !survives) continue;
    CHECK(std::includes(right->begin(), right->end(), survives->begin(), survives->end()));
    unsaid += *right == *survives ? 0 : 1;
    said += *right == outcomes_of(seed, Mutant::last_words) ? 0 : 1;
    late += *right == outcomes_of(seed, Mutant::late_dooms) ? 0 : 1;
  }
  WARN("worlds in which it makes a difference that somebody may die in a pause: "
       << unsaid << "; that he is not heard then: " << said << "; that nothing is handled before: " << late);
  if (sim::takes_few_cases()) return;
  CHECK(unsaid > 0);
  CHECK(said > 0);
  CHECK(late > 0);
}

TEST_CASE("explorer: no concrete run with faults is missed") {
  for (std::size_t kind = 0; kind < kStrikes.size(); ++kind) {
    std::size_t complete = 0;
    std::size_t outcomes = 0;
    for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
      const toy::StruckWorld world(kStrikes[kind], seed);
      const Found found = world.explored();
      if (!found.counts.complete) continue;
      ++complete;
      const Outcomes drawn = world.drawn(1'000);
      outcomes += drawn.size();
      INFO("world " << seed << ", " << kind);
      REQUIRE(toy::has_all(found.outcomes, drawn));
    }
    CHECK(complete > kWorlds * 4 / 5);
    CHECK(outcomes > complete * 5 / 4);  // they are not all alike
  }
}

TEST_CASE("explorer: concrete runs with faults find broken searches out") {
  const auto is_found = [](Mutant mutant, std::uint64_t seed, const Strikes& strikes) {
    const toy::StruckWorld world(strikes, seed);
    const Found right = world.explored();
    if (!right.counts.complete) return false;
    const Outcomes drawn = world.drawn(1'000);
    CHECK(toy::has_all(right.outcomes, drawn));
    return !toy::has_all(world.explored(mutant).outcomes, drawn);
  };
  for (std::size_t kind = 0; kind < kStrikes.size(); ++kind) {
    std::uint64_t seed = 0;
    while (seed < kWorlds && !is_found(Mutant::forget_races, seed, kStrikes[kind])) ++seed;
    INFO("forgotten races, " << kind);
    CHECK(seed < kWorlds);
  }
  CHECK(is_found(Mutant::crashes_come_first, 250, kPausedCrash));
  CHECK(is_found(Mutant::crashes_come_first, 904, kPausedCrash));
  CHECK(is_found(Mutant::no_crash_at_work, 3'089, kCrashAtWork));
  CHECK(is_found(Mutant::works_undisturbed, 1'001'671, {.pauses = 1, .at_work = true}));
  std::size_t survived = 0;
  std::size_t heard = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    survived += is_found(Mutant::survive_pauses, seed, kPausedCrash) ? 1 : 0;
    heard += is_found(Mutant::last_words, seed, kPausedCrash) ? 1 : 0;
  }
  CHECK(survived > kWorlds / 40);
  CHECK(heard > kWorlds / 40);
}

TEST_CASE("explorer: broken dependences are found out") {
  const auto is_found = [](Mutant mutant) {
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
      const toy::Size size{.servers = 1, .processes = 4, .puts = 5, .steps = 4, .latency_us = 3, .describes = true};
      ExplorerOptions options;
      options.max_traces = 5'000;
      const Found right = explored(seed, size, options);
      if (explored(seed, size, options, {}, mutant).outcomes != right.outcomes) return true;
    }
    return false;
  };
  CHECK(is_found(Mutant::forget_readers));
  CHECK(is_found(Mutant::forget_forks));
  CHECK(is_found(Mutant::never_wake));
}

}  // namespace lockstep::checker::explorer_faults_test
