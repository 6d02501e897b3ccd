#include "checker/properties/server/no_lost_wakeup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/interruptions.hpp"
#include "checker/properties/time_spans.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kNoLostWakeup = "no-lost-wakeup";
using sim::Duration;

/// When the lock was freed, until somebody took it.
struct FreeTime {
  const sim::Effect* freed;
  TimeSpan span;
};

/// One after the other. What is removed once more before it is taken was free already.
std::vector<FreeTime> free_times(const sim::History& history, const WakeupQuestion& question) {
  std::vector<FreeTime> times;
  const sim::Effect* freed = nullptr;
  for (const sim::Effect& effect : history.effects) {
    if (effect.server != question.server || effect.object != question.object) continue;
    if (effect.kind == sim::Effect::Kind::remove && freed == nullptr) freed = &effect;
    if (effect.kind != sim::Effect::Kind::write || freed == nullptr) continue;
    times.push_back({freed, {freed->at.offset(), end_or_never(effect.at, question.end)}});
    if (times.back().span.to == Duration::forever()) return times;
    freed = nullptr;
  }
  if (freed != nullptr) times.push_back({freed, {freed->at.offset(), Duration::forever()}});
  return times;
}

class Waiting {
 public:
  Waiting(const sim::History& history, const Names& names, const WakeupQuestion& question)
      : history_(history),
        names_(names),
        question_(question),
        crashes_(history.interruptions),
        pauses_(history),
        free_(free_times(history, question)) {
    std::vector<Duration> lengths;
    for (const FreeTime& time : free_) lengths.push_back(time.span.length());
    lengths_ = RowOfLengths(std::move(lengths), question.within);
  }

  Finding judge() {
    for (const sim::Operation& wait : history_.operations) {
      if (wait.function != "acquire" || wait.object != question_.object) continue;
      const TimeSpan whole{wait.invoked.offset(), end_or_never(end_of(wait), question_.end)};
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
                                           [&](const FreeTime& time) { return time.span.to <= span.from; });
    const auto later =
        std::partition_point(over, free_.end(), [&](const FreeTime& time) { return time.span.from < span.to; });
    auto first = static_cast<std::size_t>(over - free_.begin());
    auto end = static_cast<std::size_t>(later - free_.begin());
    const auto in_part = [&](const FreeTime& time) {
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

  void note(const sim::Operation& wait, const FreeTime& time, TimeSpan both, Duration waited) {
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
  std::vector<FreeTime> free_;
  RowOfLengths lengths_;
  Duration longest_;
  Finding finding_{.property = kNoLostWakeup, .view = View::server, .verdict = Verdict::unknown};
};

}  // namespace

Finding no_lost_wakeup(const sim::History& history, const Names& names, const WakeupQuestion& question) {
  if (!question.server.is_valid()) {
    return {.property = kNoLostWakeup,
            .view = View::server,
            .verdict = Verdict::not_judged,
            .why = "the lock is kept at several servers: when it is free, no single one says"};
  }
  return Waiting(history, names, question).judge();
}

Property entries::no_lost_wakeup() {
  return {.name = "no-lost-wakeup",
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
          .judge = [](const JudgedRun& run) { return checker::no_lost_wakeup(run.story, run.names, run.wakeup); }};
}

}  // namespace lockstep::checker
