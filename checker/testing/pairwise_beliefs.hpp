#pragma once

// Properties as they are defined: every pair of waits, of holds, of a free lock and a wait is looked at. Too slow for long
// runs, so only tests ask these; what judges runs has to give the same findings, to the last letter.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "checker/properties/belief/progress.hpp"
#include "checker/properties/belief/wait_for.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/properties/time_spans.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker::pairwise {

/// The pauses of a process, by their beginning.
inline std::vector<sim::Interruption> pauses_of(const sim::History& history, sim::ProcessId process) {
  std::vector<sim::Interruption> pauses;
  for (const sim::Interruption& i : history.interruptions) {
    if (freezes(i.kind) && i.process == process) pauses.push_back(i);
  }
  std::sort(pauses.begin(), pauses.end(), [](const sim::Interruption& a, const sim::Interruption& b) {
    return std::pair(a.from.offset(), a.step) < std::pair(b.from.offset(), b.step);
  });
  return pauses;
}

/// A deadline in a pause is noticed when the pause ends, unless the next one begins there.
inline std::optional<Ending> noticed_deadline(const Belief& belief, const std::vector<sim::Interruption>& pauses) {
  std::optional<Ending> noticed = belief.deadline;
  for (const sim::Interruption& pause : pauses) {
    if (!noticed || compare(noticed->at, pause.from) < 0) break;
    if (pause.until && compare(noticed->at, *pause.until) >= 0) continue;
    if (pause.until) {
      noticed = Ending{*pause.until, pause.step};
    } else {
      noticed.reset();
    }
  }
  return noticed;
}

inline OwnershipInterval resolve(const Belief& belief, const std::vector<sim::Interruption>& pauses) {
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
  end_by(BeliefEnd::deadline, pairwise::noticed_deadline(belief, pauses));
  return interval;
}

inline std::vector<OwnershipInterval> ownership_intervals(const sim::History& history) {
  std::vector<OwnershipInterval> intervals;
  for (const Belief& belief : collect_beliefs(history))
    intervals.push_back(pairwise::resolve(belief, pauses_of(history, belief.process)));
  return intervals;
}

inline std::vector<TimeSpan> running(const sim::History& history, sim::ProcessId process, TimeSpan whole) {
  std::vector<TimeSpan> left{whole};
  for (const sim::Interruption& pause : history.interruptions) {
    if (!freezes(pause.kind) || pause.process != process) continue;
    const sim::Duration from = pause.from.offset();
    const sim::Duration until = pause.until ? pause.until->offset() : sim::Duration::forever();
    std::vector<TimeSpan> rest;
    for (const TimeSpan& span : left) {
      if (span.from < from) rest.push_back({span.from, std::min(span.to, from)});
      if (until < span.to) rest.push_back({std::max(span.from, until), span.to});
    }
    left = std::move(rest);
  }
  return left;
}

inline WaitInterval interval_of(const Waits& waits, const Wait& wait) {
  const Want& want = waits.wants[wait.want];
  const Belief& hold = waits.holds[wait.hold];
  WaitInterval interval{compare(want.from, hold.from) < 0 ? hold.from : want.from, {}};
  for (const std::optional<Ending>& ending : {want.until, end_by_event(hold), hold.deadline}) {
    if (ending && (!interval.to || compare(ending->at, *interval.to) < 0)) interval.to = ending->at;
  }
  return interval;
}

inline bool has_wait_for_cycle(const std::vector<WaitFor>& edges) { return !wait_for_cycles(edges, 1).cycles.empty(); }

