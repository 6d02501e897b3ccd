#include "checker/properties/belief/mutual_exclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kMutualExclusion = "mutual-exclusion";
using Intervals = std::span<const OwnershipInterval>;

sim::Duration end_of(const OwnershipInterval& i) { return i.to ? i.to->offset() : sim::Duration::forever(); }

struct Overlap {
  const OwnershipInterval* first = nullptr;
  const OwnershipInterval* second = nullptr;
  std::vector<sim::ProcessId> bystanders;  ///< who else believed so at that moment

  auto key() const { return std::tuple(second->from.offset(), first->acquire, second->acquire); }
};

/// Of what is offered, the least, and the least of another process: so the least that is not of a given one.
class LeastOfOthers {
 public:
  void offer(std::int64_t value, const OwnershipInterval& hold) {
    if (hold.process == best_.process || value < best_.value) {
      if (hold.process != best_.process) second_ = best_;
      if (value < best_.value) best_ = {value, hold.process, &hold};
    } else if (value < second_.value) {
      second_ = {value, hold.process, &hold};
    }
  }
  /// Null: there is none.
  const OwnershipInterval* other_than(sim::ProcessId process) const {
    return best_.process == process ? second_.hold : best_.hold;
  }

 private:
  struct Offer {
    std::int64_t value = std::numeric_limits<std::int64_t>::max();
    sim::ProcessId process;
    const OwnershipInterval* hold = nullptr;
  };
  Offer best_, second_;
};

/// The same among those whom a hold must not meet: all, if it is exclusive, and the exclusive ones, if it is shared.
class LeastOfRivals {
 public:
  void offer(std::int64_t value, const OwnershipInterval& hold) {
    all_.offer(value, hold);
    if (!hold.is_shared) exclusive_.offer(value, hold);
  }
  const OwnershipInterval* rival_of(const OwnershipInterval& hold) const {
    return (hold.is_shared ? exclusive_ : all_).other_than(hold.process);
  }

 private:
  LeastOfOthers all_, exclusive_;
};

/// All that happens at the moment of an object's first overlap: the pair with the smallest ids, and the others.
Overlap first_overlap_at(Intervals sorted, sim::Instant moment) {
  std::vector<const OwnershipInterval*> active;
  for (const OwnershipInterval& i : sorted) {
    if (i.contains(moment)) active.push_back(&i);
  }
  Overlap best;
  LeastOfRivals earliest;
  for (const OwnershipInterval* second : active) {
    const OwnershipInterval* first = second->from.offset() == moment.offset() ? earliest.rival_of(*second) : nullptr;
    const Overlap candidate{first, second, {}};
    if (first != nullptr && (best.first == nullptr || candidate.key() < best.key())) best = candidate;
    earliest.offer(static_cast<std::int64_t>(second->acquire), *second);
  }
  for (const OwnershipInterval* i : active) {
    if (i->process != best.first->process && i->process != best.second->process) best.bystanders.push_back(i->process);
  }
  std::sort(best.bystanders.begin(), best.bystanders.end());
  best.bystanders.erase(std::unique(best.bystanders.begin(), best.bystanders.end()), best.bystanders.end());
  return best;
}

/// Where some share the lock, the latest end of all does not decide, but that of those whom a hold must not meet. The
/// closest distance is of exclusive ones.
std::optional<Overlap> first_overlap_among_sharers(Intervals sorted) {
  LeastOfRivals latest;
  for (const OwnershipInterval& next : sorted) {
    const OwnershipInterval* before = latest.rival_of(next);
    if (before != nullptr && before->contains(next.from)) return first_overlap_at(sorted, next.from);
    latest.offer(-end_of(next).count_ns(), next);
  }
  return std::nullopt;
}

