#pragma once

// Concrete runs of toy worlds: what they show shares nothing with the explorer but the world.

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>

#include "checker/testing/toys/toy_world.hpp"
#include "sim/schedules/random.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::checker::toy {

// By these sizes and a number worlds are known, in tests and to `explorer_hunt`, which found them.
inline constexpr Size kLarge{.servers = 1, .processes = 6, .puts = 8, .steps = 6, .latency_us = 8, .describes = true};
inline constexpr Size kSmall{.servers = 1, .processes = 5, .puts = 6, .steps = 4, .latency_us = 8, .describes = true};
inline constexpr Size kTwoServers{
    .servers = 2, .processes = 7, .puts = 9, .steps = 4, .latency_us = 20, .describes = true};
inline constexpr Size kGathers{
    .servers = 1, .processes = 5, .puts = 7, .steps = 6, .latency_us = 12, .describes = true, .gathers = true};
inline constexpr Size kGathersOfTwo{
    .servers = 2, .processes = 5, .puts = 7, .steps = 6, .latency_us = 4, .describes = true, .gathers = true};
inline constexpr Size kGathersOfThree{.servers = 3,
                                      .processes = 5,
                                      .puts = 7,
                                      .steps = 3,
                                      .latency_us = 6,
                                      .describes = true,
                                      .gathers = true,
                                      .says = Says::its_own};
inline constexpr Size kSilent{.servers = 2, .processes = 6, .puts = 8, .steps = 6, .latency_us = 4};
inline constexpr Size kTicks{
    .servers = 1, .processes = 5, .puts = 5, .steps = 3, .latency_us = 4, .describes = true, .tickers = 1};

/// As `explored_whole`, but a world with more than 3,000 traces is left incomplete.
inline Found explored_if_small(std::uint64_t seed, const Size& size, ExplorerOptions options,
                               SearchMutant mutant = SearchMutant::none) {
  options.max_traces = 3'000;
  return explored_whole(seed, size, options, mutant);
}

/// The outcomes of `runs` runs, of which the delays are drawn from a grid of microseconds, as is who is first of those that come at once.
/// Throws std::runtime_error if a run does not end.
inline std::set<std::string> drawn(std::uint64_t seed, const Size& size, std::uint64_t runs, std::uint64_t first = 0) {
  class Drawn final : public sim::Decisions {
   public:
    std::uint64_t choose(sim::Choice, std::uint64_t options, sim::EventId) override { return random.below(options); }
    sim::Random random{0};
  };
  Drawn decisions;
  World world(seed, decisions, size);
  sim::Simulation simulation(world.world());
  std::set<std::string> outcomes;
  for (std::uint64_t run = first; run < first + runs; ++run) {
    decisions.random = sim::Random(sim::combine64(seed, run));
    simulation.restart();
    world.begin();
    if (simulation.run(sim::Instant::at(sim::Duration::seconds(1)), 1'000) != sim::Simulation::End::quiet)
      throw std::runtime_error("a run of a toy world does not end");
    outcomes.insert(world.outcome());
  }
  world.world().restart();
  return outcomes;
}

inline bool has_all(const std::set<std::string>& outcomes, const std::set<std::string>& of) {
  return std::includes(outcomes.begin(), outcomes.end(), of.begin(), of.end());
}

}  // namespace lockstep::checker::toy
