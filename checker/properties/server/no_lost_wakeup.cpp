#include "checker/properties/server/no_lost_wakeup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/time_spans.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kNoLostWakeup = "no-lost-wakeup";
using sim::Duration;

/// When whoever waits stops waiting; nothing: never.
std::optional<sim::Instant> end_of(const sim::History& history, const sim::Operation& wait) {
  if (wait.phase != sim::Phase::invoke) return wait.completed;
  std::optional<sim::Instant> end;
  for (const sim::Interruption& i : history.interruptions) {
    const bool ends = kills(i.kind) && i.process == wait.process && i.step >= wait.invoked_in;
    if (ends && (!end || compare(i.from, *end) < 0)) end = i.from;
  }
  return end;
}

}  // namespace

Finding no_lost_wakeup(const sim::History& history, const Names& names, const WakeupQuestion& question) {
  Finding finding{.property = kNoLostWakeup, .view = View::server, .verdict = Verdict::unknown};
  if (!question.server.is_valid()) {
    finding.why = "the lock is kept at several servers: when it is free, no single one says";
    return finding;
  }
  std::optional<Duration> longest;
  std::size_t waits = 0;
  for (std::size_t i = 0; i < history.effects.size(); ++i) {
    const sim::Effect& freed = history.effects[i];
    const auto is_here = [&](const sim::Effect& effect) {
      return effect.server == question.server && effect.object == question.object;
    };
    if (freed.kind != sim::Effect::Kind::remove || !is_here(freed)) continue;
    const auto taken =
        std::find_if(history.effects.begin() + static_cast<std::ptrdiff_t>(i), history.effects.end(),
                     [&](const sim::Effect& e) { return e.kind == sim::Effect::Kind::write && is_here(e); });
    const Duration free_to =
        end_or_never(taken == history.effects.end() ? std::nullopt : std::optional(taken->at), question.end);
    for (const sim::Operation& wait : history.operations) {
      if (wait.function != "acquire" || wait.object != question.object) continue;
      const TimeSpan both{std::max(freed.at.offset(), wait.invoked.offset()),
                          std::min(free_to, end_or_never(end_of(history, wait), question.end))};
      if (both.length() <= Duration::zero()) continue;
      Duration waited;
      for (const TimeSpan& span : running(history, wait.process, both)) waited = waited + span.length();
      if (waited <= Duration::zero()) continue;
      ++waits;
      if (!longest || waited > *longest) longest = waited;
      if (waited <= question.within) continue;
      const sim::Instant at = sim::Instant::at(both.from + question.within);
      if (finding.verdict == Verdict::violated && compare(at, *finding.at) >= 0) continue;
      finding.verdict = Verdict::violated;
      finding.by = {wait.process};
      finding.at = at;
      finding.evidence = sorted_evidence({freed.step, wait.invoked_in});
      finding.why =
          fmt::format("{} waited {} for a lock that was free from {} on ({} allowed)", name_of(names, wait.process),
                      both.to == Duration::forever() ? "for ever" : sim::to_string(waited), time_text(freed.at),
                      sim::to_string(question.within));
    }
  }
  if (finding.verdict == Verdict::violated) return finding;
  finding.verdict = Verdict::holds;
  finding.why = waits == 0
                    ? "nobody waited for a lock that was free"
                    : fmt::format("nobody waited longer than {} for a lock that was free", sim::to_string(*longest));
  return finding;
}

Property entries::no_lost_wakeup() {
  return {.name = "no-lost-wakeup",
          .view = View::server,
          .meaning = "Nobody waits for a lock that is free longer than a stated bound.",
          .meaning_zh = "锁空闲时，没有人会等待超过规定的时限。",
          .question = "Did somebody wait for a free lock for too long?",
          .decided_by = DecidedBy::lengths,
          .needs_a_holder = false,
          .why_not_explored = [](const Circumstances& story) -> std::string_view {
            return story.servers > 1 ? "the lock is kept at several servers: when it is free, no single one says" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::no_lost_wakeup(run.story, run.names, run.wakeup); }};
}

}  // namespace lockstep::checker
