#include "checker/properties/belief/no_deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"

namespace lockstep::checker {
namespace {

struct TimedWait {
  Wait wait;
  WaitInterval interval;
};

std::vector<TimedWait> timed(const Waits& waits) {
  std::vector<TimedWait> list;
  for (const Wait& wait : waits.possible) {
    const WaitInterval interval = interval_of(waits, wait);
    if (!interval.to || compare(interval.from, *interval.to) < 0) list.push_back({wait, interval});
  }
  return list;
}

/// Who waits from `moment` on for `length`.
std::vector<Wait> lasting_waits(const std::vector<TimedWait>& list, sim::Instant moment, sim::Duration length) {
  std::vector<Wait> some;
  for (const TimedWait& wait : list) {
    if (wait.interval.lasts(moment, length)) some.push_back(wait.wait);
  }
  return some;
}

/// The beginning of the first circle that lasts so long: a circle begins when the last of its waits does.
std::optional<sim::Instant> first_circle(const Waits& waits, const std::vector<TimedWait>& list, sim::Duration length) {
  std::optional<sim::Instant> first;
  for (const TimedWait& last : list) {
    const sim::Instant begin = last.interval.from;
    if (first && compare(begin, *first) >= 0) continue;
    if (has_wait_for_cycle(edges_of(waits, lasting_waits(list, begin, length)))) first = begin;
  }
  return first;
}

Finding violated(const sim::History& history, const Names& names, const Waits& waits, const std::vector<Wait>& lasting,
                 sim::Instant at) {
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

}  // namespace

Finding no_deadlock(const sim::History& history, const Names& names, sim::Duration lasting) {
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

Property entries::no_deadlock() {
  return {
      .name = "no-deadlock",
      .view = View::belief,
      .meaning = "No circle of clients, of which each waits for a lock that the next one holds, lasts.",
      .meaning_zh = "不会出现持续的环路：其中每个客户端都在等待下一个客户端持有的锁。",
      .question = "Did clients wait in a circle, each for a lock that the next one held, and go on waiting?",
      .decided_by = DecidedBy::lengths,
      .needs_a_holder = false,
      .why_not_judged = [](const Circumstances& story) -> std::string_view {
        return !story.takes_several_locks ? "no client of this story takes several locks" : "";
      },
      .judge = [](const JudgedRun& run) { return checker::no_deadlock(run.story, run.names, run.deadlock_lasting); },
      .headline = [](const BothLanguages& by, std::size_t count) -> BothLanguages {
        if (count == 1) return {by.en + " waits for a lock that it holds itself", by.zh + " 在等待自己持有的锁"};
        return {by.en + (count == 2 ? " wait for each other" : " wait for each other in a circle"),
                by.zh + " 互相等待"};
      }};
}

}  // namespace lockstep::checker