namespace waits {

struct TimedWait {
  Wait wait;
  WaitInterval interval;
};

inline std::vector<TimedWait> timed(const Waits& waits) {
  std::vector<TimedWait> list;
  for (const Wait& wait : waits.possible) {
    const WaitInterval interval = interval_of(waits, wait);
    if (!interval.to || compare(interval.from, *interval.to) < 0) list.push_back({wait, interval});
  }
  return list;
}

/// Who waits from `moment` on for `length`.
inline std::vector<Wait> lasting_waits(const std::vector<TimedWait>& list, sim::Instant moment, sim::Duration length) {
  std::vector<Wait> some;
  for (const TimedWait& wait : list) {
    if (wait.interval.lasts(moment, length)) some.push_back(wait.wait);
  }
  return some;
}

/// The beginning of the first circle that lasts so long: a circle begins when the last of its waits does.
inline std::optional<sim::Instant> first_circle(const Waits& waits, const std::vector<TimedWait>& list,
                                                sim::Duration length) {
  std::optional<sim::Instant> first;
  for (const TimedWait& last : list) {
    const sim::Instant begin = last.interval.from;
    if (first && compare(begin, *first) >= 0) continue;
    if (has_wait_for_cycle(edges_of(waits, lasting_waits(list, begin, length)))) first = begin;
  }
  return first;
}

inline Finding violated(const sim::History& history, const Names& names, const Waits& waits,
                        const std::vector<Wait>& lasting, sim::Instant at) {
  Finding finding{.property = "no-deadlock", .view = View::belief, .verdict = Verdict::violated};
  const WaitCycles cycles = wait_for_cycles(edges_of(waits, lasting));
  finding.by = cycles.cycles.front();
  finding.at = at;
  for (std::size_t i = 0; i < finding.by.size(); ++i) {
    const sim::ProcessId next = finding.by[(i + 1) % finding.by.size()];
    const Wait& reason = *std::find_if(lasting.begin(), lasting.end(), [&](const Wait& wait) {
      return waits.waiter(wait) == finding.by[i] && waits.holder(wait) == next;
    });
    const Want& want = waits.wants[reason.want];
    const sim::Operation& hold = *find_operation(history, waits.holds[reason.hold].acquire);
    finding.evidence.insert(finding.evidence.end(), {want.from_step, hold.completed_in});
    if (!finding.why.empty()) finding.why += "; ";
    finding.why += sentence_of({want.process, next, std::string(want.object)}, names);
  }
  std::sort(finding.evidence.begin(), finding.evidence.end());
  finding.evidence.erase(std::unique(finding.evidence.begin(), finding.evidence.end()), finding.evidence.end());
  if (const std::size_t others = cycles.cycles.size() - 1; others > 0) {
    finding.why +=
        fmt::format("; and {}{}", cycles.all ? "" : "more than ", counted(others, "other circle", "other circles"));
  }
  return finding;
}

inline Finding no_deadlock(const sim::History& history, const Names& names, sim::Duration lasting) {
  const Waits waits = collect_waits(history);
  const std::vector<TimedWait> list = timed(waits);
  if (const std::optional<sim::Instant> begin = first_circle(waits, list, lasting)) {
    const sim::Instant at = *begin + lasting;
    Finding finding = violated(history, names, waits, lasting_waits(list, *begin, lasting), at);
    if (lasting > sim::Duration::zero()) finding.why += fmt::format("; for {} or longer", sim::to_string(lasting));
    // An end at this very moment is no end yet where the circle has to last up to it.
    finding.waits = edges_of(waits, lasting_waits(list, *begin, lasting));
    for (const WaitFor& wait : edges_of(waits, lasting_waits(list, at, sim::Duration::zero()))) {
      finding.waits.push_back(wait);
    }
    std::sort(finding.waits.begin(), finding.waits.end());
    finding.waits.erase(std::unique(finding.waits.begin(), finding.waits.end()), finding.waits.end());
    return finding;
  }
  Finding finding{.property = "no-deadlock", .view = View::belief, .verdict = Verdict::holds};
  if (list.empty()) {
    finding.why = "nobody waits for a lock that is held";
  } else if (first_circle(waits, list, sim::Duration::zero())) {
    finding.why = fmt::format("no circle of waits lasts {}: leases or patience run out first", sim::to_string(lasting));
  } else {
    finding.why = counted(list.size(), "wait", "waits") + " for a lock that is held, none of them in a circle";
  }
  return finding;
}
}  // namespace waits

namespace tries {

using sim::Duration;

class Judge {
 public:
  Judge(const sim::History& history, const Names& names, const ProgressQuestion& question)
      : history_(history), names_(names), question_(question), beliefs_(pairwise::ownership_intervals(history)) {
    collect_tries(history.operations, history.interruptions, question.attempts, tries_);
  }

  Finding judge() {
    for (const OwnershipInterval& belief : beliefs_) {
      const Duration to = belief.is_empty() ? belief.from.offset() : end_of(belief.to);
      grants_[belief.object].push_back({belief.from.offset(), to});
    }
    for (auto& [object, grants] : grants_) {
      std::sort(grants.begin(), grants.end(), [](const TimeSpan& a, const TimeSpan& b) { return a.from < b.from; });
      for (std::size_t i = 1; i < grants.size(); ++i) grants[i].to = std::max(grants[i].to, grants[i - 1].to);
    }
    for (const Try& one : tries_) {
      const std::vector<TimeSpan>& grants = grants_[one.object];
      const TimeSpan whole{one.from.offset(), end_of(one.until ? std::optional(one.until->at) : std::nullopt)};
      for (const TimeSpan& span : pairwise::running(history_, one.process, whole)) {
        // The pieces between the moments at which somebody gets it.
        TimeSpan piece{span.from, span.from};
        for (std::size_t next = begun_by(grants, span.from); next < grants.size(); ++next) {
          const Duration grant = grants[next].from;
          if (grant == piece.from) continue;
          if (grant >= span.to) break;
          piece.to = grant;
          look(one, piece);
          piece.from = grant;
        }
        piece.to = span.to;
        look(one, piece);
      }
    }
    return conclusion();
  }

