// A search whose world goes back to saved moments meets the same traces, in the same order, with the same times and constraints, as one that
// runs each of them from its beginning. Likewise a branch, whatever was explored before it.

#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "checker/explorer/branches_ahead.hpp"
#include "checker/testing/toys/begun_branches.hpp"
#include "checker/testing/toys/toy_world.hpp"
#include "sim/coroutines/region.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::explorer_going_back_test {
namespace {

using Kind = ExploredFault::Kind;
using Mutant = SearchMutant;
using sim::Duration;

/// A random world in a region of its own.
class Subject final : public Explorable {
 public:
  Subject(std::uint64_t seed, Explorer& explorer, toy::Size size) : world_(seed, explorer, size) {}
  sim::World& world() override { return world_->world(); }
  void begin() override { world_->begin(); }
  sim::Region* region() override { return world_.region(); }
  const toy::World& toy() const { return *world_; }

 private:
  sim::Restorable<toy::World> world_;
};

std::uint64_t digest_of(sim::Instant instant) {
  return sim::combine64(instant.anchor(), static_cast<std::uint64_t>(instant.offset().count_ns()));
}

/// All that a visitor can know of a trace.
std::uint64_t digest_of(Explorer& explorer, const toy::World& world) {
  std::uint64_t digest = explorer.story_length();
  const auto mix = [&](std::uint64_t more) { digest = sim::combine64(digest, more); };
  for (const ExploredEvent& event : explorer.trace()) {
    for (const std::uint64_t more : {event.id.value, std::uint64_t{event.process.index}, std::uint64_t{event.cause},
                                     digest_of(event.base), digest_of(event.arrived), digest_of(event.at)}) {
      mix(more);
    }
  }
  for (const ExploredFault& fault : explorer.faults()) {
    mix(static_cast<std::uint64_t>(fault.kind) * 8 + static_cast<std::uint64_t>(fault.place));
    mix(sim::combine64(fault.event, fault.emission));
    mix(sim::combine64(digest_of(fault.from), digest_of(fault.until)));
  }
  const DifferenceConstraints& constraints = explorer.constraints();
  for (std::uint32_t i = 0; i < constraints.constraints(); ++i) {
    const Constraint c = constraints.constraint(i);
    mix(sim::combine64(sim::combine64(c.from, c.to), static_cast<std::uint64_t>(c.bound.units())));
  }
  for (const sim::Interruption& interruption : explorer.world().history().interruptions) mix(interruption.step);
  for (const char c : world.outcome()) mix(static_cast<unsigned char>(c));
  return digest;
}

struct Found {
  std::vector<std::uint64_t> traces;
  ExplorerCounts counts;

