#include "checker/properties/server/no_lost_wakeup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/interruptions.hpp"
#include "checker/properties/lock_objects.hpp"
#include "checker/properties/time_spans.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kNoLostWakeup = "no-lost-wakeup";
using sim::Duration;

struct FreeSpan {
  const sim::Effect* freed;
  TimeSpan span;
};

class Waiting {
 public:
  Waiting(const sim::History& history, const Names& names, const WakeupQuestion& question, const LockObjects& locks)
      : history_(history), names_(names), question_(question), crashes_(history.interruptions), pauses_(history) {
    std::vector<Duration> lengths;
    for (const auto& [freed, taken] : free_times(history.effects, locks, question)) {
      const auto until = taken == nullptr ? Duration::forever() : end_or_never(taken->at, question.end);
      free_.push_back({freed, {freed->at.offset(), until}});
      lengths.push_back(free_.back().span.length());
      if (until == Duration::forever()) break;
    }
    lengths_ = RowOfLengths(std::move(lengths), question.within);
  }

  Finding judge() {
    for (const OpenWait& open : open_waits(history_.operations, history_, question_.object)) {
      const sim::Operation& wait = *open.wait;
      const std::optional<sim::Instant> end = open.until ? open.until : end_of(wait);
      const TimeSpan whole{open.from.offset(), end_or_never(end, question_.end)};
      const auto pauses = pauses_.of(wait.process);
      for (const TimeSpan& span : running(pauses, whole)) look(wait, whole, pauses, span);
    }
    if (finding_.verdict == Verdict::violated) return finding_;
    finding_.verdict = Verdict::holds;
    finding_.why = longest_ == Duration::zero()
                       ? "nobody waited for a lock that was free"
                       : fmt::format("nobody waited longer than {} for a lock that was free", sim::to_string(longest_));
    return finding_;
  }

 private:
  /// When whoever waits stops waiting; nothing: never.
  std::optional<sim::Instant> end_of(const sim::Operation& wait) const {
    if (wait.phase != sim::Phase::invoke) return wait.completed;
    const sim::Interruption* crash = crashes_.first(wait.process, wait.invoked_in);
    return crash == nullptr ? std::nullopt : std::optional(crash->from);
  }

  /// In the span it waits and runs. What is free within it, is waited for as long as it is; of what is too long the
  /// first counts.
  void look(const sim::Operation& wait, TimeSpan whole, std::span<const sim::Interruption> pauses, TimeSpan span) {
    const auto over = std::partition_point(free_.begin(), free_.end(),
                                           [&](const FreeSpan& time) { return time.span.to <= span.from; });
    const auto later =
        std::partition_point(over, free_.end(), [&](const FreeSpan& time) { return time.span.from < span.to; });
    auto first = static_cast<std::size_t>(over - free_.begin());
    auto end = static_cast<std::size_t>(later - free_.begin());
    const auto in_part = [&](const FreeSpan& time) {
      const TimeSpan both{std::max(time.span.from, whole.from), std::min(time.span.to, whole.to)};
      Duration waited;
      for (const TimeSpan& part : running(pauses, both)) waited = waited + part.length();
      note(wait, time, both, waited);
    };
    if (first < end && free_[first].span.from < span.from) in_part(free_[first++]);
    if (first < end && free_[end - 1].span.to > span.to) in_part(free_[--end]);
    longest_ = std::max(longest_, lengths_.longest(first, end));
    const std::size_t beyond = lengths_.first_beyond(first, end);
    if (beyond < end) note(wait, free_[beyond], free_[beyond].span, free_[beyond].span.length());
  }

  void note(const sim::Operation& wait, const FreeSpan& time, TimeSpan both, Duration waited) {
    longest_ = std::max(longest_, waited);
    if (waited <= question_.within) return;
    const sim::Instant at = sim::Instant::at(both.from + question_.within);
    if (finding_.verdict == Verdict::violated && compare(at, *finding_.at) >= 0) return;
    finding_.verdict = Verdict::violated;
    finding_.by = {wait.process};
    finding_.at = at;
    finding_.evidence = sorted_evidence({time.freed->step, wait.invoked_in});
    finding_.why =
        fmt::format("{} waited {} for a lock that was free from {} on ({} allowed)", name_of(names_, wait.process),
                    both.to == Duration::forever() ? "for ever" : sim::to_string(waited), time_text(time.freed->at),
                    sim::to_string(question_.within));
  }

