#include "checker/properties/belief/capacity.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

/// Who believes to hold one object: by process, how often; and when the beliefs end, the first on top.
class Holders {
 public:
  void add(const OwnershipInterval& hold) {
    ++count_[hold.process];
    if (hold.to) ends_.emplace(hold.to->offset(), hold.process);
  }
  void leave_until(sim::Instant moment) {
    for (; !ends_.empty() && ends_.top().first <= moment.offset(); ends_.pop()) {
      const auto one = count_.find(ends_.top().second);
      if (--one->second == 0) count_.erase(one);
    }
  }
  std::size_t size() const { return count_.size(); }

 private:
  using End = std::pair<sim::Duration, sim::ProcessId>;
  std::map<sim::ProcessId, std::size_t> count_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

/// Who holds the object at that moment: of each process the belief that began first; of the object of the last.
std::vector<const OwnershipInterval*> holders_at(std::span<const OwnershipInterval> up_to_last, sim::Instant moment) {
  std::vector<const OwnershipInterval*> holders;
  std::set<sim::ProcessId> known;
  for (const OwnershipInterval& interval : up_to_last) {
    if (interval.object != up_to_last.back().object || !interval.contains(moment)) continue;
    if (known.insert(interval.process).second) holders.push_back(&interval);
  }
  return holders;
}

Finding violated(const std::vector<const OwnershipInterval*>& holders, sim::Instant moment, const Names& names,
                 std::int64_t places) {
  sim::invariant(static_cast<std::int64_t>(holders.size()) > places, "more different clients hold it than may");
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

}  // namespace

Finding capacity(const sim::History& history, const Names& names, std::int64_t places) {
  std::vector<OwnershipInterval> intervals = ownership_intervals(history);
  const std::size_t holds = intervals.size();
  std::erase_if(intervals, [](const OwnershipInterval& i) { return i.is_empty(); });
  std::sort(intervals.begin(), intervals.end(), [](const OwnershipInterval& a, const OwnershipInterval& b) {
    return std::tuple(a.from.offset(), a.acquire) < std::tuple(b.from.offset(), b.acquire);
  });

  std::size_t most = 0;
  std::map<std::string_view, Holders> holders;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const OwnershipInterval& next = intervals[i];
    Holders& here = holders[next.object];
    here.leave_until(next.from);
    here.add(next);
    most = std::max(most, here.size());
    if (here.size() <= static_cast<std::size_t>(places)) continue;
    return violated(holders_at(std::span(intervals).first(i + 1), next.from), next.from, names, places);
  }

  Finding finding{.property = "capacity", .view = View::belief, .verdict = Verdict::holds};
  finding.why = holds == 0 ? "nobody ever got a place"
                           : fmt::format("{}, never more than {} at once", counted(holds, "hold", "holds"), most);
  return finding;
}

Property entries::capacity() {
  return {
      .name = "capacity",
      .view = View::belief,
      .meaning = "Never more clients believe at once that they hold a semaphore than it has places.",
      .meaning_zh = "任何时刻认为自己持有信号量的客户端都不会多于它的名额。",
      .question = "Did ever more clients believe to hold a semaphore than it has places?",
      .decided_by = DecidedBy::counts,
      .why_not_judged = [](const Circumstances& story) -> std::string_view {
        return !story.is_semaphore ? "no semaphore in this story" : "";
      },
      .judge = [](const JudgedRun& run) { return checker::capacity(run.story, run.names, run.places.value_or(1)); }};
}

}  // namespace lockstep::checker