 private:
  Duration end_of(const std::optional<sim::Instant>& at) const { return end_or_never(at, question_.end); }

  /// How many of them begin by this moment.
  static std::size_t begun_by(const std::vector<TimeSpan>& grants, Duration moment) {
    return static_cast<std::size_t>(
        std::upper_bound(grants.begin(), grants.end(), moment,
                         [](Duration at, const TimeSpan& grant) { return at < grant.from; }) -
        grants.begin());
  }

  /// In the piece `one` tries and runs, and nobody gets the lock.
  void look(const Try& one, TimeSpan piece) {
    const std::vector<TimeSpan>& grants = grants_[one.object];
    const std::size_t begun = begun_by(grants, piece.from);
    const Duration free_from = begun == 0 ? piece.from : std::max(piece.from, grants[begun - 1].to);
    const Duration length = piece.to - free_from;
    if (length > longest_ && (one.attempts > 1 || !one.is_successful)) longest_ = length;
    if (length > question_.within) blame(one, {free_from, piece.to}, nullptr);
    if (piece.length() <= question_.within) return;
    for (const OwnershipInterval& belief : beliefs_) {
      if (belief.object != one.object || belief.from.offset() > piece.from || belief.is_empty()) continue;
      const Duration to = end_of(belief.to);
      const TimeSpan both{piece.from, std::min(piece.to, to)};
      if (both.length() <= Duration::zero()) continue;
      for (const TimeSpan& held : pairwise::running(history_, belief.process, both)) {
        if (held.length() > question_.within) blame(one, held, &belief);
      }
    }
  }

  void blame(const Try& one, TimeSpan span, const OwnershipInterval* holder) {
    const sim::Instant at = sim::Instant::at(span.from + question_.within);
    if (found_.verdict == Verdict::violated && compare(at, *found_.at) >= 0) return;
    found_.verdict = Verdict::violated;
    found_.at = at;
    found_.by.clear();
    const std::string tries = fmt::format("{} has tried since {}", name_of(names_, one.process), time_text(one.from));
    const std::string allowed = sim::to_string(question_.within);
    const std::string since = time_text(sim::Instant::at(span.from));
    if (holder != nullptr) {
      found_.by.push_back(holder->process);
      found_.evidence = sorted_evidence({one.from_step, holder->from_step});
      found_.why = fmt::format("{}, and from {} on {} held it for longer than {}", tries, since,
                               name_of(names_, holder->process), allowed);
    } else {
      found_.evidence = sorted_evidence({one.from_step});
      found_.why = fmt::format("{}, and from {} on nobody held it for longer than {}", tries, since, allowed);
    }
    if (holder == nullptr || holder->process != one.process) found_.by.push_back(one.process);
  }

  Finding conclusion() {
    if (found_.verdict == Verdict::violated) return found_;
    found_.verdict = Verdict::holds;
    const bool in_vain =
        std::any_of(tries_.begin(), tries_.end(), [](const Try& t) { return t.attempts > 1 || !t.is_successful; });
    if (tries_.empty()) {
      found_.why = "nobody tried";
    } else if (!in_vain) {
      found_.why = "nobody waited";
    } else {
      found_.why = fmt::format("nobody tried for longer than {} while nobody held it ({} allowed)",
                               sim::to_string(longest_), sim::to_string(question_.within));
    }
    return found_;
  }

  const sim::History& history_;
  const Names& names_;
  const ProgressQuestion& question_;
  std::vector<OwnershipInterval> beliefs_;
  std::vector<Try> tries_;
  std::map<std::string_view, std::vector<TimeSpan>>
      grants_;  ///< by their beginning, each to when it and all before it are over
  Duration longest_;
  Finding found_{.property = "progress", .view = View::belief, .verdict = Verdict::unknown};
};

inline Finding progress(const sim::History& history, const Names& names, const ProgressQuestion& question) {
  return Judge(history, names, question).judge();
}

}  // namespace tries

namespace places {

/// Who holds the object: of each process the belief that began first.
inline std::vector<const OwnershipInterval*> holders_of(std::string_view object,
                                                        const std::vector<const OwnershipInterval*>& active) {
  std::vector<const OwnershipInterval*> holders;
  for (const OwnershipInterval* interval : active) {
    if (interval->object != object) continue;
    const auto is_same = [&](const OwnershipInterval* other) { return other->process == interval->process; };
    if (std::none_of(holders.begin(), holders.end(), is_same)) holders.push_back(interval);
  }
  return holders;
}

inline Finding violated(const std::vector<const OwnershipInterval*>& holders, sim::Instant moment, const Names& names,
                        std::int64_t places) {
  Finding finding{.property = "capacity", .view = View::belief, .verdict = Verdict::violated};
  finding.at = moment;
  std::string who;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    const OwnershipInterval& holder = *holders[i];
    finding.by.push_back(holder.process);
    finding.evidence.push_back(holder.from_step);
    if (i != 0) who += i + 1 == holders.size() ? " and " : ", ";
    who += fmt::format("{} (since {})", name_of(names, holder.process), time_text(holder.from));
  }
  std::sort(finding.evidence.begin(), finding.evidence.end());
  finding.why = fmt::format("{} all believed at {} to hold one of {}", who, time_text(moment),
                            counted(static_cast<std::size_t>(places), "place", "places"));
  return finding;
}