  const sim::History& history_;
  const Names& names_;
  const WakeupQuestion& question_;
  Crashes crashes_;
  Pauses pauses_;
  std::vector<FreeSpan> free_;
  RowOfLengths lengths_;
  Duration longest_;
  Finding finding_{.property = kNoLostWakeup, .view = View::server, .verdict = Verdict::unknown};
};

}  // namespace

std::vector<OpenWait> open_waits(std::span<const sim::Operation> operations, const sim::History& history,
                                 std::string_view lock) {
  std::vector<std::pair<sim::OperationId, std::size_t>> dozes;
  for (std::size_t i = 0; i < history.dozes.size(); ++i) dozes.emplace_back(history.dozes[i].operation, i);
  std::sort(dozes.begin(), dozes.end());
  std::vector<OpenWait> waits;
  auto doze = dozes.begin();
  for (const sim::Operation& wait : operations) {
    if (wait.function != "acquire" || wait.object != lock) continue;
    while (doze != dozes.end() && doze->first < wait.id) ++doze;
    std::optional<sim::Instant> from = wait.invoked;
    for (; doze != dozes.end() && doze->first == wait.id && from; ++doze) {
      waits.push_back({&wait, *from, history.dozes[doze->second].from});
      from = history.dozes[doze->second].until;
    }
    if (from) waits.push_back({&wait, *from, {}});
  }
  return waits;
}

std::vector<FreeTime> free_times(std::span<const sim::Effect> effects, const LockObjects& locks,
                                 const WakeupQuestion& question) {
  std::vector<FreeTime> times;
  std::set<std::string_view> there;
  for (const sim::Effect& effect : effects) {
    if (effect.server != question.server || !locks.contains(question.object, effect.object)) continue;
    const bool was_free = !times.empty() && times.back().taken == nullptr;
    if (effect.kind == sim::Effect::Kind::write) {
      there.insert(effect.object);
      if (was_free) times.back().taken = &effect;
    }
    const bool is_over = effect.kind == sim::Effect::Kind::expire || effect.kind == sim::Effect::Kind::lose;
    const bool is_removed = effect.kind == sim::Effect::Kind::remove;
    if (is_over || is_removed) there.erase(effect.object);
    sim::costly_invariant([&] { return times.size() < 2 || times[times.size() - 2].taken != nullptr; },
                          "a lock is free once at a time");
    if (is_removed && there.empty() && !was_free) times.push_back({&effect, nullptr});
  }
  return times;
}

Finding no_lost_wakeup(const sim::History& history, const Names& names, const WakeupQuestion& question) {
  return no_lost_wakeup(history, names, question, LockObjects(history.operations, history.effects, history));
}

Finding no_lost_wakeup(const sim::History& history, const Names& names, const WakeupQuestion& question,
                       const LockObjects& locks) {
  if (!question.server.is_valid()) {
    return {.property = kNoLostWakeup,
            .view = View::server,
            .verdict = Verdict::not_judged,
            .why = "the lock is kept at several servers: when it is free, no single one says"};
  }
  return Waiting(history, names, question, locks).judge();
}

Property entries::no_lost_wakeup() {
  return {
      .name = "no-lost-wakeup",
      .view = View::server,
      .meaning = "Nobody waits for a lock that is free longer than a stated bound.",
      .meaning_zh = "锁空闲时，没有人会等待超过规定的时限。",
      .question = "Did somebody wait for a free lock for too long?",
      .decided_by = DecidedBy::lengths,
      .is_seen = has_grant,
      .unseen = "no server granted the lock, so it was never given back to those who wait",
      .why_not_judged = [](const Circumstances& story) -> std::string_view {
        return story.servers > 1 ? "the lock is kept at several servers: when it is free, no single one says" : "";
      },
      .judge =
          [](const JudgedRun& run) { return checker::no_lost_wakeup(run.story, run.names, run.wakeup, run.locks()); }};
}

}  // namespace lockstep::checker
