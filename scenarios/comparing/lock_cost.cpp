#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "scenarios/comparing/comparison.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::Effect;
using sim::Instant;
using sim::Operation;
using sim::OperationId;
using sim::Phase;
using sim::ProcessId;

/// One client's wait: from its first attempt of a round to its grant.
struct Wait {
  std::size_t client = 0;
  Instant from;
  std::optional<Instant> until;  ///< nothing: it still waits at the end
};

bool before(Instant a, Instant b) { return a.offset() < b.offset(); }

std::vector<Wait> waits_of(const sim::History& history, std::size_t clients) {
  std::vector<Wait> waits;
  std::vector<std::optional<std::size_t>> open(clients);
  for (const Operation& operation : history.operations) {
    if (operation.process.index >= clients || operation.function != "acquire") continue;
    std::optional<std::size_t>& mine = open[operation.process.index];
    if (!mine) {
      mine = waits.size();
      waits.push_back({operation.process.index, operation.invoked, std::nullopt});
    }
    if (operation.phase != Phase::ok) continue;
    waits[*mine].until = operation.completed;
    mine.reset();
  }
  return waits;
}

/// The value below which `share` percent lie: the nearest rank. Requires: not empty.
Duration percentile(std::vector<Duration> values, std::size_t share) {
  std::sort(values.begin(), values.end());
  const std::size_t rank = (values.size() * share + 99) / 100;
  return values[std::max<std::size_t>(rank, 1) - 1];
}

/// Grants to others who came later, while this one waited.
std::uint64_t most_overtaken(const std::vector<Wait>& waits) {
  std::vector<const Wait*> granted;
  for (const Wait& wait : waits) {
    if (wait.until) granted.push_back(&wait);
  }
  std::sort(granted.begin(), granted.end(), [](const Wait* a, const Wait* b) { return before(*a->until, *b->until); });
  std::uint64_t most = 0;
  for (const Wait& wait : waits) {
    const auto first = std::lower_bound(granted.begin(), granted.end(), wait.from,
                                        [](const Wait* w, Instant at) { return before(*w->until, at); });
    std::uint64_t count = 0;
    for (auto other = first; other != granted.end(); ++other) {
      if (wait.until && !before(*(*other)->until, *wait.until)) break;
      if (before(wait.from, (*other)->from)) ++count;
    }
    most = std::max(most, count);
  }
  return most;
}

std::optional<Duration> handover(const sim::History& history, std::size_t clients, const std::vector<Wait>& waits) {
  std::vector<std::pair<Instant, Instant>> waiting;  // in order of their beginnings
  std::vector<Instant> grants;
  for (const Wait& wait : waits) {
    waiting.emplace_back(wait.from, wait.until.value_or(Instant::at(Duration::forever())));
    if (wait.until) grants.push_back(*wait.until);
  }
  std::sort(grants.begin(), grants.end(), before);
  std::vector<Duration> lengths;
  for (const Operation& operation : history.operations) {
    if (operation.process.index >= clients || operation.function != "release") continue;
    const Instant given = operation.invoked;
    const bool somebody_waits = std::any_of(waiting.begin(), waiting.end(), [&](const auto& wait) {
      return !before(given, wait.first) && before(given, wait.second);
    });
    if (!somebody_waits) continue;
    const auto next = std::upper_bound(grants.begin(), grants.end(), given, before);
    if (next != grants.end()) lengths.push_back(next->offset() - given.offset());
  }
  if (lengths.empty()) return std::nullopt;
  return percentile(std::move(lengths), 50);
}

/// Steps at a server that belong to attempts and changed nothing.
std::uint64_t requests_in_vain(const sim::History& history) {
  std::set<OperationId> acquires;
  for (const Operation& operation : history.operations) {
    if (operation.function == "acquire") acquires.insert(operation.id);
  }
  std::map<sim::Step, bool> changed;
  for (const Effect& effect : history.effects) {
    if (effect.kind == Effect::Kind::expire || acquires.count(effect.operation) == 0) continue;
    changed[effect.step] |= effect.kind != Effect::Kind::read;
  }
  return static_cast<std::uint64_t>(
      std::count_if(changed.begin(), changed.end(), [](const auto& step) { return !step.second; }));
}

}  // namespace

LockCost cost_of(const sim::History& history, std::size_t clients) {
  LockCost cost;
  std::vector<std::uint64_t> shares(clients, 0);
  for (const Operation& operation : history.operations) {
    if (operation.process.index >= clients || operation.function != "acquire") continue;
    if (operation.phase == Phase::ok) {
      ++cost.acquisitions;
      ++shares[operation.process.index];
    } else if (operation.phase != Phase::invoke) {
      ++cost.attempts_in_vain;
    }
  }
  const std::vector<Wait> waits = waits_of(history, clients);
  std::vector<Duration> lengths;
  for (const Wait& wait : waits) {
    if (wait.until) lengths.push_back(wait.until->offset() - wait.from.offset());
  }
  if (!lengths.empty()) {
    cost.waiting_median = percentile(lengths, 50);
    cost.waiting_p99 = percentile(std::move(lengths), 99);
  }
  cost.handover_median = handover(history, clients, waits);
  cost.most_overtaken = most_overtaken(waits);
  cost.requests_in_vain = requests_in_vain(history);
  std::uint64_t squares = 0;
  for (const std::uint64_t share : shares) squares += share * share;
  if (squares > 0) cost.fairness = cost.acquisitions * cost.acquisitions * 1000 / (clients * squares);
  return cost;
}

}  // namespace lockstep::scenarios
