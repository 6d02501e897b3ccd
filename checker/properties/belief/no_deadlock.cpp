#include "checker/properties/belief/no_deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"

namespace lockstep::checker {
namespace {

/// From when to when somebody wants a lock, or has it.
struct Stay {
  sim::ProcessId process;
  std::string_view object;
  WaitInterval interval;
};

std::vector<Stay> wants_of(const Waits& waits) {
  std::vector<Stay> stays;
  for (const Want& want : waits.wants)
    stays.push_back(
        {want.process, want.object, {want.from, want.until ? std::optional(want.until->at) : std::nullopt}});
  return stays;
}

std::vector<Stay> holds_of(const Waits& waits) {
  std::vector<Stay> stays;
  for (const Belief& hold : waits.holds) {
    Stay stay{hold.process, hold.object, {hold.from, {}}};
    for (const std::optional<Ending>& ending : {end_by_event(hold), hold.deadline}) {
      if (ending && (!stay.interval.to || compare(ending->at, *stay.interval.to) < 0)) stay.interval.to = ending->at;
    }
    stays.push_back(stay);
  }
  return stays;
}

/// How many pairs of a want and a hold of one lock have a moment in common.
std::size_t waits_counted(const std::vector<Stay>& wants, const std::vector<Stay>& holds) {
  struct Bounds {
    std::vector<sim::Duration> from, to;
  };
  struct Both {
    Bounds wants, holds;
  };
  std::map<std::string_view, Both> of_object;
  const auto note = [](Bounds& bounds, const WaitInterval& interval) {
    if (interval.to && compare(interval.from, *interval.to) >= 0) return;
    bounds.from.push_back(interval.from.offset());
    bounds.to.push_back(interval.to ? interval.to->offset() : sim::Duration::forever());
  };
  for (const Stay& want : wants) note(of_object[want.object].wants, want.interval);
  for (const Stay& hold : holds) note(of_object[hold.object].holds, hold.interval);
  std::size_t count = 0;
  for (auto& [object, both] : of_object) {
    count += both.wants.from.size() * both.holds.from.size();
    for (auto* bounds : {&both.wants, &both.holds}) {
      std::sort(bounds->from.begin(), bounds->from.end());
      std::sort(bounds->to.begin(), bounds->to.end());
    }
    // All but those of which one is over when the other begins.
    const auto over_before = [](const Bounds& ended, const Bounds& begun) {
      std::size_t pairs = 0, over = 0;
      for (const sim::Duration from : begun.from) {
        while (over < ended.to.size() && ended.to[over] <= from) ++over;
        pairs += over;
      }
      return pairs;
    };
    count -= over_before(both.wants, both.holds) + over_before(both.holds, both.wants);
  }
  return count;
}

/// Who wants what, and who has it, at a moment of the sweep.
class WaitersAndHolders {
 public:
  void want(const Stay& want) { ++wanted_[want.process][want.object]; }
  void hold(const Stay& hold) { ++holders_[hold.object][hold.process]; }
  void end_want(const Stay& want) { take_one(wanted_[want.process], want.object); }
  void end_hold(const Stay& hold) { take_one(holders_[hold.object], hold.process); }

  /// Whether this process waits, directly or through others, for itself because of what it has or wants here.
  bool is_circle_through(sim::ProcessId process, std::string_view object) {
    std::set<sim::ProcessId> seen_processes;
    std::set<std::string_view> seen_objects{object};
    std::vector<std::string_view> open{object};
    while (!open.empty()) {
      const auto holders = holders_.find(open.back());
      open.pop_back();
      if (holders == holders_.end()) continue;
      for (const auto& [holder, times] : holders->second) {
        if (holder == process) return true;
        if (!seen_processes.insert(holder).second) continue;
        const auto wanted = wanted_.find(holder);
        if (wanted == wanted_.end()) continue;
        for (const auto& [next, attempts] : wanted->second) {
          if (seen_objects.insert(next).second) open.push_back(next);
        }
      }
    }
    return false;
  }
  /// What a process wants now.
  std::vector<std::string_view> wanted_by(sim::ProcessId process) const {
    std::vector<std::string_view> objects;
    const auto wanted = wanted_.find(process);
    if (wanted == wanted_.end()) return objects;
    for (const auto& [object, times] : wanted->second) objects.push_back(object);
    return objects;
  }

 private:
  template <class Counts, class Key>
  static void take_one(Counts& counts, const Key& key) {
    const auto one = counts.find(key);
    if (--one->second == 0) counts.erase(one);
  }