  bool operator==(const Found& other) const {
    return traces == other.traces && counts.traces == other.counts.traces && counts.blocked == other.counts.blocked &&
           counts.infeasible == other.counts.infeasible && counts.events == other.counts.events &&
           counts.complete == other.counts.complete;
  }
};

/// At most so many traces of a world; by `limit` bytes its region is full.
constexpr std::uint64_t kTracesMost = 60;

Found explored(std::uint64_t seed, ExplorerOptions options, toy::Size size, std::size_t limit = 0,
               Mutant mutant = Mutant::none) {
  options.max_traces = kTracesMost;
  for (FaultBudget& budget : options.faults) {
    // Clients are numbered first, from 0; the first of them is there in every world.
    budget.who = {sim::ProcessId{0}};
  }
  Explorer explorer(options);
  ExplorerForTests::break_search(explorer, mutant);
  Subject subject(seed, explorer, size);
  if (limit != 0 && subject.region() != nullptr) subject.region()->limit(limit);
  Found found;
  found.counts = explorer.explore(subject, [&](Explorer& at_end) {
    found.traces.push_back(digest_of(at_end, subject.toy()));
    return true;
  });
  return found;
}

/// Likewise, in short branches, of which one of those that can be begun is explored next, by chance.
Found explored_in_branches(std::uint64_t seed, ExplorerOptions options, toy::Size size, std::size_t limit) {
  struct InBranch {
    BranchOutcome outcome;
    std::vector<std::uint64_t> traces;
  };
  for (FaultBudget& budget : options.faults) budget.who = {sim::ProcessId{0}};
  Explorer explorer(options);
  Subject subject(seed, explorer, size);
  if (limit != 0 && subject.region() != nullptr) subject.region()->limit(limit);
  sim::Random random(seed);
  Found found;
  BranchStack stack;
  BranchesAhead<InBranch> ahead;
  BegunBranches begun;
  while (!stack.is_done() && stack.counts().traces < kTracesMost) {
    const std::shared_ptr<Branch> branch = begun.next(ahead, stack, 1 + seed % 4, random);
    InBranch part;
    part.outcome = explorer.explore(subject, *branch, {.traces = 3, .events = 1 + seed % 50}, [&](Explorer& at_end) {
      part.traces.push_back(digest_of(at_end, subject.toy()));
      return true;
    });
    ahead.hand_in(*branch, std::move(part));
    while (std::optional<InBranch> next = ahead.next(stack)) {
      found.traces.insert(found.traces.end(), next->traces.begin(), next->traces.end());
      stack.take_in(std::move(next->outcome));
    }
  }
  found.counts = stack.counts();
  return found;
}

FaultBudget fault(Kind kind) {
  FaultBudget budget;
  budget.kind = kind;
  budget.range = {Duration::microseconds(1), Duration::microseconds(5)};
  if (kind == Kind::crash) budget.restart_after = budget.range;
  return budget;
}

/// What the worlds of a test are like, by turns.
struct Variety {
  ExplorerOptions options;
  toy::Size size;
};
Variety variety(std::uint64_t seed) {
  Variety v;
  v.options.reduction = seed % 5 != 0;
  // Without the reduction a large world has endless traces that are infeasible, and those are not counted.
  if (seed % 2 == 1 && v.options.reduction) {
    v.size = {.servers = 3, .processes = 5, .puts = 5, .steps = 4, .latency_us = 6};
  }
  v.size.describes = seed % 3 == 0;
  switch (seed % 7) {
    case 0: v.options.faults = {fault(Kind::pause)}; break;
    case 1: v.options.faults = {fault(Kind::crash)}; break;
    case 2: v.options.faults = {fault(Kind::lose)}; break;
    case 3: v.options.faults = {fault(Kind::skew)}; break;
    case 4: v.options.faults = {fault(Kind::lose), fault(Kind::pause)}; break;
    default: break;
  }
  return v;
}

const std::uint64_t kWorlds = sim::cases<std::uint64_t>(4'000, 300);

/// Whether it finds the same going back and running again.
template <class Explored>
void compare_with_running_again(const Explored& explored) {
  std::uint64_t traces = 0;
  for (std::uint64_t seed = 0; seed < kWorlds; ++seed) {
    const Variety v = variety(seed);
    ExplorerOptions again = v.options;
    again.goes_back = false;
    const Found with = explored(seed, v.options, v.size);
    const Found without = explored(seed, again, v.size);
    INFO("world " << seed);
    REQUIRE(with == without);
    traces += with.traces.size();
  }
  WARN(traces << " traces");
  CHECK(traces > 10 * kWorlds);
}

}  // namespace

TEST_CASE("explorer: going back gives what running again gives, trace by trace") {
  compare_with_running_again([](std::uint64_t seed, const ExplorerOptions& options, const toy::Size& size) {
    return explored(seed, options, size);
  });
}

TEST_CASE("explorer: a branch that begins where the one before did gives what it gives from its beginning") {
  compare_with_running_again([](std::uint64_t seed, const ExplorerOptions& options, const toy::Size& size) {
    return explored_in_branches(seed, options, size, options.goes_back && seed % 10 == 0 ? 24'000 : 0);
  });
}

TEST_CASE("explorer: a world that outgrows its memory is run again instead") {
  for (std::uint64_t seed = 0; seed < kWorlds / 20; ++seed) {
    const Variety v = variety(seed);
    ExplorerOptions again = v.options;
    again.goes_back = false;
    const Found without = explored(seed, again, v.size);
    INFO("world " << seed);
    for (const std::size_t limit : {1'000, 20'000, 24'000, 30'000}) {
      REQUIRE(explored(seed, v.options, v.size, limit) == without);
    }
  }
}

TEST_CASE("explorer: going back to a moment that is not quite the same is found out") {
  if (sim::Restorable<int>(0).region() == nullptr) return;  // nothing goes back in this build
  for (const Mutant mutant : {Mutant::forget_last}) {
    std::size_t different = 0;
    for (std::uint64_t seed = 0; seed < 200 && different == 0; ++seed) {
      const Variety v = variety(seed);
      if (explored(seed, v.options, v.size, 0, mutant) != explored(seed, v.options, v.size)) ++different;
    }
    CHECK(different > 0);
  }
}

TEST_CASE("explorer: a world that keeps something outside of its memory is found out") {
  if (sim::Restorable<int>(0).region() == nullptr) return;
  /// Counts its beginnings where going back does not see it.
  class Leaking final : public Explorable {
   public:
    explicit Leaking(Explorer& explorer) : world_(7, explorer, toy::Size{}) {}
    sim::World& world() override { return world_->world(); }
    void begin() override {
      ++begun_;
      world_->begin();
    }
    sim::Region* region() override { return world_.region(); }
    std::uint64_t begun() const { return begun_; }

   private:
    sim::Restorable<toy::World> world_;
    std::uint64_t begun_ = 0;
  };
  const auto seen = [](bool goes_back) {
    Explorer explorer({.goes_back = goes_back});
    Leaking subject(explorer);
    std::vector<std::uint64_t> digests;
    explorer.explore(subject, [&](Explorer&) {
      digests.push_back(subject.begun());
      return true;
    });
    return digests;
  };
  CHECK(seen(true) != seen(false));
}

}  // namespace lockstep::checker::explorer_going_back_test
