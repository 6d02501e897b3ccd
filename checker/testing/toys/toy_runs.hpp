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

/// Some faults, at whom and when is drawn. A pause or a crash strikes between two events, or, a pause, with one, so that
/// what that sends is kept back.
class DrawnFaults final : public sim::Fate {
 public:
  /// How often each may strike at most.
  struct May {
    std::vector<sim::ProcessId> who;  ///< pauses, crashes
    std::vector<sim::ProcessId> clients;
    std::vector<sim::Sides> sides;
    sim::DurationRange length;
    std::optional<sim::DurationRange> restart_after;  ///< nothing: for good
    bool pauses_work_alone = false;
    std::uint32_t pauses = 0, crashes = 0, losses = 0, delays = 0, partitions = 0;
  };

  DrawnFaults(World& world, May may) : toy_(world), world_(world.world()), may_(std::move(may)) {}

  /// The world has begun again, and nothing has happened.
  void begin(std::uint64_t seed) {
    random_ = sim::Random(seed);
    left_ = may_;
    world_.reunite();
    constexpr std::int64_t kLatest = 30;
    for (; left_.partitions > 0 && !random_.one_in(4); --left_.partitions) {
      const auto from = sim::Instant::at(sim::Duration::microseconds(random_.between(0, kLatest)));
      world_.plan(sim::Partition{may_.sides[random_.below(may_.sides.size())], from, from + some_length()});
    }
  }

  sim::Duration late_by(const sim::Event& message) override {
    if (left_.delays == 0 || !concerns_client(message) || !random_.one_in(kSeldom)) return {};
    --left_.delays;
    return some_length();
  }

  Answer of(std::uint32_t slot, sim::Instant moment) override {
    if (!random_.one_in(kSeldom)) return Answer::happens;
    const bool may_be_lost = left_.losses > 0 && concerns_client(world_.event(slot));
    if (may_be_lost && (may_.pauses + may_.crashes == 0 || random_.one_in(2))) {
      --left_.losses;
      return Answer::lost;
    }
    if (may_.pauses + may_.crashes == 0) return Answer::happens;
    return random_.one_in(2) ? pause(slot, moment) : crash(moment);
  }

 private:
  static constexpr std::uint64_t kSeldom = 5;