Finding violated(const Overlap& overlap, const Names& names) {
  const OwnershipInterval& a = *overlap.first;
  const OwnershipInterval& b = *overlap.second;
  sim::invariant(a.process != b.process && a.object == b.object && !(a.is_shared && b.is_shared),
                 "who must not meet are two, at one lock");
  sim::invariant(a.contains(b.from) && b.contains(b.from), "both believe at the moment that is told");
  Finding finding{.property = kMutualExclusion, .view = View::belief, .verdict = Verdict::violated};
  finding.by = {a.process, b.process};
  finding.at = b.from;
  finding.evidence = sorted_evidence({a.from_step, b.from_step, a.to_step, b.to_step});
  finding.why = fmt::format("{} got the lock at {} while {}, who got it at {}, still believed to hold it ({})",
                            name_of(names, b.process), time_text(b.from), name_of(names, a.process), time_text(a.from),
                            a.to ? "until " + time_text(*a.to) : "and never stopped");
  for (std::size_t i = 0; i < overlap.bystanders.size(); ++i) {
    finding.why += (i == 0 ? "; so did " : ", ") + name_of(names, overlap.bystanders[i]);
  }
  return finding;
}

}  // namespace

Finding mutual_exclusion(const sim::History& history, const Names& names) {
  std::vector<OwnershipInterval> intervals = ownership_intervals(history);
  const std::size_t holds = intervals.size();
  std::erase_if(intervals, [](const OwnershipInterval& i) { return i.is_empty(); });
  std::sort(intervals.begin(), intervals.end(), [](const OwnershipInterval& a, const OwnershipInterval& b) {
    return std::tuple(a.object, a.from.offset(), a.acquire) < std::tuple(b.object, b.from.offset(), b.acquire);
  });

  std::optional<Overlap> earliest;
  std::optional<sim::Duration> closest;
  for (std::size_t begin = 0, end = 0; begin < intervals.size(); begin = end) {
    while (end < intervals.size() && intervals[end].object == intervals[begin].object) ++end;
    const Intervals sorted = Intervals(intervals).subspan(begin, end - begin);
    if (std::any_of(sorted.begin(), sorted.end(), [](const OwnershipInterval& i) { return i.is_shared; })) {
      std::optional<Overlap> overlap = first_overlap_among_sharers(sorted);
      if (overlap && (!earliest || overlap->key() < earliest->key())) earliest = std::move(overlap);
      continue;
    }
    // The latest end decides: had anybody else still believed as well, that overlap would have come first.
    const OwnershipInterval* before = nullptr;
    for (const OwnershipInterval& next : sorted) {
      if (before != nullptr && before->process != next.process) {
        if (!before->to || compare(*before->to, next.from) > 0) {
          Overlap overlap = first_overlap_at(sorted, next.from);
          if (!earliest || overlap.key() < earliest->key()) earliest = std::move(overlap);
          break;
        }
        const sim::Duration gap = next.from.offset() - before->to->offset();
        if (!closest || gap < *closest) closest = gap;
      }
      if (before == nullptr || end_of(next) > end_of(*before)) before = &next;
    }
  }
  if (earliest) return violated(*earliest, names);

  Finding finding{.property = kMutualExclusion, .view = View::belief, .verdict = Verdict::holds};
  if (holds == 0) {
    finding.why = "nobody ever got the lock";
  } else {
    finding.why = counted(holds, "hold", "holds") + ", never two at once";
    if (closest) finding.why += fmt::format("; the closest were {} apart", sim::to_string(*closest));
  }
  return finding;
}

Property entries::mutual_exclusion() {
  return {.name = "mutual-exclusion",
          .view = View::belief,
          .meaning = "No two clients believe at the same moment that they hold the lock.",
          .meaning_zh = "任何时刻都不会有两个客户端同时认为自己持有锁。",
          .question = "Did two clients ever believe at the same time?",
          .why_not_judged = [](const Circumstances& story) -> std::string_view {
            return story.is_semaphore ? "a semaphore lets several in: see capacity" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::mutual_exclusion(run.story, run.names); },
          .headline = [](const BothLanguages& by, std::size_t) -> BothLanguages {
            return {by.en + " hold the lock at once", by.zh + " 同时持有锁"};
          }};
}

}  // namespace lockstep::checker