inline Finding capacity(const sim::History& history, const Names& names, std::int64_t places) {
  std::vector<OwnershipInterval> intervals = pairwise::ownership_intervals(history);
  const std::size_t holds = intervals.size();
  std::erase_if(intervals, [](const OwnershipInterval& i) { return i.is_empty(); });
  std::sort(intervals.begin(), intervals.end(), [](const OwnershipInterval& a, const OwnershipInterval& b) {
    return std::tuple(a.from.offset(), a.acquire) < std::tuple(b.from.offset(), b.acquire);
  });

  std::size_t most = 0;
  std::vector<const OwnershipInterval*> active;
  for (const OwnershipInterval& next : intervals) {
    std::erase_if(active, [&](const OwnershipInterval* i) { return !i->contains(next.from); });
    active.push_back(&next);
    const std::vector<const OwnershipInterval*> holders = holders_of(next.object, active);
    most = std::max(most, holders.size());
    if (holders.size() > static_cast<std::size_t>(places)) return violated(holders, next.from, names, places);
  }

  Finding finding{.property = "capacity", .view = View::belief, .verdict = Verdict::holds};
  finding.why = holds == 0 ? "nobody ever got a place"
                           : fmt::format("{}, never more than {} at once", counted(holds, "hold", "holds"), most);
  return finding;
}
}  // namespace places

namespace overlaps {

constexpr std::string_view kMutualExclusion = "mutual-exclusion";
using Intervals = std::span<const OwnershipInterval>;

inline sim::Duration end_of(const OwnershipInterval& i) { return i.to ? i.to->offset() : sim::Duration::forever(); }

struct Overlap {
  const OwnershipInterval* first = nullptr;
  const OwnershipInterval* second = nullptr;
  std::vector<sim::ProcessId> bystanders;  ///< who else believed so at that moment

  auto key() const { return std::tuple(second->from.offset(), first->acquire, second->acquire); }
};

/// All that happens at the moment of an object's first overlap: the pair with the smallest ids, and the others.
/// Until then only one process believed, so this is done once per object.
inline Overlap first_overlap_at(Intervals sorted, sim::Instant moment) {
  std::vector<const OwnershipInterval*> active;
  for (const OwnershipInterval& i : sorted) {
    if (i.contains(moment)) active.push_back(&i);
  }
  Overlap best;
  for (std::size_t s = 0; s < active.size(); ++s) {
    if (active[s]->from.offset() != moment.offset()) continue;
    for (std::size_t f = 0; f < s; ++f) {
      if (active[f]->process == active[s]->process || (active[f]->is_shared && active[s]->is_shared)) continue;
      const Overlap candidate{active[f], active[s], {}};
      if (best.first == nullptr || candidate.key() < best.key()) best = candidate;
    }
  }
  for (const OwnershipInterval* i : active) {
    if (i->process != best.first->process && i->process != best.second->process) best.bystanders.push_back(i->process);
  }
  std::sort(best.bystanders.begin(), best.bystanders.end());
  best.bystanders.erase(std::unique(best.bystanders.begin(), best.bystanders.end()), best.bystanders.end());
  return best;
}

/// Where some share the lock, the latest end does not decide: each pair is looked at. The closest distance is of
/// exclusive ones.
inline std::optional<Overlap> first_overlap_among_sharers(Intervals sorted) {
  for (std::size_t s = 1; s < sorted.size(); ++s) {
    for (std::size_t f = 0; f < s; ++f) {
      const OwnershipInterval& a = sorted[f];
      const OwnershipInterval& b = sorted[s];
      if (a.process == b.process || (a.is_shared && b.is_shared) || !a.contains(b.from)) continue;
      return first_overlap_at(sorted, b.from);
    }
  }
  return std::nullopt;
}

inline Finding violated(const Overlap& overlap, const Names& names) {
  const OwnershipInterval& a = *overlap.first;
  const OwnershipInterval& b = *overlap.second;
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

inline Finding mutual_exclusion(const sim::History& history, const Names& names) {
  std::vector<OwnershipInterval> intervals = pairwise::ownership_intervals(history);
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
}  // namespace overlaps

}  // namespace lockstep::checker::pairwise
