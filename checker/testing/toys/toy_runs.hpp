#pragma once

// Concrete runs of toy worlds: what they show shares nothing with the explorer but the world.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

/// Some pauses and crashes, of whom and when is drawn: between two events, or, of a pause, with one, so that what
/// that sends is kept back.
class PausesAndCrashes final : public sim::Fate {
 public:
  /// Whom they may strike. `restart_after`: nothing, for good.
  struct May {
    std::vector<sim::ProcessId> who;
    sim::DurationRange length;
    std::optional<sim::DurationRange> restart_after;
    bool pauses_work_alone = false;
    std::uint32_t pauses = 1;  ///< at most
    std::uint32_t crashes = 1;
  };

  PausesAndCrashes(World& world, May may) : toy_(world), world_(world.world()), may_(std::move(may)) {}

  void begin(std::uint64_t seed) {
    random_ = sim::Random(seed);
    pauses_ = crashes_ = 0;
  }

  Answer of(std::uint32_t slot, sim::Instant moment) override {
    constexpr std::uint64_t kSeldom = 5;
    if (!random_.one_in(kSeldom)) return Answer::happens;
    const bool is_pause = random_.one_in(2);
    std::uint32_t& struck = is_pause ? pauses_ : crashes_;
    sim::PlannedFault fault;
    fault.process = may_.who[random_.below(may_.who.size())];
    const sim::ProcessState& state = world_.state(fault.process);
    if (struck == (is_pause ? may_.pauses : may_.crashes) || !state.alive) return Answer::happens;
    if (is_pause && may_.pauses_work_alone && !toy_.is_working(fault.process)) return Answer::happens;
    const std::int64_t now = world_.now().offset().count_ns() / 1'000;
    const auto at = sim::Duration::microseconds(random_.between(now, moment.offset().count_ns() / 1'000));
    // Nobody is paused who is paused.
    if (is_pause && state.was_paused && state.frozen_until.offset() > at) return Answer::happens;
    ++struck;
    if (!is_pause) {
      fault.kind = sim::FaultKind::crash;
      fault.restart_after = may_.restart_after;
      world_.strike_now(fault, sim::Instant::at(at));
      return Answer::look_again;
    }
    const std::int64_t most = (may_.length.hi - may_.length.lo).count_ns() / 1'000;
    fault.length = may_.length.lo + sim::Duration::microseconds(random_.between(0, most));
    const bool is_with_event =
        !may_.pauses_work_alone && world_.event(slot).process == fault.process && random_.one_in(2);
    world_.strike_now(fault, is_with_event ? moment : sim::Instant::at(at));
    return is_with_event ? Answer::happens : Answer::look_again;
  }

 private:
  World& toy_;
  sim::World& world_;
  May may_;
  sim::Random random_{0};
  std::uint32_t pauses_ = 0;
  std::uint32_t crashes_ = 0;
};

/// The outcomes of `runs` runs, of which the delays are drawn from a grid of microseconds, as is who is first of those that come at once;
/// and what strikes, if `may` says whom.
/// Throws std::runtime_error if a run does not end.
inline std::set<std::string> drawn(std::uint64_t seed, const Size& size, std::uint64_t runs, std::uint64_t first = 0,
                                   const std::optional<PausesAndCrashes::May>& may = std::nullopt) {
  class Drawn final : public sim::Decisions {
   public:
    std::uint64_t choose(sim::Choice, std::uint64_t options, sim::EventId) override { return random.below(options); }
    sim::Random random{0};
  };
  Drawn decisions;
  World world(seed, decisions, size);
  sim::Simulation simulation(world.world());
  std::optional<PausesAndCrashes> fate;
  if (may) simulation.set_fate(&fate.emplace(world, *may));
  std::set<std::string> outcomes;
  for (std::uint64_t run = first; run < first + runs; ++run) {
    decisions.random = sim::Random(sim::combine64(seed, run));
    if (fate) fate->begin(sim::combine64(seed, ~run));
    simulation.restart();
    world.begin();
    if (simulation.run(sim::Instant::at(sim::Duration::seconds(1)), 1'000) != sim::Simulation::End::quiet)
      throw std::runtime_error("a run of a toy world does not end");
    outcomes.insert(world.outcome());
  }
  world.world().restart();
  return outcomes;
}

/// Whom pauses and crashes strike in a toy world.
enum class Struck : std::uint8_t { paused, paused_at_work, crashed, crashed_in_pause, crashed_at_work };

/// The toy world of this number, in which that may happen: once each, or twice; to clients, or to servers.
class StruckWorld {
 public:
  StruckWorld(Struck struck, std::uint64_t seed) : seed_(seed), size_(size_of(struck)) {
    Explorer nobody(ExplorerOptions{});
    const World world(seed, nobody, size_);
    const bool has_both = struck == Struck::crashed_in_pause || struck == Struck::crashed_at_work;
    const bool has_crash = has_both || struck == Struck::crashed;
    const bool has_pause = struck != Struck::crashed;
    may_.who = seed % 2 == 0 && struck == Struck::crashed_in_pause ? world.servers() : world.clients();
    may_.length = {sim::Duration::zero(), sim::Duration::microseconds(5)};
    may_.pauses_work_alone = struck == Struck::paused_at_work || struck == Struck::crashed_at_work;
    may_.pauses = !has_pause ? 0 : struck != Struck::paused && seed % 5 == 0 ? 2 : 1;
    may_.crashes = !has_crash ? 0 : has_both && seed % 7 == 0 ? 2 : 1;
    if (has_both && seed % 3 != 0) may_.restart_after = {sim::Duration::zero(), sim::Duration::microseconds(2)};
  }

  static constexpr Size size_of(Struck struck) {
    Size size{.servers = 2, .processes = 4, .puts = 4, .steps = 4, .latency_us = 4, .describes = true};
    if (struck == Struck::paused_at_work) {
      size.processes = size.steps = 5;
      size.puts = 6;
    } else if (struck != Struck::paused) {
      size.latency_us = 3;
      if (struck != Struck::crashed_at_work) size.steps = 3;
    }
    return size;
  }

  std::vector<FaultBudget> budgets() const {
    std::vector<FaultBudget> budgets;
    if (may_.crashes > 0) {
      FaultBudget& crash = budgets.emplace_back();
      crash.kind = ExploredFault::Kind::crash;
      crash.who = may_.who;
      crash.restart_after = may_.restart_after;
      crash.times = may_.crashes;
    }
    if (may_.pauses > 0) {
      FaultBudget& pause = budgets.emplace_back();
      pause.kind = ExploredFault::Kind::pause;
      pause.who = may_.who;
      pause.range = may_.length;
      if (may_.pauses_work_alone) pause.during = sim::Activity::work;
      pause.times = may_.pauses;
    }
    return budgets;
  }

  /// A world with more than 3,000 traces is left incomplete.
  Found explored(SearchMutant mutant = SearchMutant::none, ExplorerOptions options = {}) const {
    options.faults = budgets();
    return explored_if_small(seed_, size_, options, mutant);
  }
  /// Of concrete runs, which share nothing with the explorer but the world.
  std::set<std::string> drawn(std::uint64_t runs) const { return toy::drawn(seed_, size_, runs, 0, may_); }

 private:
  std::uint64_t seed_;
  Size size_;
  PausesAndCrashes::May may_;
};

inline bool has_all(const std::set<std::string>& outcomes, const std::set<std::string>& of) {
  return std::includes(outcomes.begin(), outcomes.end(), of.begin(), of.end());
}

}  // namespace lockstep::checker::toy