  std::map<sim::ProcessId, std::map<std::string_view, std::size_t>> wanted_;
  std::map<std::string_view, std::map<sim::ProcessId, std::size_t>> holders_;
};

/// The beginning of the first circle that lasts so long: a circle begins when the last of its wants and holds does. So
/// a sweep over the beginnings asks of each whether it closes one. Until the first there is none: a question takes as
/// long as the chain of those for whom he waits who begins.
std::optional<sim::Instant> first_circle(const std::vector<Stay>& wants, const std::vector<Stay>& holds,
                                         sim::Duration length) {
  struct Begun {
    const Stay* stay;
    bool is_want;
  };
  std::vector<Begun> stays;
  // Of those that last so long at all.
  for (const auto* list : {&wants, &holds}) {
    for (const Stay& stay : *list) {
      if (stay.interval.lasts(stay.interval.from, length)) stays.push_back({&stay, list == &wants});
    }
  }
  const auto from_of = [](const Begun& begun) { return begun.stay->interval.from.offset(); };
  std::sort(stays.begin(), stays.end(), [&](const Begun& a, const Begun& b) { return from_of(a) < from_of(b); });
  // By when they end; what never does is not among them.
  const auto ends_later = [&](std::size_t a, std::size_t b) {
    return compare(*stays[a].stay->interval.to, *stays[b].stay->interval.to) > 0;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(ends_later)> ends(ends_later);
  WaitersAndHolders now;
  for (std::size_t begin = 0, end = 0; begin < stays.size(); begin = end) {
    const sim::Instant moment = stays[begin].stay->interval.from;
    for (; !ends.empty() && !stays[ends.top()].stay->interval.lasts(moment, length); ends.pop()) {
      const auto& [stay, is_want] = stays[ends.top()];
      is_want ? now.end_want(*stay) : now.end_hold(*stay);
    }
    for (; end < stays.size() && from_of(stays[end]) == moment.offset(); ++end) {
      const auto& [stay, is_want] = stays[end];
      is_want ? now.want(*stay) : now.hold(*stay);
      if (stay->interval.to) ends.push(end);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const auto& [stay, is_want] = stays[i];
      if (is_want) {
        if (now.is_circle_through(stay->process, stay->object)) return moment;
        continue;
      }
      // Whoever has got a lock may want another already.
      for (const std::string_view wanted : now.wanted_by(stay->process)) {
        if (now.is_circle_through(stay->process, wanted)) return moment;
      }
    }
  }
  return std::nullopt;
}

/// Who waits from `moment` on for `length`: by waiter, holder, want and hold.
std::vector<Wait> lasting_waits(const Waits& waits, const std::vector<Stay>& wants, const std::vector<Stay>& holds,
                                sim::Instant moment, sim::Duration length) {
  std::map<std::string_view, std::vector<std::size_t>> held;
  for (std::size_t h = 0; h < holds.size(); ++h) {
    if (holds[h].interval.lasts(moment, length)) held[holds[h].object].push_back(h);
  }
  std::vector<Wait> some;
  for (std::size_t w = 0; w < wants.size(); ++w) {
    if (!wants[w].interval.lasts(moment, length)) continue;
    const auto here = held.find(wants[w].object);
    if (here == held.end()) continue;
    for (const std::size_t h : here->second) some.push_back({w, h});
  }
  std::sort(some.begin(), some.end(), [&](const Wait& a, const Wait& b) {
    return std::tuple(waits.waiter(a), waits.holder(a), a.want, a.hold) <
           std::tuple(waits.waiter(b), waits.holder(b), b.want, b.hold);
  });
  return some;
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
  const Waits waits{collect_wants(history), collect_beliefs(history), {}};
  const std::vector<Stay> wants = wants_of(waits);
  const std::vector<Stay> holds = holds_of(waits);
  if (const std::optional<sim::Instant> begin = first_circle(wants, holds, lasting)) {
    const sim::Instant at = *begin + lasting;
    Finding finding = violated(history, names, waits, lasting_waits(waits, wants, holds, *begin, lasting), at);
    if (lasting > sim::Duration::zero()) finding.why += fmt::format("; for {} or longer", sim::to_string(lasting));
    // An end at this very moment is no end yet where the circle has to last up to it.
    finding.waits = edges_of(waits, lasting_waits(waits, wants, holds, *begin, lasting));
    for (const WaitFor& wait : edges_of(waits, lasting_waits(waits, wants, holds, at, sim::Duration::zero()))) {
      finding.waits.push_back(wait);
    }
    std::sort(finding.waits.begin(), finding.waits.end());
    finding.waits.erase(std::unique(finding.waits.begin(), finding.waits.end()), finding.waits.end());
    return finding;
  }
  Finding finding{.property = "no-deadlock", .view = View::belief, .verdict = Verdict::holds};
  const std::size_t count = waits_counted(wants, holds);
  if (count == 0) {
    finding.why = "nobody waits for a lock that is held";
  } else if (first_circle(wants, holds, sim::Duration::zero())) {
    finding.why = fmt::format("no circle of waits lasts {}: leases or patience run out first", sim::to_string(lasting));
  } else {
    finding.why = counted(count, "wait", "waits") + " for a lock that is held, none of them in a circle";
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
      .is_seen = [](const OrderedHistory& history) { return has_operation(history, "acquire"); },
      .unseen = "nobody asked for a lock",
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
