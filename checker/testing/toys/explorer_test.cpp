// The reduced search reaches exactly the outcomes of the unreduced one, and these are exactly what can happen: every
// outcome on a grid of ticks is found, and every outcome found happens at concrete times.

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "checker/testing/toys/toy_world.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::explorer_test {
namespace {

using Mutant = SearchMutant;
using Outcomes = std::set<std::string>;
using sim::Duration;

/// Runs a found trace again, in order of its concrete times, with nothing of the explorer: every event must be pending when its
/// time has come, and within its delay.
class TimedReplay final : public sim::Scheduler {
 public:
  explicit TimedReplay(sim::World& world) : world_(world) {}

  struct Planned {
    sim::EventId id;
    Duration at;
    std::optional<Duration> held_back_until;
    std::size_t position;  ///< in the trace
  };

  bool run(const std::vector<Planned>& plan, bool has_pauses) {
    for (const Planned& planned : plan) {
      const auto found = std::find_if(pending_.begin(), pending_.end(),
                                      [&](std::uint32_t slot) { return world_.event(slot).id == planned.id; });
      if (found == pending_.end()) return false;
      const std::uint32_t slot = *found;
      const sim::Event& event = world_.event(slot);
      const Duration earliest = event.base.offset() + event.delay.lo;
      const Duration latest = event.base.offset() + event.delay.hi;
      if (planned.at < earliest || (!has_pauses && planned.at > latest)) return false;
      pending_.erase(found);
      sim::ProcessState& process = world_.state(event.process);
      process.was_paused = planned.held_back_until.has_value();
      if (planned.held_back_until) process.frozen_until = sim::Instant::at(*planned.held_back_until);
      world_.execute(slot, sim::Instant::at(planned.at));
      process.was_paused = false;
    }
    return std::all_of(pending_.begin(), pending_.end(),
                       [&](std::uint32_t slot) { return world_.event(slot).timer_kind == sim::TimerKind::tick; });
  }

  void emitted(std::uint32_t slot) override { pending_.push_back(slot); }
  void cancelled(std::uint32_t slot) override { pending_.erase(std::find(pending_.begin(), pending_.end(), slot)); }
  void postponed(std::uint32_t, Duration) override {}
  bool is_at_or_after(sim::Instant a, sim::Instant b) override { return a.offset() >= b.offset(); }
  sim::Instant later_of(sim::Instant a, sim::Instant b) override { return a.offset() >= b.offset() ? a : b; }

 private:
  sim::World& world_;
  std::vector<std::uint32_t> pending_;
};

std::string replayed(std::uint64_t seed, Explorer& explorer, bool has_pauses, toy::Size size) {
  const auto solution = explorer.constraints().solution_ns();
  if (!solution) return "no solution";
  const auto time_of = [&](sim::Instant instant) {
    return Duration::nanoseconds((*solution)[instant.anchor()]) + instant.offset();
  };
  std::vector<TimedReplay::Planned> plan;
  for (const ExploredEvent& event : explorer.trace()) {
    plan.push_back({event.id, time_of(event.at), std::nullopt, plan.size()});
  }
  for (const ExploredFault& fault : explorer.faults()) {
    if (fault.place == ExploredFault::Place::after) plan[fault.event].held_back_until = time_of(fault.until);
  }
  std::sort(plan.begin(), plan.end(), [](const TimedReplay::Planned& a, const TimedReplay::Planned& b) {
    return std::tie(a.at, a.position) < std::tie(b.at, b.position);
  });
  sim::DefaultDecisions decisions;
  toy::World world(seed, decisions, size);
  TimedReplay replay(world.world());
  world.world().set_scheduler(replay);
  world.begin();
  std::string outcome = replay.run(plan, has_pauses) ? world.outcome() : "does not replay";
  world.world().restart();  // what still ticks tells the scheduler that it goes
  return outcome;
}

struct Found {
  Outcomes outcomes;
  ExplorerCounts counts;
  std::string trouble;
};

Found explored(std::uint64_t seed, ExplorerOptions options, bool replay = false, toy::Size size = {},
               Mutant mutant = Mutant::none) {
  Found found;
  const bool has_pauses = !options.faults.empty();
  Explorer explorer(options);
  toy::World world(seed, explorer, size);
  if (has_pauses) options.faults.front().who = world.clients();
  Explorer paused(options);
  toy::World paused_world(seed, paused, size);
  Explorer& used = has_pauses ? paused : explorer;
  toy::World& subject = has_pauses ? paused_world : world;
  ExplorerForTests::break_search(used, mutant);
  found.counts = used.explore(subject, [&](Explorer& e) {
    const std::string outcome = subject.outcome();
    if (found.outcomes.insert(outcome).second && replay) {
      const std::string again = replayed(seed, e, has_pauses, size);
      if (again != outcome) found.trouble = outcome + " replays as " + again;
    }
    return true;
  });
  return found;
}

/// All answers to all questions, one run each: an odometer.
class EnumeratingDecisions final : public sim::Decisions {
 public:
  std::uint64_t choose(sim::Choice, std::uint64_t options, sim::EventId) override {
    if (next_ == digits_.size()) digits_.push_back({options, 0});
    return digits_[next_++].index;
  }
  bool advance() {
    digits_.resize(next_);
    next_ = 0;
    while (!digits_.empty() && digits_.back().index + 1 == digits_.back().options) digits_.pop_back();
    if (digits_.empty()) return false;
    ++digits_.back().index;
    return true;
  }

