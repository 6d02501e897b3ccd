#include "checker/properties/belief/capacity.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"

namespace lockstep::checker {
namespace {

/// Who holds the object: of each process the belief that began first.
std::vector<const OwnershipInterval*> holders_of(std::string_view object,
                                                 const std::vector<const OwnershipInterval*>& active) {
  std::vector<const OwnershipInterval*> holders;
  for (const OwnershipInterval* interval : active) {
    if (interval->object != object) continue;
    const auto is_same = [&](const OwnershipInterval* other) { return other->process == interval->process; };
    if (std::none_of(holders.begin(), holders.end(), is_same)) holders.push_back(interval);
  }
  return holders;
}

Finding violated(const std::vector<const OwnershipInterval*>& holders, sim::Instant moment, const Names& names,
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

}  // namespace

Finding capacity(const sim::History& history, const Names& names, std::int64_t places) {
  std::vector<OwnershipInterval> intervals = ownership_intervals(history);
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