  sim::Duration some_length() {
    const std::int64_t most = (may_.length.hi - may_.length.lo).count_ns() / 1'000;
    return may_.length.lo + sim::Duration::microseconds(random_.between(0, most));
  }
  /// From now to this moment.
  sim::Duration some_time_until(sim::Instant moment) {
    const std::int64_t now = world_.now().offset().count_ns() / 1'000;
    return sim::Duration::microseconds(random_.between(now, moment.offset().count_ns() / 1'000));
  }
  /// A request of a client, or what comes back for one.
  bool concerns_client(const sim::Event& event) const {
    if (event.kind != sim::EventKind::message) return false;
    const bool is_answer = event.bounced || (event.message->is_reply && !event.message->is_push);
    return std::any_of(may_.clients.begin(), may_.clients.end(), [&](sim::ProcessId client) {
      return client == event.from || (is_answer && client == event.process);
    });
  }

  Answer crash(sim::Instant moment) {
    sim::PlannedFault fault;
    fault.process = may_.who[random_.below(may_.who.size())];
    if (left_.crashes == 0 || !world_.state(fault.process).alive) return Answer::happens;
    --left_.crashes;
    fault.kind = sim::FaultKind::crash;
    fault.restart_after = may_.restart_after;
    world_.strike_now(fault, sim::Instant::at(some_time_until(moment)));
    return Answer::look_again;
  }

  Answer pause(std::uint32_t slot, sim::Instant moment) {
    sim::PlannedFault fault;
    fault.process = may_.who[random_.below(may_.who.size())];
    const sim::ProcessState& state = world_.state(fault.process);
    if (left_.pauses == 0 || !state.alive) return Answer::happens;
    if (may_.pauses_work_alone && !toy_.is_working(fault.process)) return Answer::happens;
    const sim::Duration at = some_time_until(moment);
    // Nobody is paused who is paused.
    if (state.was_paused && state.frozen_until.offset() > at) return Answer::happens;
    --left_.pauses;
    fault.length = some_length();
    const bool is_with_event =
        !may_.pauses_work_alone && world_.event(slot).process == fault.process && random_.one_in(2);
    world_.strike_now(fault, is_with_event ? moment : sim::Instant::at(at));
    return is_with_event ? Answer::happens : Answer::look_again;
  }

  World& toy_;
  sim::World& world_;
  May may_;
  May left_;
  sim::Random random_{0};
};

/// The outcomes of `runs` runs, of which the delays are drawn from a grid of microseconds, as is who is first of those that come at once;
/// and what strikes, if `may` says whom.
/// Throws std::runtime_error if a run does not end.
inline std::set<std::string> drawn(std::uint64_t seed, const Size& size, std::uint64_t runs, std::uint64_t first = 0,
                                   const std::optional<DrawnFaults::May>& may = std::nullopt) {
  class Drawn final : public sim::Decisions {
   public:
    std::uint64_t choose(sim::Choice, std::uint64_t options, sim::EventId) override { return random.below(options); }
    sim::Random random{0};
  };
  Drawn decisions;
  World world(seed, decisions, size);
  sim::Simulation simulation(world.world());
  std::optional<DrawnFaults> fate;
  if (may) simulation.set_fate(&fate.emplace(world, *may));
  std::set<std::string> outcomes;
  for (std::uint64_t run = first; run < first + runs; ++run) {
    decisions.random = sim::Random(sim::combine64(seed, run));
    simulation.restart();
    if (fate) fate->begin(sim::combine64(seed, ~run));
    world.begin();
    if (simulation.run(sim::Instant::at(sim::Duration::seconds(1)), 1'000) != sim::Simulation::End::quiet)
      throw std::runtime_error("a run of a toy world does not end");
    outcomes.insert(world.outcome());
  }
  world.world().restart();
  return outcomes;
}

/// What may strike in a toy world, and how often.
struct Strikes {
  std::uint32_t pauses = 0, crashes = 0, losses = 0, delays = 0, partitions = 0;
  bool at_work = false;  ///< pauses: only who works
};

/// The toy world of this number, in which that may happen: to clients, or to servers, and now and then twice.
class StruckWorld {
 public:
  StruckWorld(const Strikes& strikes, std::uint64_t seed) : seed_(seed), size_(size_of(strikes)) {
    Explorer nobody(ExplorerOptions{});
    const World world(seed, nobody, size_);
    const bool has_both = strikes.pauses > 0 && strikes.crashes > 0;
    may_.clients = world.clients();
    may_.sides = sides(world, seed % 2 == 0);
    may_.who = seed % 2 == 0 && has_both && !strikes.at_work ? world.servers() : world.clients();
    may_.length = {sim::Duration::zero(), sim::Duration::microseconds(5)};
    may_.pauses_work_alone = strikes.at_work;
    may_.pauses = strikes.pauses * ((has_both || strikes.at_work) && seed % 5 == 0 ? 2 : 1);
    may_.crashes = strikes.crashes * (has_both && seed % 7 == 0 ? 2 : 1);
    may_.losses = strikes.losses * (seed % 3 == 0 ? 2 : 1);
    may_.delays = strikes.delays * (seed % 3 == 0 ? 2 : 1);
    may_.partitions = strikes.partitions * (seed % 5 == 0 ? 2 : 1);
    const bool has_another = strikes.losses + strikes.delays + strikes.partitions > 0;
    if ((has_both || has_another) && seed % 3 != 0)
      may_.restart_after = {sim::Duration::zero(), sim::Duration::microseconds(2)};
  }

  static constexpr Size size_of(const Strikes& strikes) {
    Size size{.servers = 2, .processes = 4, .puts = 4, .steps = 3, .latency_us = 3, .describes = true};
    const bool has_more = strikes.crashes + strikes.losses + strikes.delays + strikes.partitions > 0;
    if (strikes.at_work && !has_more) return {2, 5, 6, 5, 4, true};
    if (strikes.pauses > 0 && !has_more) size.latency_us = 4;
    if (strikes.at_work || !has_more) size.steps = 4;
    return size;
  }

  std::vector<FaultBudget> budgets() const {
    using Kind = ExploredFault::Kind;
    std::vector<FaultBudget> budgets;
    const auto add = [&](Kind kind, std::uint32_t times, const std::vector<sim::ProcessId>& who) {
      if (times == 0) return;
      FaultBudget& budget = budgets.emplace_back();
      budget.kind = kind;
      budget.times = times;
      budget.who = who;
      if (lasts(kind)) budget.range = may_.length;
      if (may_come_back(kind)) budget.restart_after = may_.restart_after;
      if (freezes(kind) && may_.pauses_work_alone) budget.during = sim::Activity::work;
      if (cuts_off(kind)) budget.sides = may_.sides;
    };
    add(Kind::crash, may_.crashes, may_.who);
    add(Kind::pause, may_.pauses, may_.who);
    add(Kind::lose, may_.losses, may_.clients);
    add(Kind::delay, may_.delays, may_.clients);
    add(Kind::partition, may_.partitions, may_.clients);
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
  DrawnFaults::May may_;
};

inline bool has_all(const std::set<std::string>& outcomes, const std::set<std::string>& of) {
  return std::includes(outcomes.begin(), outcomes.end(), of.begin(), of.end());
}

}  // namespace lockstep::checker::toy