 private:
  struct Digit {
    std::uint64_t options;
    std::uint64_t index;
  };
  std::vector<Digit> digits_;
  std::size_t next_ = 0;
};

/// Brute force with ticks of a microsecond; nothing if there are too many runs.
std::optional<Outcomes> on_a_grid(std::uint64_t seed, std::size_t runs_max, toy::Size size = {}) {
  Outcomes outcomes;
  EnumeratingDecisions decisions;
  toy::World world(seed, decisions, size);
  sim::Simulation simulation(world.world());
  for (std::size_t runs = 0; runs < runs_max; ++runs) {
    simulation.restart();
    world.begin();
    REQUIRE(simulation.run(sim::Instant::at(Duration::seconds(1)), 1000) == sim::Simulation::End::quiet);
    outcomes.insert(world.outcome());
    if (!decisions.advance()) {
      world.world().restart();
      return outcomes;
    }
  }
  world.world().restart();
  return std::nullopt;
}

// With sanitizers or without optimisation the unreduced search of thousands of worlds would take minutes.
const std::uint64_t kWorlds = sim::cases<std::uint64_t>(5'200, 300);
const std::uint64_t kCompared =
    sim::cases<std::uint64_t>(5'000, 200);  ///< of some there are more traces than anybody waits for
/// Likewise without reduction, which takes most of the time of all these.
const std::uint64_t kUnreducedWorlds = sim::cases<std::uint64_t>(5'200, 90);
const std::uint64_t kUnreducedCompared = sim::cases<std::uint64_t>(5'000, 60);

}  // namespace

TEST_CASE("explorer: with and without reduction the outcomes are the same, and each replays at concrete times") {
  std::uint64_t reduced = 0;
  std::uint64_t unreduced = 0;
  std::uint64_t blocked = 0;
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < kUnreducedWorlds; ++seed) {
    const Found with = explored(seed, {}, true);
    const Found without = explored(seed, {.reduction = false, .max_traces = 20'000});
    INFO("world " << seed << ' ' << with.trouble);
    CHECK(with.trouble.empty());
    CHECK(with.counts.complete);
    if (!without.counts.complete) continue;
    CHECK(with.outcomes == without.outcomes);
    ++compared;
    reduced += with.counts.traces;
    unreduced += without.counts.traces;
    blocked += with.counts.blocked;
  }
  WARN(compared << " worlds; traces: " << reduced << " reduced, " << unreduced
                << " unreduced; blocked by sleep sets: " << blocked);
  CHECK(compared >= kUnreducedCompared);
  CHECK(reduced < unreduced);
}

TEST_CASE("explorer: whatever happens on a grid of ticks is found") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const std::optional<Outcomes> grid = on_a_grid(seed, 3'000);
    if (!grid) continue;
    ++compared;
    const Found found = explored(seed, {});
    INFO("world " << seed);
    CHECK(std::includes(found.outcomes.begin(), found.outcomes.end(), grid->begin(), grid->end()));
  }
  WARN("compared with the grid: " << compared << " worlds");
  CHECK(compared >= kCompared);
}

TEST_CASE("explorer: with a pause anywhere, too, the reduction loses no outcome and invents none") {
  const FaultBudget pauses{.kind = ExploredFault::Kind::pause,
                           .who = {},
                           .range = {Duration::microseconds(1), Duration::microseconds(5)},
                           .restart_after = {},
                           .keep = false,
                           .times = 1};
  for (std::uint64_t seed = 0; seed < kWorlds / 10; ++seed) {
    const Found with = explored(seed, {.reduction = true, .faults = {pauses}}, true);
    const Found without = explored(seed, {.reduction = false, .faults = {pauses}, .max_traces = 20'000}, true);
    INFO("world " << seed << ' ' << with.trouble << without.trouble);
    CHECK(with.trouble.empty());
    CHECK(without.trouble.empty());
    if (without.counts.complete) CHECK(with.outcomes == without.outcomes);
  }
}

TEST_CASE("explorer: answers that are only counted multiply no traces, and no outcome is lost by that") {
  toy::Size size{.servers = 3, .processes = 5, .puts = 6, .steps = 2, .gathers = true, .says = toy::Says::its_own};
  toy::Size silent = size;
  silent.says = toy::Says::everything;
  std::uint64_t counted = 0;
  std::uint64_t uncounted = 0;
  std::size_t compared = 0;
  std::size_t on_grids = 0;
  std::map<toy::Says, std::size_t> found_out;
  for (std::uint64_t seed = 0; seed < kWorlds / 25; ++seed) {
    const Found with = explored(seed, {.max_traces = 4'000}, true, size);
    const Found in_all_orders = explored(seed, {.max_traces = 4'000}, true, silent);
    INFO("world " << seed << ' ' << with.trouble << in_all_orders.trouble);
    CHECK(with.trouble.empty());
    if (!in_all_orders.counts.complete || !with.counts.complete) continue;
    CHECK(with.outcomes == in_all_orders.outcomes);
    counted += with.counts.traces;
    uncounted += in_all_orders.counts.traces;
    for (const toy::Says mutant : {toy::Says::not_the_last, toy::Says::no_last}) {
      toy::Size broken = size;
      broken.says = mutant;
      found_out[mutant] += explored(seed, {.max_traces = 4'000}, false, broken).outcomes != with.outcomes ? 1 : 0;
    }
    const Found all = explored(seed, {.reduction = false, .max_traces = 4'000}, false, size);
    if (all.counts.complete) {
      ++compared;
      CHECK(with.outcomes == all.outcomes);
    }
    if (const auto grid = on_a_grid(seed, 500, size)) {
      ++on_grids;
      CHECK(std::includes(with.outcomes.begin(), with.outcomes.end(), grid->begin(), grid->end()));
    }
  }
  WARN("traces: " << counted << ", with every order of answers " << uncounted << "; compared with all interleavings: "
                  << compared << ", with the grid: " << on_grids << "; mutants found out in "
                  << found_out[toy::Says::not_the_last] << " and " << found_out[toy::Says::no_last] << " worlds");
  CHECK(counted < uncounted);
  if (kWorlds < 5'000) return;
  CHECK(compared > 50);
  CHECK(on_grids > 30);
  for (const auto& [mutant, worlds] : found_out) CHECK(worlds > 0);
}

TEST_CASE("explorer: of n answers to one question it matters which comes last, and nothing else") {
  // One client and n servers, that answer in any order; with all orders of the answers there are n! traces.
  for (const std::uint64_t servers : {2U, 3U, 4U, 5U}) {
    for (const toy::Says says : {toy::Says::its_own, toy::Says::everything}) {
      std::uint64_t factorial = 1;
      for (std::uint64_t i = 2; i <= servers; ++i) factorial *= i;
      Explorer explorer({});
      toy::World world(toy::World::Question{servers, says}, explorer);
      const ExplorerCounts counts = explorer.explore(world, [](Explorer&) { return true; });
      CHECK(counts.complete);
      CHECK(counts.traces == (says == toy::Says::its_own ? servers : factorial));
    }
  }
}

TEST_CASE("explorer: reductions that are broken on purpose lose outcomes, and are found out") {
  const toy::Size large{.servers = 2, .processes = 7, .puts = 9, .steps = 4, .latency_us = 20, .describes = true};
  for (const Mutant mutant :
       {Mutant::cut_infeasible, Mutant::forget_races, Mutant::forget_cancelled, Mutant::never_wake}) {
    std::size_t different = 0;
    for (std::uint64_t seed = 0; seed < 300 && different == 0; ++seed) {
      ExplorerOptions options;
      options.max_traces = 5'000;
      const Found right = explored(seed, options, false, large);
      if (!right.counts.complete) continue;
      if (explored(seed, options, false, large, mutant).outcomes != right.outcomes) ++different;
    }
    INFO("mutant " << static_cast<int>(mutant));
    CHECK(different > 0);
  }
}

TEST_CASE("explorer: the same world gives the same counts") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ExplorerCounts a = explored(seed, {}).counts;
    const ExplorerCounts b = explored(seed, {}).counts;
    CHECK(a.traces == b.traces);
    CHECK(a.events == b.events);
  }
}

TEST_CASE("explorer: of what repeats for ever, all that can matter to the others happens") {
  std::size_t compared = 0;
  std::size_t found_out = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const toy::Size size{.servers = 1,
                         .processes = seed % 10 == 0 ? 3U : 2U,
                         .puts = 2,
                         .steps = 2,
                         .latency_us = 3,
                         .describes = seed % 2 == 1,
                         .tickers = 1};
    const Found with = explored(seed, {.max_traces = 300}, true, size);
    INFO("world " << seed << ' ' << with.trouble);
    CHECK(with.trouble.empty());
    if (!with.counts.complete) continue;
    const Found broken = explored(seed, {.max_traces = 300}, false, size, Mutant::no_late_ticks);
    if (broken.outcomes != with.outcomes) ++found_out;
    if (const auto grid = on_a_grid(seed, 500, size)) {
      ++compared;
      CHECK(std::includes(with.outcomes.begin(), with.outcomes.end(), grid->begin(), grid->end()));
    }
  }
  WARN("compared with the grid: " << compared << " worlds; the mutant found out in " << found_out);
  CHECK(compared > kWorlds / 2);
  if (kWorlds >= 5'000) CHECK(found_out > 0);
}

}  // namespace lockstep::checker::explorer_test
