#include "checker/properties/ownership.hpp"

#include <algorithm>
#include <iterator>

#include "checker/properties/evidence.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

constexpr std::size_t kNoBelief = static_cast<std::size_t>(-1);

}  // namespace

std::vector<Belief> collect_beliefs(const sim::History& history) {
  std::vector<Belief> beliefs;
  std::vector<std::size_t> belief_of;
  collect_beliefs(history, beliefs, belief_of);
  return beliefs;
}

void collect_beliefs(const sim::History& history, std::vector<Belief>& beliefs, std::vector<std::size_t>& belief_of) {
  beliefs.clear();
  belief_of.assign(history.operations.size() + 1, kNoBelief);
  const Crashes crashes(history.interruptions);

  for (const sim::Operation& operation : history.operations) {
    if (!is_successful(operation, "acquire")) continue;
    Belief belief{.acquire = operation.id,
                  .process = operation.process,
                  .object = operation.object,
                  .from = operation.completed,
                  .from_step = operation.completed_in,
                  .is_shared = operation.is_shared,
                  .released = {},
                  .lost = {},
                  .deadline = {},
                  .crashed = {}};
    if (operation.valid_until) belief.deadline = Ending{*operation.valid_until, sim::no_step};
    // A crash in the very step of the completion comes after it: a process dies at the end of an event.
    if (const sim::Interruption* crash = crashes.first(operation.process, operation.completed_in))
      belief.crashed = Ending{crash->from, crash->step};
    belief_of[operation.id] = beliefs.size();
    beliefs.push_back(belief);
  }

  for (const sim::Operation& operation : history.operations) {
    if (operation.of == 0 || operation.of >= belief_of.size() || belief_of[operation.of] == kNoBelief) continue;
    Belief& belief = beliefs[belief_of[operation.of]];
    const Ending ending{operation.invoked, operation.invoked_in};
    if (operation.function == "release" && !belief.released) belief.released = ending;
    if (operation.function == "lost" && !belief.lost) belief.lost = ending;
  }
  sim::costly_invariant(
      [&] {
        return std::is_sorted(beliefs.begin(), beliefs.end(),
                              [](const Belief& a, const Belief& b) { return a.acquire < b.acquire; });
      },
      "beliefs stand in the order of their acquires");
}

/// A deadline in a pause is noticed when the pause ends.
std::optional<Ending> noticed_deadline(const Belief& belief, std::span<const sim::Interruption> pauses) {
  if (!belief.deadline || pauses.empty()) return belief.deadline;
  const sim::Instant deadline = belief.deadline->at;
  const auto later =
      std::upper_bound(pauses.begin(), pauses.end(), deadline,
                       [](sim::Instant at, const sim::Interruption& pause) { return compare(at, pause.from) < 0; });
  if (later == pauses.begin()) return belief.deadline;
  const sim::Interruption& pause = *std::prev(later);
  if (!pause.until) return std::nullopt;
  return compare(deadline, *pause.until) < 0 ? Ending{*pause.until, pause.step} : *belief.deadline;
}

OwnershipInterval resolve(const Belief& belief, std::span<const sim::Interruption> pauses) {
  OwnershipInterval interval{.acquire = belief.acquire,
                             .process = belief.process,
                             .object = belief.object,
                             .from = belief.from,
                             .from_step = belief.from_step,
                             .to = {},
                             .to_step = sim::no_step,
                             .end = BeliefEnd::never,
                             .is_shared = belief.is_shared};
  const auto end_by = [&interval](BeliefEnd kind, const std::optional<Ending>& ending) {
    if (!ending) return;
    if (interval.to) {
      // Of two events at one moment the process came to one first; a deadline is no event, and comes after them.
      const auto order = compare(ending->at, *interval.to);
      if (order > 0 || (order == 0 && (kind == BeliefEnd::deadline || ending->step >= interval.to_step))) return;
    }
    interval.to = ending->at;
    interval.to_step = ending->step;
    interval.end = kind;
  };
  end_by(BeliefEnd::released, belief.released);
  end_by(BeliefEnd::lost, belief.lost);
  end_by(BeliefEnd::crashed, belief.crashed);
  end_by(BeliefEnd::deadline, noticed_deadline(belief, pauses));
  return interval;
}

std::vector<OwnershipInterval> ownership_intervals(const sim::History& history) {
  const Pauses pauses(history);
  std::vector<OwnershipInterval> intervals;
  for (const Belief& belief : collect_beliefs(history)) intervals.push_back(resolve(belief, pauses.of(belief.process)));
  return intervals;
}

}  // namespace lockstep::checker
